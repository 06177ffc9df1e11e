import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { JsonObject } from '#base/json.ts';
import type { Logger } from '#base/logger.ts';
import type { Instant } from '#base/units.ts';
import type { UnseenWrites } from '#control/unseen-writes.ts';
import { isNotFound } from '#kubernetes/api-error.ts';
import type { Client, ObjectKey, Patch } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Thread } from '#notification/outbox-state.ts';
import { formatThread } from '#notification/stored-thread.ts';

/** What records go through. */
export interface SlackRecordPorts {
  readonly client: Pick<Client, 'patch'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  readonly unseenRollouts: Pick<UnseenWrites, 'answered'>;
  /** Whether this process may write in this very moment: it holds the Lease, or there is none. */
  readonly leads: () => boolean;
}

/** How the messages of a resource stand. */
interface SlackRecord {
  readonly place: ObjectKey;
  readonly thread: Thread;
  /** Undefined: what stands there stays. */
  readonly lastSent: Instant | undefined;
}

const type = resourceTypes.statefulsetRollouts;

/** Of `slackMessage`; a merge would leave those of another rollout, or of a failure that is over, where nothing is put. */
const replaced = { channel: null, ts: null, hash: null, pages: null, error: null } as const;

/** Keeps in the statuses of rollouts where their messages stand: one write of a resource at a time, so that none overtakes. */
export class SlackRecords {
  readonly #ports: SlackRecordPorts;
  /** What is to be stored next, by uid. */
  readonly #wanted = new Map<string, SlackRecord>();
  /** Writes under way, by uid. */
  readonly #writing = new Map<string, Promise<void>>();

  constructor(ports: SlackRecordPorts) {
    this.#ports = ports;
  }

  /** Stores how `thread` stands after a call, in the resource at `place`, unless another rollout has followed it there. */
  store(place: ObjectKey, thread: Thread): void {
    if (thread.ending === 'superseded') return;
    const { uid, error } = thread;
    const lastSent = error === undefined ? this.#ports.clock.now() : undefined;
    this.#wanted.set(uid, { place, thread, lastSent });
    if (this.#writing.has(uid)) return;
    const writing = this.#writeAll(uid).finally(() => this.#writing.delete(uid));
    this.#writing.set(uid, writing);
  }

  /** Resolves when no write is under way. */
  async idle(): Promise<void> {
    await Promise.all(this.#writing.values());
  }

  async #writeAll(uid: string): Promise<void> {
    for (let next = this.#wanted.get(uid); next !== undefined; next = this.#wanted.get(uid)) {
      this.#wanted.delete(uid);
      await this.#write(next);
    }
  }

  async #write({ place, thread, lastSent }: SlackRecord): Promise<void> {
    const { client, log, unseenRollouts, leads } = this.#ports;
    const slackMessage = formatThread(thread, lastSent);
    if (slackMessage === undefined || !leads()) return;
    const status: JsonObject = { slackMessage: { ...replaced, ...slackMessage } };
    const body: Patch = { kind: 'merge', document: { status } };
    try {
      const stored = await client.patch(type, place, { body, subresource: 'status' });
      unseenRollouts.answered(thread.uid, stored.metadata.resourceVersion);
    } catch (error) {
      // A second message may be posted by who comes after this process: that is all.
      if (isNotFound(error)) return;
      const err = errorOf(error);
      log.warn('where a message of Slack stands cannot be stored', { ...place, err });
    }
  }
}
