import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Millis } from '#base/units.ts';
import type { Decision, Plan } from '#control/decision/decision.ts';
import { because } from '#control/decision/refs.ts';
import type { Carrying, GroupCapability, Wrote } from '#control/plan/group-capability.ts';
import type { GroupMoment } from '#control/plan/group-moment.ts';
import { PlanMemory } from '#control/plan/plan-memory.ts';
import type { WatchedPods } from '#control/watch/watched-pods.ts';
import { applyCurrentRevision } from '#control/write/apply-current-revision.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Freshness } from '#kubernetes/informer/freshness.ts';
import { planRolloutGroup } from './plan.ts';
import { PromotionPaces } from './promotion-pace.ts';
import { snapshotOf } from './snapshot.ts';

/** What rolling a group goes through. */
export interface RolloutGroupPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly watched: WatchedPods;
  /** Freshness of the cache of StatefulSets. */
  readonly statefulSets: Freshness;
  /** How long a pod is not ready without a break before that alone makes it stuck; undefined: never. */
  readonly stuckAfter: Millis | undefined;
}

type SetCurrentRevision = Extract<Decision, { kind: 'set-current-revision' }>;

interface Promotion {
  readonly to: string;
  /** The revision of the set that has it. */
  readonly storedAt: string;
}

/** Races for a status that are lost before that is reported. */
const freeRaces = 1;

/** Rolls the sets of a group: pods by the common way of all deletions, and the current revision of sets that are done. */
export class RolloutGroups implements GroupCapability {
  readonly name = 'rollout';
  readonly #ports: RolloutGroupPorts;
  readonly #memory = new PlanMemory();
  /** Current revisions that were written, and that the cache may not show yet, by uid of the set. */
  readonly #promotions = new Map<string, Promotion>();
  /** Writes of a current revision in a row that lost a race, by uid of the set. */
  readonly #races = new Map<string, number>();
  readonly #paces = new PromotionPaces();

  constructor(ports: RolloutGroupPorts) {
    this.#ports = ports;
  }

  forget(key: string): void {
    this.#memory.forget(key);
  }

  plan(moment: GroupMoment): Plan {
    return this.#paces.held(this.#planned(moment), moment);
  }

  #planned(moment: GroupMoment): Plan {
    const { key, sets, leaving, conflicts, now } = moment;
    const known = this.#memory.find(moment);
    if (known !== undefined) return known;
    const { stuckAfter } = this.#ports;
    const watched = this.#ports.watched.of(sets);
    const snapshot = snapshotOf(key, sets, { leaving, conflicts, stuckAfter, watched });
    const plan = planRolloutGroup(snapshot, now);
    this.#memory.keep(moment, plan);
    return plan;
  }

  write({ decisions }: Plan, carrying: Carrying, signal: AbortSignal): Promise<Wrote> | undefined {
    const promotion = decisions.find(
      (decision): decision is SetCurrentRevision =>
        decision.kind === 'set-current-revision' && !this.#isWritten(decision),
    );
    return promotion === undefined ? undefined : this.#promote(promotion, carrying, signal);
  }

  async #promote(
    decision: SetCurrentRevision,
    { tell }: Carrying,
    signal: AbortSignal,
  ): Promise<Wrote> {
    const { log, client, clock } = this.#ports;
    const { set, from, to } = decision;
    const fields = { statefulset: set.name, old_current_revision: from, new_current_revision: to };
    const outcome = await applyCurrentRevision(decision, client, signal);
    if (outcome.kind === 'outdated') return this.#lostRace(decision);
    this.#races.delete(set.uid);
    this.#promotions.set(set.uid, { to, storedAt: outcome.revision });
    this.#paces.written(decision, { now: clock.now(), monotonic: clock.monotonic() });
    log.info('updated the current revision', fields);
    tell(set, decision.because);
    return 'written';
  }

  /** Once is nothing unusual: the StatefulSet controller writes the same status at the same time. */
  #lostRace({ set, to }: SetCurrentRevision): Wrote {
    const races = (this.#races.get(set.uid) ?? 0) + 1;
    this.#races.set(set.uid, races);
    if (races <= freeRaces) return 'outrun';
    const message =
      `status.currentRevision of StatefulSet "${set.name}" cannot become ${to}: ` +
      'each time it is written, the set has been changed since it was read';
    return { held: because('RequestRefused', message) };
  }

  /** Reports whether the revision was written already, and the cache does not show it yet. */
  #isWritten({ set, to }: SetCurrentRevision): boolean {
    const written = this.#promotions.get(set.uid);
    if (written === undefined) return false;
    if (!this.#ports.statefulSets.hasSeen(written.storedAt)) return written.to === to;
    this.#promotions.delete(set.uid);
    return false;
  }
}
