import type { CallPod } from '#control/decision/decision.ts';
import { because, setRef } from '#control/decision/refs.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import { parseOrdinal } from '#statefulset/parse-ordinal.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { sourceOf } from '../api.ts';
import type { CoordinationMoment } from '../plan-wish.ts';
import type { Preparations } from '../snapshot.ts';
import { delayedDownscaleOf } from './delayed-downscale.ts';
import { planDelayedDownscale } from './delayed-downscale-plan.ts';
import { type DownscaleSlot, downscaleSlots } from './delayed-downscale-slots.ts';
import type {
  DelayedDownscalePlan,
  PlannedPodCall,
  PodPreparation,
  SlotPod,
} from './delayed-downscale-snapshot.ts';
import { mayBePrepared, preparedUrlsOf } from './prepared-urls.ts';

/** What the pods of a set let it do, and which of them are called for that. */
export interface DelayPlan extends Pick<DelayedDownscalePlan, 'verdict' | 'requeue'> {
  readonly calls: readonly CallPod[];
  /** Where they are called; undefined where no pod is. */
  readonly calledAt: string | undefined;
}

/**
 * Reports whether the set may be scaled to `wanted` now, and how far; asked of each set whose wanted count is known, also
 * where that is the current one (D-22).
 */
export function planDelay(
  { set, pods }: Pick<SetSnapshot, 'set' | 'pods'>,
  wanted: number,
  {
    group,
    now,
  }: {
    readonly group: Pick<CoordinationMoment['group'], 'preparations' | 'takenAt'>;
    readonly now: CoordinationMoment['now'];
  },
): DelayPlan {
  const settings = delayedDownscaleOf(set);
  const url = urlOf(set);
  const preparations = heardAt(url, group.preparations.get(set.uid));
  const plan = planDelayedDownscale(
    { set, wanted, settings, pods: slotPods(set, pods), preparations, takenAt: group.takenAt },
    now,
  );
  const { verdict, requeue } = plan;
  const calls = url === undefined ? [] : plan.calls.map((call) => callPod(set, url, call));
  return { verdict, requeue, calls, calledAt: url };
}

/** For which slots of a set it is of use to know what their pods said. */
export interface PreparationUse {
  /** The uid of the set. */
  readonly uid: string;
  /** The URLs at which they are called now; where there is none, nothing is of use. */
  readonly urls: readonly string[];
  /** The first ordinal, and the one after the last. */
  readonly start: number;
  readonly end: number;
}

/** Returns what is of use for `set` as it is; all else that is known of its pods may be forgotten, and calls of it ended. */
export function preparationUse(set: StatefulSetView): PreparationUse {
  const isCalled = sourceOf(set).kind === 'reference' && !set.isDeleting;
  const start = set.spec.ordinalsStart;
  const end = start + set.spec.replicas;
  const url = isCalled ? urlOf(set) : undefined;
  const noted = mayBePrepared(set) ? preparedUrlsOf(set) : [];
  const urls = url === undefined || noted.includes(url) ? noted : [...noted, url];
  return { uid: set.uid, urls, start, end };
}

/** Returns all slots of a set, as its pods answered at `url`. */
export function slotsOf(
  { set, pods }: Pick<SetSnapshot, 'set' | 'pods'>,
  url: string,
  group: Pick<CoordinationMoment['group'], 'preparations'>,
): readonly DownscaleSlot[] {
  const preparations = heardAt(url, group.preparations.get(set.uid));
  const snapshot = { set, pods: slotPods(set, pods), preparations };
  return downscaleSlots(snapshot, 0, set.spec.replicas);
}

function urlOf(set: StatefulSetView): string | undefined {
  const settings = delayedDownscaleOf(set);
  if (settings.kind === 'invalid' || settings.value?.url.kind !== 'valid') return undefined;
  return settings.value.url.value;
}

function heardAt(
  url: string | undefined,
  known: readonly Preparations[] | undefined,
): ReadonlyMap<number, PodPreparation> {
  return known?.find((each) => each.url === url)?.slots ?? new Map();
}

function slotPods(set: StatefulSetView, pods: readonly PodView[]): ReadonlyMap<number, SlotPod> {
  const slots = new Map<number, SlotPod>();
  for (const { name, uid, readySince } of pods) {
    const ordinal = parseOrdinal(name, set.name);
    if (ordinal !== undefined) slots.set(ordinal, { uid, isReady: readySince !== undefined });
  }
  return slots;
}

/** Returns the call of one pod at `url`. */
export function callPod(
  set: StatefulSetView,
  url: string,
  { method, ordinal, pod }: PlannedPodCall,
): CallPod {
  const name = `${set.name}-${ordinal}`;
  const why =
    method === 'POST'
      ? because('PodPreparing', `Pod "${name}" is asked how long it has been prepared to go`)
      : because('PodReleased', `Pod "${name}" is notified that it stays`);
  const { uid: podUid, isReady: isPodReady } = pod;
  return {
    kind: 'call-pod',
    set: setRef(set),
    ordinal,
    podUid,
    isPodReady,
    method,
    url,
    because: why,
  };
}
