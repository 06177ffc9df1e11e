import type { Clock, Timer } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { JsonObject } from '#base/json.ts';
import type { Logger } from '#base/logger.ts';
import { seconds } from '#base/units.ts';
import type { UnseenWrites } from '#control/write/unseen-writes.ts';
import type { Client, Patch } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isConflict, isNotFound } from '#kubernetes/transport/api-error.ts';
import type { Thread } from '#notification/outbox-state.ts';
import { formatThread } from '#notification/stored-thread.ts';
import type { RolloutView } from '../parse-resource.ts';

/** What records go through. */
export interface SlackRecordPorts {
  readonly client: Pick<Client, 'patch'>;
  readonly clock: Pick<Clock, 'now' | 'timer'>;
  readonly log: Logger;
  readonly rollouts: Pick<Informer<RolloutView>, 'lister'>;
  readonly unseenRollouts: Pick<UnseenWrites, 'answered'>;
  /** Whether this process may write at this instant: it holds the Lease, or there is none. */
  readonly leads: () => boolean;
  /** Wakes a resource, as something is to be stored with its status. */
  readonly wake: (key: string) => void;
}

/** Of a resource. */
interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** Where the messages of a resource are, which is not stored yet. */
interface SlackRecord {
  readonly place: Place;
  readonly message: JsonObject;
}

/** So long a message that was just posted waits for a pass to store where it is. */
const patience = seconds(1);
const type = resourceTypes.statefulsetRollouts;

/** Of `slackMessage`; a merge would leave those of another rollout, or of a failure that is over, where nothing is put. */
const replaced = { channel: null, ts: null, hash: null, pages: null, error: null } as const;

/**
 * Keeps where the messages of rollouts are until that is stored: with the status that a pass writes, so that one write has
 * both; by a write of its own where no pass comes to that, or none comes any more.
 */
export class SlackRecords {
  readonly #ports: SlackRecordPorts;
  /** By uid. */
  readonly #unstored = new Map<string, SlackRecord>();
  /** Of messages that were just posted, by uid. */
  readonly #timers = new Map<string, Timer>();
  readonly #stored: (uid: string) => void;

  /** @param stored called when nothing is left to be stored of a resource */
  constructor(ports: SlackRecordPorts, stored: (uid: string) => void) {
    this.#ports = ports;
    this.#stored = stored;
  }

  /**
   * Notes the state of `thread` after a call, and has it stored in the resource at `place`, unless another rollout has followed
   * it there. What was just posted cannot wait long: who does not know of a message posts it once more.
   *
   * @returns whether there is anything to store
   */
  note(place: Place, thread: Thread, isPosted: boolean): boolean {
    const { uid, error } = thread;
    const { clock, wake } = this.#ports;
    const message = formatThread(thread, error === undefined ? clock.now() : undefined);
    if (thread.ending === 'superseded' || message === undefined) return false;
    this.#unstored.set(uid, { place, message });
    if (isPosted) this.#writeLater(uid);
    wake(`${place.namespace}/${place.name}`);
    return true;
  }

  /** Returns what is to be stored with the status of a resource; undefined: what is there stays. */
  of(uid: string): JsonObject | undefined {
    return this.#unstored.get(uid)?.message;
  }

  /** Notes that `message` is stored, as {@link of} returned it. */
  stored(uid: string, message: JsonObject | undefined): void {
    if (message === undefined || this.of(uid) !== message) return;
    this.forget(uid);
    this.#stored(uid);
  }

  /** Forgets the resource, which is gone. */
  forget(uid: string): void {
    this.#unstored.delete(uid);
    this.#timers.get(uid)?.cancel();
    this.#timers.delete(uid);
  }

  /** Stores all that is left: no pass does any more. */
  async flush(): Promise<void> {
    await Promise.all([...this.#unstored.keys()].map((uid) => this.#write(uid, 'anything')));
  }

  #writeLater(uid: string): void {
    if (this.#timers.has(uid)) return;
    const options = { owner: 'storing the id of a message in Slack', background: true };
    const write = (): void => void this.#write(uid, 'as-seen');
    const timer = this.#ports.clock.timer(patience, write, options);
    this.#timers.set(uid, timer);
  }

  /** @param over what is seen alone, while passes may store what is newer */
  async #write(uid: string, over: 'as-seen' | 'anything'): Promise<void> {
    const { client, log, rollouts, unseenRollouts, leads } = this.#ports;
    const record = this.#unstored.get(uid);
    this.#timers.get(uid)?.cancel();
    this.#timers.delete(uid);
    if (record === undefined || !leads()) return;
    const { place, message } = record;
    const rollout = rollouts.lister.get(place.namespace, place.name);
    // Another resource of the same name has messages of its own.
    if (rollout?.uid !== uid) return;
    const { resourceVersion } = rollout;
    const status: JsonObject = { slackMessage: { ...replaced, ...message } };
    const body: Patch = {
      kind: 'merge',
      document: { ...(over === 'as-seen' && { metadata: { resourceVersion } }), status },
    };
    try {
      const stored = await client.patch(type, place, { body, subresource: 'status' });
      unseenRollouts.answered(uid, stored.metadata.resourceVersion);
      this.stored(uid, message);
    } catch (error) {
      // A second message may be posted by who comes after this process: that is all.
      if (isNotFound(error)) return;
      if (isConflict(error)) {
        this.#writeLater(uid);
        return;
      }
      const err = errorOf(error);
      log.warn('the id of a message in Slack cannot be stored', { ...place, err });
    }
  }
}
