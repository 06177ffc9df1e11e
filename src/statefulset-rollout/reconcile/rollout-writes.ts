import type { Clock } from '#base/clock.ts';
import { isSameJson, type JsonObject } from '#base/json.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { type Instant, type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import type { ResourceProofs } from '#control/consistent-read/resource-proofs.ts';
import { ResourceWrites } from '#control/resource/resource-writes.ts';
import { OverruledError } from '#control/write/pod-deletions.ts';
import { unlessSent } from '#control/write/unless-sent.ts';
import type { UnseenWrites } from '#control/write/unseen-writes.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { standingIn } from '#notification/stored-thread.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import { finalizer, type RolloutView } from '../parse-resource.ts';
import { deciding, lasting } from '../status/status-view.ts';

/** What writes go through. */
export interface RolloutWritePorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly unseenRollouts: UnseenWrites;
  readonly proofs: ResourceProofs;
  /** Whether this process may write at this instant: it holds the Lease, or there is none. */
  readonly leads: () => boolean;
}

/** What of a status is to be stored, and when. */
export type MissingStatus =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'now' }
  /** No decision rests on what has changed: it is stored no more than once a second, and sooner where a message was posted. */
  | { readonly kind: 'later'; readonly in: Millis }
  /** The same was stored just now, and another client has changed it back: what follows from it waits as well. */
  | { readonly kind: 'contested'; readonly in: Millis };

/** A decision that was stored. */
interface StoredDecision {
  readonly text: string;
  readonly at: Monotonic;
}

const viewsAfter = seconds(1);
/** While pods go in many batches the next of them has it, too. */
const messagesAfter = millis(250);
/** So soon the same decision is stored again, of so many that are remembered. */
const againAfter = seconds(1);
const mostRemembered = 8;
const type = resourceTypes.statefulsetRollouts;

/** Writes StatefulsetRollouts: their finalizer and their status, each only to the version that was read. */
export class RolloutWrites {
  readonly #ports: RolloutWritePorts;
  readonly #resources: ResourceWrites;
  /** When the status was stored last, by uid. */
  readonly #storedAt = new Map<string, Monotonic>();
  /** By uid; the newest last. */
  readonly #decisions = new Map<string, readonly StoredDecision[]>();

  constructor(ports: RolloutWritePorts) {
    const { client, clock, unseenRollouts: unseen, proofs } = ports;
    this.#ports = ports;
    this.#resources = new ResourceWrites({ client, clock, type, unseen, proofs });
  }

  /** Returns whether `status` is to be stored in place of what is there. */
  missing({ uid, writtenStatus }: RolloutView, status: JsonObject): MissingStatus {
    if (isSameJson(lasting(status), lasting(writtenStatus))) return { kind: 'nothing' };
    const decision = deciding(status);
    if (!isSameJson(decision, deciding(writtenStatus))) {
      const wait = this.#contestedFor(uid, JSON.stringify(decision));
      return wait > 0 ? { kind: 'contested', in: millis(wait) } : { kind: 'now' };
    }
    const isPlaced = isSameJson(messageIn(status), messageIn(writtenStatus));
    const storedAt = this.#storedAt.get(uid) ?? Number.NEGATIVE_INFINITY;
    const due = storedAt + (isPlaced ? viewsAfter : messagesAfter);
    const left = due - this.#ports.clock.monotonic();
    return left > 0 ? { kind: 'later', in: millis(left) } : { kind: 'now' };
  }

  /** Returns how long a decision is not stored again that was stored just now, and does not be there any more. */
  #contestedFor(uid: string, decision: string): number {
    const before = this.#decisions.get(uid)?.find(({ text }) => text === decision);
    return before === undefined ? 0 : before.at + againAfter - this.#ports.clock.monotonic();
  }

  /** Stores `status`, if `rollout` is still what was read. @throws what the request fails with */
  async storeStatus(
    rollout: RolloutView,
    status: JsonObject,
    { now, signal }: { readonly now: Instant; readonly signal: AbortSignal },
  ): Promise<void> {
    const { uid } = rollout;
    const { clock } = this.#ports;
    const written = { ...status, lastUpdated: formatUtcSeconds(now) };
    await this.#resources.storeStatus(rollout, written, this.#whileLeading(signal));
    const at = clock.monotonic();
    this.#storedAt.set(uid, at);
    const text = JSON.stringify(deciding(status));
    const others = this.#decisions.get(uid)?.filter((each) => each.text !== text) ?? [];
    this.#decisions.set(uid, [...others, { text, at }].slice(-mostRemembered));
  }

  /** Puts the finalizer on `rollout`, or takes it off; those of others stay. @throws what the request fails with */
  async changeFinalizer(
    rollout: RolloutView,
    kind: 'add-finalizer' | 'remove-finalizer',
    signal: AbortSignal,
  ): Promise<void> {
    const leaving = this.#whileLeading(signal);
    await this.#resources.changeFinalizer(rollout, { kind, finalizer }, leaving);
  }

  /** Sends while this process leads, also after a pause, however long: the present holder of the Lease is the one to write. */
  #whileLeading(signal: AbortSignal): ReturnType<typeof unlessSent> {
    return unlessSent(signal, () => {
      if (this.#ports.leads()) return;
      throw new OverruledError('Cannot write as the Lease is no longer held');
    });
  }

  forget(uid: string): void {
    this.#storedAt.delete(uid);
    this.#decisions.delete(uid);
    this.#ports.proofs.forget(uid);
  }
}

/** Reads where messages of Slack are: without that they would be posted once more. */
function messageIn(status: JsonObject): JsonObject {
  return standingIn(objectAt(status, 'slackMessage'));
}
