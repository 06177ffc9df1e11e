import type { Instant, Monotonic } from '#base/units.ts';
import { parseOrdinal } from '#statefulset/parse-ordinal.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { delayedDownscaleOf } from './delayed-downscale.ts';
import { planDelayedDownscale } from './delayed-downscale-plan.ts';
import type { DelayedDownscalePlan, SlotPod } from './delayed-downscale-snapshot.ts';
import type { PodPreparations, PodWork } from './prepare-pods.ts';

/** What one pass over a group knows. */
export interface RoundOptions {
  readonly preparations: PodPreparations;
  readonly now: Instant;
  readonly takenAt: Monotonic;
}

/**
 * Delayed down-scale in one pass over a group: answers for each set what its pods let it do, collects whom to call, and
 * calls them once the pass has planned.
 */
export class DelayedDownscaleRound {
  readonly #options: RoundOptions;
  readonly #work: PodWork[] = [];

  constructor(options: RoundOptions) {
    this.#options = options;
  }

  /**
   * Whether `set` may be scaled to `wanted` now, and how far; to be asked once of each set whose wanted count is known,
   * also where that is the current one (D-22). `pods` are those that the set owns.
   */
  verdict(
    { set, pods }: { readonly set: StatefulSetView; readonly pods: readonly PodView[] },
    wanted: number,
  ): Pick<DelayedDownscalePlan, 'verdict' | 'requeue'> {
    const { preparations, now, takenAt } = this.#options;
    const settings = delayedDownscaleOf(set);
    const snapshot = { set, wanted, settings, pods: slotPods(set, pods), takenAt };
    if (settings.kind === 'invalid' || settings.value?.url.kind !== 'valid') {
      preparations.forget(set.uid);
      return planDelayedDownscale({ ...snapshot, preparations: new Map() }, now);
    }
    const url = settings.value.url.value;
    const plan = planDelayedDownscale(
      { ...snapshot, preparations: preparations.of(set, url) },
      now,
    );
    if (plan.calls.length > 0) this.#work.push({ set, url, calls: plan.calls });
    return plan;
  }

  /** Starts the calls that the sets asked for, and returns at once. */
  start(signal: AbortSignal): void {
    for (const work of this.#work.splice(0)) this.#options.preparations.start(work, signal);
  }
}

function slotPods(set: StatefulSetView, pods: readonly PodView[]): ReadonlyMap<number, SlotPod> {
  const slots = new Map<number, SlotPod>();
  for (const { name, uid, readySince } of pods) {
    const ordinal = parseOrdinal(name, set.name);
    if (ordinal !== undefined) slots.set(ordinal, { uid, isReady: readySince !== undefined });
  }
  return slots;
}
