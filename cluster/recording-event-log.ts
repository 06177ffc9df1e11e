import type { Call, Commit, Delivery, EventLog } from './event-log.ts';

/** The event log of one cluster; the server and its transports write it (EM-5). */
export class RecordingEventLog implements EventLog {
  readonly commits: Commit[] = [];
  readonly calls: Call[] = [];
  readonly deliveries: Delivery[] = [];
  readonly #listeners = new Set<(commit: Commit) => void>();
  readonly #callListeners = new Set<(call: Call) => void>();
  #isRecording = true;
  #callId = 0;

  onCommit(listener: (commit: Commit) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Calls `listener` at each answer, whether calls are recorded or not. @returns how to stop it */
  onCall(listener: (call: Call) => void): () => void {
    this.#callListeners.add(listener);
    return () => {
      this.#callListeners.delete(listener);
    };
  }

  stopRecording(): void {
    this.#isRecording = false;
  }

  /** Returns a number for the next call; unique in this cluster. */
  nextCallId(): number {
    this.#callId += 1;
    return this.#callId;
  }

  /** Takes a commit. What it throws reaches the writer of the change: a broken invariant fails the run at once (FI-6). */
  committed(commit: Commit): void {
    if (this.#isRecording) this.commits.push(commit);
    for (const listener of this.#listeners) listener(commit);
  }

  answered(call: Call): void {
    if (this.#isRecording) this.calls.push(call);
    for (const listener of this.#callListeners) listener(call);
  }

  delivered(delivery: Delivery): void {
    if (this.#isRecording) this.deliveries.push(delivery);
  }
}
