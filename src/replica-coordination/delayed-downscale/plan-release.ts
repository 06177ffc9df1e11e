import { type Instant, monotonic } from '#base/units.ts';
import type { CallPod, Decision } from '#control/decision/decision.ts';
import { because, setRef } from '#control/decision/refs.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import { isTooLarge } from '#statefulset/parse-ordinal.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { type CoordinationMoment, timeOf, type Wish } from '../plan-wish.ts';
import {
  type DownscaleSlot,
  isCancelDue,
  isReleased,
  nextCallAt,
} from './delayed-downscale-slots.ts';
import { callPod, slotsOf } from './plan-delay.ts';
import { preparedUrlsOf } from './prepared-urls.ts';

/** The calls of the pods of one set, and what the set remembers of them. */
export interface ReleasePlan {
  readonly calls: readonly CallPod[];
  readonly decisions: readonly Decision[];
  /** When a pod is called again although nothing changes. */
  readonly lookAgainAt: readonly Instant[];
}

/** What one set wants of its pods at this instant. */
interface Release {
  readonly snapshot: SetSnapshot;
  readonly wish: Wish;
  readonly moment: CoordinationMoment;
}

/** The pods that stay for sure, as called at one URL. */
interface Released {
  readonly url: string;
  readonly slots: readonly DownscaleSlot[];
  /** Whether each pod of the set stays, and has said so. */
  readonly isDone: boolean;
}

/**
 * Returns which pods of a set are called, where the set remembers the URLs at which pods were asked to prepare. Before the first
 * POST the set notes its URL; each pod that stays gets a DELETE there, whatever became of the annotations and the resource that
 * the POST came from; the note goes once all pods stay, and each has confirmed it.
 */
export function planRelease(
  snapshot: SetSnapshot,
  wish: Wish,
  moment: CoordinationMoment,
): ReleasePlan {
  const { set } = snapshot;
  const { calls = [], calledAt } = wish;
  if (set.isDeleting || isTooLarge(set)) return { calls, decisions: [], lookAgainAt: [] };
  const urls = preparedUrlsOf(set);
  const release = { snapshot, wish, moment };
  const released = urls.map((url) => releasedAt(url, release));
  const cancels = released
    .filter(({ url }) => url !== calledAt)
    .flatMap((each) => cancelsAt(each, release));
  const note = noteFor(release, urlsToNote(released, wish));
  return {
    calls: [...cancels, ...(mayAsk(release) ? calls : calls.filter((call) => !isPost(call)))],
    decisions: [...holdsFor(released, release), ...note],
    lookAgainAt: released.flatMap(({ slots }) => slots).flatMap((slot) => nextCallOf(slot, moment)),
  };
}

/** Returns the URLs at which pods may be prepared once what `wish` asks for is done. */
function urlsToNote(
  released: readonly Released[],
  { calls = [], calledAt }: Wish,
): readonly string[] {
  const open = released.filter(({ isDone }) => !isDone).map(({ url }) => url);
  const isNew = calls.some(isPost) && !released.some(({ url }) => url === calledAt);
  return isNew && calledAt !== undefined ? [...open, calledAt] : open;
}

/** Reports whether a POST may leave: the set remembers its URL, and no write may take that away. */
function mayAsk({ snapshot: { set }, wish: { calledAt }, moment }: Release): boolean {
  if (calledAt === undefined || !preparedUrlsOf(set).includes(calledAt)) return false;
  return moment.group.notes.get(set.uid)?.isOpen !== true;
}

function isPost({ method }: CallPod): boolean {
  return method === 'POST';
}

function releasedAt(url: string, { snapshot, wish, moment: { group } }: Release): Released {
  const { name, spec } = snapshot.set;
  // A request without an answer may still take those above.
  const open = group.unanswered.get(name)?.to ?? spec.replicas;
  const count = Math.min(wish.stays ?? spec.replicas, open, spec.replicas);
  const slots = slotsOf(snapshot, url, group).slice(0, count);
  const isDone = count === spec.replicas && slots.every(isReleased);
  return { url, slots, isDone };
}

function cancelsAt({ url, slots }: Released, { snapshot, moment }: Release): readonly CallPod[] {
  return slots.flatMap((slot) => {
    const { ordinal, pod } = slot;
    if (pod === undefined || !isCancelDue(slot, moment.group.takenAt)) return [];
    return [callPod(snapshot.set, url, { method: 'DELETE', ordinal, pod })];
  });
}

function nextCallOf(slot: DownscaleSlot, moment: CoordinationMoment): readonly Instant[] {
  const at = nextCallAt(slot);
  if (slot.state.kind === 'prepared' || at === undefined || at <= moment.group.takenAt) return [];
  return [timeOf(moment, monotonic(at))];
}

/** Returns the write, or why it waits, by which the set remembers `urls`; nothing where it does, or where one is under way. */
function noteFor(
  { snapshot: { set }, moment }: Release,
  urls: readonly string[],
): readonly Decision[] {
  const before = preparedUrlsOf(set);
  const text = urls.join(' ');
  const state = moment.group.notes.get(set.uid);
  if (text === before.join(' ') || state?.isAwaited === true) return [];
  const pause = state?.pause;
  if (pause !== undefined && pause.to === text && pause.until > moment.group.takenAt) {
    const until = timeOf(moment, pause.until);
    return [{ kind: 'hold', set: setRef(set), until, because: pause.because }];
  }
  const { resourceVersion: revision } = set;
  const why =
    urls.length > before.length
      ? because('PodPreparing', `${set.name} notes where its pods are asked to prepare`)
      : because('PodReleased', `each pod of ${set.name} has confirmed that it stays`);
  return [{ kind: 'note-prepared', set: setRef(set), urls, revision, because: why }];
}

/** Names the first pod that stays, and does not say so. */
function holdsFor(
  released: readonly Released[],
  { snapshot, moment }: Release,
): readonly Decision[] {
  const silent = released
    .flatMap(({ slots }) => slots)
    .find((slot) => silenceOf(slot) !== undefined);
  if (silent === undefined) return [];
  const { ordinal, state } = silent;
  const { set } = snapshot;
  const message =
    `Pod "${podName(set, ordinal)}" stays, and does not say that it is not prepared to go any more: ` +
    `it ${silenceOf(silent)}`;
  const hold = {
    kind: 'hold',
    set: setRef(set),
    because: because('PodsStayPrepared', message),
  } as const;
  if (state.kind !== 'failed') return [hold];
  return [{ ...hold, until: timeOf(moment, state.retryAt) }];
}

function silenceOf({ pod, state }: DownscaleSlot): string | undefined {
  if (state.kind === 'failed' && state.method === 'DELETE') return state.why;
  return pod === undefined && state.kind !== 'cancelled' ? 'does not exist' : undefined;
}

function podName({ name }: StatefulSetView, ordinal: number): string {
  return `${name}-${ordinal}`;
}
