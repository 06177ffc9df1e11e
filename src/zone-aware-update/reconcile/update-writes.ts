import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#base/clock.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { type Instant, type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import type { ResourceProofs } from '#control/consistent-read/resource-proofs.ts';
import { ResourceWrites } from '#control/resource/resource-writes.ts';
import { unlessSent } from '#control/write/unless-sent.ts';
import type { UnseenWrites } from '#control/write/unseen-writes.ts';
import type { Client } from '#kubernetes/client.ts';
import { nextConditions, type WantedCondition } from '#kubernetes/custom-resource/conditions.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isConflict } from '#kubernetes/transport/api-error.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import { parseUpdate, type UpdateView } from '../parse-resource.ts';
import { formatUpdateStatus, type UpdateStatus } from '../status.ts';

/** What is to be stored. */
export interface WantedStatus {
  readonly status: UpdateStatus;
  readonly progressing: WantedCondition;
}

/** What writes go through. */
export interface UpdateWritePorts {
  readonly client: Client;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly unseenUpdates: UnseenWrites;
  /** The proofs of ZoneAwareUpdates. */
  readonly proofs: ResourceProofs;
}

/** How often a write is tried again that lost against one to the spec. */
const mostTries = 3;
const type = resourceTypes.zoneAwareUpdates;

/** What was sent last, and when. */
interface Sent {
  readonly status: JsonObject;
  readonly at: Monotonic;
}

/** A message, or a count of old pods, that changes while all else stays is stored no more often. */
const messagesAfter = seconds(10);

/** Stores the status of ZoneAwareUpdates; the definition of the peer keeps no conditions, and then none are sent. */
export class UpdateWrites {
  readonly #ports: UpdateWritePorts;
  readonly #resources: ResourceWrites;
  /** Keyed by uid. */
  readonly #sent = new Map<string, Sent>();
  /** uids of those whose conditions are not kept. */
  readonly #bare = new Set<string>();

  constructor(ports: UpdateWritePorts) {
    const { client, clock, unseenUpdates: unseen, proofs } = ports;
    this.#ports = ports;
    this.#resources = new ResourceWrites({ client, clock, type, unseen, proofs });
  }

  /** Returns the status that says `wanted`; undefined where that is there already, or all of it that is kept. */
  missing(update: UpdateView, wanted: WantedStatus, now: Instant): JsonObject | undefined {
    const next = this.#bare.has(update.uid)
      ? formatUpdateStatus(wanted.status)
      : statusOf(update, wanted, now);
    return isDeepStrictEqual(next, update.writtenStatus) ? undefined : next;
  }

  /** Returns how long `next` is kept back, as it changes no more than words; undefined where it is not. */
  waitFor(update: UpdateView, next: JsonObject, now: Monotonic): Millis | undefined {
    const sent = this.#sent.get(update.uid);
    if (sent === undefined || !isDeepStrictEqual(wordless(sent.status), wordless(next)))
      return undefined;
    const left = sent.at + messagesAfter - now;
    return left > 0 ? millis(left) : undefined;
  }

  /**
   * Stores what `wanted` says, where another client has not changed the status since: a step that was done counts, also when
   * the spec was edited meanwhile.
   *
   * @throws what the request fails with
   */
  async store(
    update: UpdateView,
    wanted: WantedStatus,
    { now, signal }: { readonly now: Instant; readonly signal: AbortSignal },
  ): Promise<void> {
    let latest = update;
    for (let tries = 1; ; tries += 1) {
      const status = this.missing(latest, wanted, now);
      if (status === undefined) return;
      try {
        return await this.#put(latest, status, signal);
      } catch (error) {
        if (!isConflict(error) || tries >= mostTries) throw error;
        const fresh = await this.#read(update, signal);
        if (!isDeepStrictEqual(fresh.writtenStatus, update.writtenStatus)) throw error;
        latest = fresh;
      }
    }
  }

  forget(uid: string): void {
    this.#sent.delete(uid);
    this.#bare.delete(uid);
    this.#ports.proofs.forget(uid);
  }

  async #read({ namespace, name }: UpdateView, signal: AbortSignal): Promise<UpdateView> {
    return parseUpdate(await this.#ports.client.get(type, { namespace, name }, { signal }));
  }

  async #put(update: UpdateView, status: JsonObject, signal: AbortSignal): Promise<void> {
    const { uid } = update;
    const stored = await this.#resources.storeStatus(update, status, unlessSent(signal));
    this.#sent.set(uid, { status, at: this.#ports.clock.monotonic() });
    if (objectAt(stored, 'status')['conditions'] === undefined) this.#bare.add(uid);
  }
}

function statusOf(
  { writtenStatus, generation }: UpdateView,
  { status, progressing }: WantedStatus,
  now: Instant,
): JsonObject {
  const conditions = nextConditions(
    writtenStatus,
    { Progressing: progressing },
    { generation, now },
  );
  return { ...formatUpdateStatus(status), observedGeneration: generation, conditions };
}

/** Counts of old pods change with a step; alone only where another client writes zones, which are kept, as ours are. */
function wordless(stored: JsonObject): JsonObject {
  const kept = Object.entries(stored).filter(([field]) => field !== 'oldReplicas');
  const status: JsonObject = Object.fromEntries(kept);
  const { conditions } = status;
  if (!Array.isArray(conditions)) return status;
  const words = ['message', 'lastTransitionTime', 'observedGeneration'];
  const bare = conditions
    .filter(isJsonObject)
    .map((each) => Object.entries(each).filter(([field]) => !words.includes(field)));
  return { ...status, conditions: JSON.stringify(bare) };
}
