import { assertNever } from '#base/assert-never.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { after, type Instant, instant } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { SharedTexts } from '#kubernetes/shared-config-map.ts';
import { isNotFound, isOutcomeUnknown } from '#kubernetes/transport/api-error.ts';
import { integerAt, objectAt } from '#statefulset/parse-fields.ts';
import { replicasOf } from '../downscale/live-set.ts';
import { callOf, type Deadline } from '../review/deadline.ts';
import { CLAIMS_NAME, claimKey, claimLife, formatClaim, type GroupClaim } from './claim.ts';
import { ClaimSightings } from './claim-sightings.ts';
import type { ClaimStore } from './claim-store.ts';
import { untilSwapped } from './compare-and-swap.ts';
import { HeldClaim } from './held-claim.ts';
import { parseClaim } from './parse-claim.ts';
import { type ClaimProgress, hasEnded, planClaim } from './plan-claim.ts';
import { Turns } from './turns.ts';

/** What {@link GroupClaims} works with. */
export interface GroupClaimsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where the claims are stored. */
  readonly store: ClaimStore;
  /** The operator's. */
  readonly namespace: string;
  /** Names this process; new at every start. */
  readonly identity: string;
}

/** A set that is to be scaled down. */
export interface ClaimRequest {
  readonly namespace: string;
  readonly set: string;
  /** Empty: in no group. */
  readonly group: string;
  /** `metadata.generation` of the live set, read before this is asked. */
  readonly generation: number;
  /** Called with what goes on after this was answered. */
  readonly onBackground: (work: Promise<void>) => void;
}

/** Whether a group was claimed. */
export type ClaimOutcome = { readonly kind: 'claimed'; readonly claim: HeldClaim } | ClaimObstacle;

/** What keeps a group from being claimed. */
export type ClaimObstacle =
  /** `by` is the name of a set. */
  | { readonly kind: 'held'; readonly by: string }
  | { readonly kind: 'unreadable'; readonly why: string };

/** A claim that is asked for, and where it would be stored. */
interface Asked {
  readonly key: string;
  readonly request: ClaimRequest;
}

/** A claim by which a set was allowed to shrink, and those of our own that may be in its place. */
interface Protection {
  readonly text: string;
  /** What was stored as they were written: each of them may yet arrive, or none. */
  readonly base: string | undefined;
  readonly by: ReadonlySet<string>;
}

/**
 * Which set of a group may be scaled down, decided by compare-and-swap among all who share the store. A process asks for one set of a group at a time.
 */
export class GroupClaims {
  readonly #options: GroupClaimsOptions;
  /** The store; what it answers is taken note of. */
  readonly #seen: ClaimStore;
  readonly #sightings = new ClaimSightings();
  readonly #turns = new Turns();
  /** Claims of this process that replace one of a set that was allowed to shrink. */
  readonly #protecting = new Map<string, Protection>();
  #lastUntil: Instant = instant(0);

  constructor(options: GroupClaimsOptions) {
    this.#options = options;
    const { store } = options;
    this.#seen = {
      read: (deadline) => this.#noted(store.read(deadline)),
      write: async (map, changes, deadline) => {
        const written = await this.#noted(store.write(map, changes, deadline));
        for (const [key, text] of changes) if (text === undefined) this.#sightings.removed(key);
        return written;
      },
    };
  }

  /**
   * Claims the group of a set, or says who holds it. A claim whose write has no answer is given up in the background.
   *
   * @throws what the client throws; the reason of the deadline when that is over
   */
  async claim(request: ClaimRequest, deadline: Deadline): Promise<ClaimOutcome> {
    // In turn: else the reviews of many groups in this process would push each other away from the one ConfigMap.
    const leave = await this.#turns.take(deadline);
    try {
      return await this.#decided(request, deadline);
    } finally {
      leave();
    }
  }

  /** Returns what would keep the group of a set from being claimed; claims nothing. @throws what the client throws */
  async obstacle(request: ClaimRequest, deadline: Deadline): Promise<ClaimObstacle | undefined> {
    const key = claimKey(request, this.#options.namespace);
    const map = await this.#seen.read(deadline);
    return this.#obstacle(this.#standing(key, map), { key, request }, deadline);
  }

  async #decided(request: ClaimRequest, deadline: Deadline): Promise<ClaimOutcome> {
    const key = claimKey(request, this.#options.namespace);
    const tried = async (): Promise<ClaimOutcome> => {
      const map = await this.#seen.read(deadline);
      const obstacle = await this.#obstacle(this.#standing(key, map), { key, request }, deadline);
      if (obstacle !== undefined) return obstacle;
      return { kind: 'claimed', claim: await this.#written(map, { key, request }, deadline) };
    };
    return untilSwapped(tried, this.#options.clock, deadline);
  }

  /** Returns what keeps the group from being claimed. */
  async #obstacle(
    text: string | undefined,
    { key, request }: Asked,
    deadline: Deadline,
  ): Promise<ClaimObstacle | undefined> {
    const { clock, identity, namespace } = this.#options;
    const watched = this.#sightings.watched(key, text, clock.monotonic());
    const isProtecting = this.#protected(key, text) !== undefined;
    const claimant = { set: request.set, replica: identity, isProtecting };
    const plan = planClaim(parseClaim(text), claimant, watched);
    switch (plan.kind) {
      case 'free':
        return undefined;
      case 'unreadable':
        return { kind: 'unreadable', why: unreadableText(key, namespace, plan.why) };
      case 'held':
        return { kind: 'held', by: plan.by.set };
      case 'held-if-not-ended': {
        const set = await this.#progressOf(request.namespace, plan.by.set, deadline);
        return hasEnded(plan.by, set) ? undefined : { kind: 'held', by: plan.by.set };
      }
      default:
        return assertNever(plan);
    }
  }

  /** Reads how far a set is, by a consistent read: who goes on must find the pods of that set as they are after its change. */
  async #progressOf(
    namespace: string,
    name: string,
    deadline: Deadline,
  ): Promise<ClaimProgress | undefined> {
    const { client } = this.#options;
    try {
      const type = resourceTypes.statefulSets;
      const live = await client.get(type, { namespace, name }, callOf(deadline));
      return {
        generation: live.metadata.generation ?? 0,
        observedGeneration: integerAt(objectAt(live, 'status'), 'observedGeneration') ?? 0,
        replicas: integerAt(objectAt(live, 'status'), 'replicas') ?? 0,
        wanted: replicasOf(live),
      };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #written(
    map: SharedTexts,
    { key, request }: Asked,
    deadline: Deadline,
  ): Promise<HeldClaim> {
    const { clock, log, identity } = this.#options;
    const { set, generation } = request;
    const until = this.#until();
    const claim: GroupClaim = { set, replica: identity, until, generation, state: 'under-way' };
    const held = new HeldClaim({ clock, log, store: this.#seen, turns: this.#turns, key, claim });
    const lapsed = this.#sightings.lapsed(map.texts, clock.monotonic());
    const replaced = lapsed.includes(key) ? undefined : this.#allowed(key, map, set);
    held.replaces(replaced);
    this.#protect(key, { base: this.#standing(key, map), by: formatClaim(claim), text: replaced });
    const gone = lapsed.map((each) => [each, undefined] as const);
    const changes = new Map<string, string | undefined>([...gone, [key, formatClaim(claim)]]);
    try {
      held.stands(await this.#seen.write(map, changes, deadline));
      return held;
    } catch (error) {
      if (isOutcomeUnknown(error)) request.onBackground(held.giveUp());
      throw error;
    }
  }

  /**
   * Returns the claim by which `set` was allowed to shrink, where it stands, was deleted, or is protected by what is stored:
   * that change may still be on its way to the store, so the denial of another review puts the claim back.
   */
  #allowed(key: string, map: SharedTexts, set: string): string | undefined {
    const text = this.#standing(key, map);
    const found = parseClaim(text);
    if (found.kind !== 'claim' || found.claim.set !== set) return undefined;
    if (found.claim.state === 'allowed') return text;
    return this.#protected(key, text);
  }

  /** Returns what our own claim `text` protects, if it does. */
  #protected(key: string, text: string | undefined): string | undefined {
    const protection = this.#protecting.get(key);
    return text !== undefined && protection?.by.has(text) ? protection.text : undefined;
  }

  /** Takes note of a claim that is to be written in place of `base`, which may fail: then what was stored protects as before. */
  #protect(
    key: string,
    { base, by, text }: Pick<Protection, 'base'> & { by: string; text: string | undefined },
  ): void {
    if (text === undefined) {
      this.#protecting.delete(key);
      return;
    }
    const known = this.#protecting.get(key);
    const others = known?.base === base ? [...(known?.by ?? [])] : [];
    const standing = base !== undefined && known?.by.has(base) ? [base] : [];
    this.#protecting.set(key, { base, by: new Set([...others, ...standing, by]), text });
  }

  #standing(key: string, { texts }: SharedTexts): string | undefined {
    return this.#sightings.standing(key, texts, this.#options.clock.monotonic());
  }

  /** Returns 30 s from now; later than any before, so that no two texts of this process are alike. */
  #until(): string {
    const { clock } = this.#options;
    const until = Math.max(after(clock.now(), claimLife), this.#lastUntil + 1);
    this.#lastUntil = instant(until);
    return new Date(until).toISOString();
  }

  /** Takes note of all that an answer shows, also one to a write of our own. */
  async #noted(answer: Promise<SharedTexts>): Promise<SharedTexts> {
    const map = await answer;
    this.#sightings.see(map.texts, this.#options.clock.monotonic());
    return map;
  }
}

function unreadableText(key: string, namespace: string, why: string): string {
  const where = `ConfigMap "${namespace}/${CLAIMS_NAME}", key ${JSON.stringify(key)}`;
  return `the claim in ${where} cannot be read: ${why}; it is overwritten once it is 30 s old`;
}
