import type { Clock, Timer } from '#base/clock.ts';
import { type Millis, type Monotonic, millis } from '#base/units.ts';
import { settle } from './outbox-results.ts';
import { emptyOutbox, type Outbox, type Thread, threadId, withThread } from './outbox-state.ts';
import { dropDeleted, type WantedThread, want } from './outbox-wants.ts';
import type { SlackCall } from './slack-client/slack-call.ts';
import type { SlackClient } from './slack-client/slack-client.ts';
import { planSending } from './slack-outbox.ts';

/** What {@link SlackWorker} works with. */
export interface SlackWorkerPorts {
  readonly clock: Clock;
  readonly client: Pick<SlackClient, 'send'>;
  /**
   * Told the messages of a rollout after each call about them, whatever came of it.
   *
   * @returns whether nothing follows about them until they are {@link SlackWorker.released}
   */
  readonly onSettled: (thread: Thread, call: SlackCall) => boolean;
}

/**
 * Sends what rollouts want to be reported, in parallel to them: nothing waits for it, and whatever becomes of a call changes no rollout
 * (C-17). What is wanted is kept in memory alone; a later process finds in the status where messages are.
 */
export class SlackWorker {
  readonly #ports: SlackWorkerPorts;
  #outbox: Outbox = emptyOutbox;
  #wake: () => void = nothing;
  readonly #sending = new Set<Promise<void>>();

  constructor(ports: SlackWorkerPorts) {
    this.#ports = ports;
  }

  /** Has the messages of a rollout show what they are to show. */
  want(wanted: WantedThread): void {
    const before = this.#outbox;
    this.#outbox = want(before, wanted, this.#ports.clock.monotonic());
    this.#wake();
  }

  /** Notes that the resource is gone: its last summary is still sent, for a minute. */
  deleted(uid: string): void {
    this.#outbox = dropDeleted(this.#outbox, uid, this.#ports.clock.monotonic());
    this.#wake();
  }

  /** Returns the messages of the rollout `key` of a resource, as far as this process knows them. */
  threadOf(uid: string, key: string): Thread | undefined {
    return this.#outbox.threads.get(threadId(uid, key));
  }

  /** Notes that the ids of all messages of a resource are stored: what waits for that may follow. */
  released(uid: string): void {
    const held = [...this.#outbox.threads.values()].filter(
      (thread) => thread.uid === uid && thread.isHeld,
    );
    if (held.length === 0) return;
    for (const thread of held) {
      this.#outbox = withThread(this.#outbox, { ...thread, isHeld: false });
    }
    this.#wake();
  }

  /** Sends until `signal` aborts; resolves once no call is under way. */
  async run(signal: AbortSignal): Promise<void> {
    const wake = (): void => this.#wake();
    signal.addEventListener('abort', wake, { once: true });
    try {
      while (!signal.aborted) await this.#step(signal);
    } finally {
      signal.removeEventListener('abort', wake);
      await Promise.all(this.#sending);
    }
  }

  async #step(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const step = planSending(this.#outbox, clock.monotonic());
    this.#outbox = step.outbox;
    if (step.kind === 'call') {
      const sending = this.#send(step.call, signal).finally(() => this.#sending.delete(sending));
      this.#sending.add(sending);
      return;
    }
    await this.#woken(step.kind === 'wait' ? this.#leftUntil(step.until) : undefined, signal);
  }

  #leftUntil(until: Monotonic): Millis {
    return millis(Math.max(0, until - this.#ports.clock.monotonic()));
  }

  /** Waits to be woken. @param delay @default until something is wanted, or has ended */
  async #woken(delay: Millis | undefined, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const options = { owner: 'next message to Slack', background: true };
    const timer: Timer | undefined =
      delay === undefined ? undefined : this.#ports.clock.timer(delay, resolve, options);
    await promise;
    this.#wake = nothing;
    timer?.cancel();
  }

  async #send(call: SlackCall, signal: AbortSignal): Promise<void> {
    const { client, clock, onSettled } = this.#ports;
    const result = await client.send(call, signal);
    this.#outbox = settle(this.#outbox, { call, result }, clock.monotonic());
    const thread = this.#outbox.threads.get(call.thread);
    if (thread !== undefined && onSettled(thread, call)) {
      this.#outbox = withThread(this.#outbox, { ...thread, isHeld: true });
    }
    this.#wake();
  }
}

function nothing(): void {
  // Nothing waits.
}
