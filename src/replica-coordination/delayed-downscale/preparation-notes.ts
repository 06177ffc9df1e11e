import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { after, type Instant, type Millis } from '#base/units.ts';
import type { NotePrepared } from '#control/decision/decision.ts';
import { because } from '#control/decision/refs.ts';
import { isGivenUp, unlessSent } from '#control/write/unless-sent.ts';
import { WriteAttempts, type WritePause } from '#control/write/write-attempts.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { compareRevisions } from '#kubernetes/revision.ts';
import {
  isConflict,
  isNotFound,
  isOutcomeUnknown,
  isRequestFailure,
} from '#kubernetes/transport/api-error.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { PREPARED_AT } from './prepared-urls.ts';

/** What is known of the last write of a set's note. */
export interface NoteState {
  /** Whether the cache does not show yet what came of it: until then no pod is asked to prepare. */
  readonly isOpen: boolean;
  /** Whether the cache will, so that nothing is written meanwhile. */
  readonly isAwaited: boolean;
  /** The write that may not be repeated yet. */
  readonly pause: WritePause<string> | undefined;
}

/** What notes are written through. */
export interface PreparationNotePorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The last write of the note of one set. */
interface Written {
  /** The revision of the set that it was conditional on. */
  readonly basis: string;
  readonly isAnswered: boolean;
}

/** Writes where pods of sets were asked to prepare to the sets themselves, so that no process has to remember it. */
export class PreparationNotes {
  readonly #ports: PreparationNotePorts;
  readonly #attempts = new WriteAttempts<string>();
  /** Keyed by the uid of the set. */
  readonly #written = new Map<string, Written>();

  constructor(ports: PreparationNotePorts) {
    this.#ports = ports;
  }

  /** Returns what is known of the last write to `set`; undefined when that does not matter any more. */
  of({ uid, resourceVersion }: StatefulSetView): NoteState | undefined {
    const pause = this.#attempts.of(uid, this.#ports.clock.monotonic());
    const written = this.#written.get(uid);
    // Conditional on that revision, it is in the next one, or nowhere.
    const isOpen = written !== undefined && compareRevisions(resourceVersion, written.basis) <= 0;
    if (!isOpen && pause === undefined) return undefined;
    return { isOpen, isAwaited: isOpen && written.isAnswered, pause };
  }

  /** Forgets the set `uid`, which is gone. */
  forget(uid: string): void {
    this.#written.delete(uid);
  }

  /** Forgets what is too old to matter. */
  sweep(): void {
    this.#attempts.sweep(this.#ports.clock.monotonic());
  }

  /** Writes one note. The watch shows it, and has the group planned again; a failure is reported by the next plan. */
  async write({ set, urls, revision }: NotePrepared, signal: AbortSignal): Promise<void> {
    const { client, clock, log } = this.#ports;
    const { namespace, name, uid } = set;
    const to = urls.join(' ');
    const annotations = { [PREPARED_AT]: to === '' ? null : to };
    const document = { metadata: { uid, resourceVersion: revision, annotations } };
    this.#written.set(uid, { basis: revision, isAnswered: false });
    const attempt = { key: uid, to };
    try {
      const write = { body: { kind: 'merge', document }, ...unlessSent(signal) } as const;
      await client.patch(resourceTypes.statefulSets, { namespace, name }, write);
      this.#written.set(uid, { basis: revision, isAnswered: true });
      this.#attempts.written({ ...attempt, at: clock.monotonic() }, (count, wait) =>
        because('PodNotPrepared', contestedText(name, count, againAt(wait, clock.now()))),
      );
    } catch (error) {
      if (!isRequestFailure(error) || isGivenUp(error, signal)) throw error;
      if (isConflict(error) || isNotFound(error)) {
        // The cache is behind, and is going to show what is there.
        this.#written.set(uid, { basis: revision, isAnswered: true });
        return;
      }
      if (!isOutcomeUnknown(error)) this.#written.delete(uid);
      const { message } = errorOf(error);
      log.warn('cannot note where pods are asked to prepare', { statefulset: name, err: message });
      this.#attempts.refused({ ...attempt, at: clock.monotonic() }, (wait) =>
        because('PodNotPrepared', refusedText(name, message, againAt(wait, clock.now()))),
      );
    }
  }
}

function againAt(wait: Millis, now: Instant): string {
  return formatUtcSeconds(after(now, wait));
}

function contestedText(set: string, count: number, again: string): string {
  return (
    `the annotation ${PREPARED_AT} of ${set} was written ${count} times, and another client changes it back; ` +
    `it is written again at ${again}`
  );
}

function refusedText(set: string, why: string, again: string): string {
  return (
    `the annotation ${PREPARED_AT} of ${set}, which says where its pods are asked to prepare, cannot be written: ${why}; ` +
    `it is tried again at ${again}`
  );
}
