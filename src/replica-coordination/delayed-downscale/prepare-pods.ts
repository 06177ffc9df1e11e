import type { Clock } from '#base/clock.ts';
import { getOrAdd } from '#base/get-or-add.ts';
import type { LogFields, Logger } from '#base/logger.ts';
import type { Parsed } from '#base/parsed.ts';
import { backoffAfter } from '#base/time/backoff.ts';
import { formatGoDuration } from '#base/time/go-duration.ts';
import { type Monotonic, millis, minutes, monotonic, seconds } from '#base/units.ts';
import type { CallPod } from '#control/decision/decision.ts';
import type { PodAnswer, PodHttp } from '#pod-http/pod-http.ts';
import { type PodUrl, shownUrl } from '#pod-http/pod-url.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { Preparations } from '../snapshot.ts';
import { podUrlsOf } from './delayed-downscale.ts';
import type { PodPreparation, PreparationState } from './delayed-downscale-snapshot.ts';
import type { PreparationUse } from './plan-delay.ts';
import { cancelledAnswer, preparedAnswer } from './prepare-pods-answer.ts';
import { preparedState, unwatched, type WatchedPreparation } from './watched-preparation.ts';

/** What calls to pods go through. */
export interface PodPreparationPorts {
  readonly podHttp: PodHttp;
  readonly clock: Clock;
  readonly log: Logger;
  /** Last part of pods' names, used as it is (FL-19). */
  readonly clusterDomain: string;
  /** Answers came: the key of `set` is to be planned again. */
  wake(set: StatefulSetView): void;
}

/** A failed call is repeated after this time, then after twice as much, and so on. */
const retries = { first: seconds(1), longest: minutes(1) };

/** How long a POST without an answer may still arrive at its pod; a DELETE sent before that is sent once more. */
const doubt = minutes(1);

interface SlotMemory extends PodPreparation {
  readonly watched: WatchedPreparation;
  /** Until when a POST without an answer may still take effect. */
  readonly doubtUntil: Monotonic | undefined;
}

interface SetMemory {
  readonly url: string;
  /** Where its pods are called; what they are made of never changes for a set. */
  readonly urls: Parsed<PodUrl>;
  /** Calls that wait for a loop, in their order. */
  readonly waiting: Set<WaitingCall>;
  /** Loops that make them. */
  loops: number;
  readonly slots: Map<number, SlotMemory>;
  /** The slots as they were given away last, which stay so; undefined once they have changed. */
  shown: Preparations | undefined;
  /** Aborts when nothing of this is wanted any more. */
  readonly forgotten: AbortController;
  readonly underWay: { POST: number; DELETE: number };
}

interface Ongoing {
  readonly memory: SetMemory;
  readonly set: StatefulSetView;
  readonly call: CallPod;
}

interface WaitingCall {
  readonly ongoing: Ongoing;
  readonly signal: AbortSignal;
}

/** Loops that call the pods of one set side by side (D-24). */
const mostLoops = 32;
const unknown: PreparationState = { kind: 'unknown' };
const unheardOf: SlotMemory = {
  calling: undefined,
  state: unknown,
  watched: unwatched,
  doubtUntil: undefined,
};

/**
 * Calls pods outside of the passes over their groups, and remembers what they said. The memory is a cache: the truth is
 * with the pods (DD-1), so losing it costs calls and nothing else. It must begin empty with every process, and with
 * every lease once there is one: what another process asked of pods meanwhile is in none of it (D-22).
 */
export class PodPreparations {
  readonly #ports: PodPreparationPorts;
  /** Keyed by the uid of the set, and then by URL. */
  readonly #sets = new Map<string, Map<string, SetMemory>>();

  constructor(ports: PodPreparationPorts) {
    this.#ports = ports;
  }

  /** Returns what the pods of the set `uid` said, as plain data, each for one URL; undefined when none of them was called. */
  of(uid: string): readonly Preparations[] | undefined {
    const memories = this.#sets.get(uid);
    if (memories === undefined) return undefined;
    return [...memories.values()].map((memory) => {
      memory.shown ??= { url: memory.url, slots: new Map(memory.slots) };
      return memory.shown;
    });
  }

  /** Forgets what is of no use any more: other URLs with their calls under way, and slots that a set has no more. */
  retain(uses: readonly PreparationUse[]): void {
    for (const use of uses) {
      const memories = this.#sets.get(use.uid);
      for (const [url, memory] of memories ?? []) {
        if (use.urls.includes(url)) retainSlots(memory, use);
        else this.#forgetAt(use.uid, url);
      }
    }
  }

  /**
   * Starts calls of pods of `set`, and returns at once. The set is woken when the last POST under way has ended, and when
   * the last DELETE has; `signal` gives them up, without a word.
   */
  start(set: StatefulSetView, calls: readonly CallPod[], signal: AbortSignal): void {
    const forgetting = new Map<SetMemory, AbortSignal>();
    for (const call of calls) {
      const memory = this.#memoryOf(set, call.url);
      const slot = memory.slots.get(call.ordinal) ?? unheardOf;
      if (slot.calling !== undefined) continue;
      keep(memory, call.ordinal, { ...slot, calling: call.method });
      memory.underWay[call.method] += 1;
      const either = forgetting.get(memory) ?? AbortSignal.any([signal, memory.forgotten.signal]);
      forgetting.set(memory, either);
      memory.waiting.add({ ongoing: { memory, set, call }, signal: either });
    }
    for (const memory of forgetting.keys()) this.#beginLoops(memory);
  }

  /** Forgets the set, which is gone, or asks for no delay any more: its calls are given up. */
  forget(uid: string): void {
    for (const url of this.#sets.get(uid)?.keys() ?? []) this.#forgetAt(uid, url);
  }

  #forgetAt(uid: string, url: string): void {
    const memories = this.#sets.get(uid);
    memories?.get(url)?.forgotten.abort();
    memories?.delete(url);
    if (memories?.size === 0) this.#sets.delete(uid);
  }

  #memoryOf(set: StatefulSetView, url: string): SetMemory {
    const memories = getOrAdd(this.#sets, set.uid, () => new Map<string, SetMemory>());
    const known = memories.get(url);
    if (known !== undefined) return known;
    const memory: SetMemory = {
      url,
      urls: podUrlsOf(set, url, this.#ports.clusterDomain),
      waiting: new Set(),
      loops: 0,
      slots: new Map(),
      shown: undefined,
      forgotten: new AbortController(),
      underWay: { POST: 0, DELETE: 0 },
    };
    memories.set(url, memory);
    return memory;
  }

  /** Begins as many loops as there are calls for: a call that waits is no promise, and has no URL yet. */
  #beginLoops(memory: SetMemory): void {
    const wanted = Math.min(mostLoops - memory.loops, memory.waiting.size);
    // They end in answers of some kind, never in an error: what fails here is a bug, which ends the process.
    for (let begun = 0; begun < wanted; begun += 1) void this.#loop(memory);
  }

  async #loop(memory: SetMemory): Promise<void> {
    memory.loops += 1;
    // What is added meanwhile is met, too; what another loop has taken is not.
    for (const each of memory.waiting) {
      memory.waiting.delete(each);
      await this.#call(each.ongoing, each.signal);
    }
    memory.loops -= 1;
  }

  async #call(ongoing: Ongoing, signal: AbortSignal): Promise<void> {
    const { set, call, memory } = ongoing;
    const { method } = call;
    const startedAt = this.#ports.clock.monotonic();
    const { url, answer } = await this.#answer(ongoing, signal);
    const state =
      answer.kind === 'aborted' ? unknown : this.#stateAfter(ongoing, answer, startedAt);
    const endedAt = this.#ports.clock.monotonic();
    const watched = watchedAfter(ongoing, answer, { state, endedAt });
    const doubtUntil = this.#doubtAfter(ongoing, answer);
    keep(memory, call.ordinal, { calling: undefined, state, watched, doubtUntil });
    memory.underWay[method] -= 1;
    if (signal.aborted) return;
    this.#tell({ call, url, set, startedAt }, answer, state);
    if (memory.underWay[method] === 0) this.#ports.wake(set);
  }

  async #answer(
    { set, call, memory }: Ongoing,
    signal: AbortSignal,
  ): Promise<{ readonly url: string; readonly answer: PodAnswer }> {
    const { urls } = memory;
    if (urls.kind === 'invalid') {
      const message = `${urls.problem.path} ${urls.problem.message}`;
      return { url: call.url, answer: { kind: 'unreachable', message, isSent: false } };
    }
    const url = urls.value(call.ordinal);
    const { method } = call;
    const key = `${set.namespace}/${set.name}`;
    return { url, answer: await this.#ports.podHttp.call({ set: key, method, url, signal }) };
  }

  #stateAfter(ongoing: Ongoing, answer: PodAnswer, startedAt: Monotonic): PreparationState {
    const { method, podUid: uid } = ongoing.call;
    if (method === 'POST') {
      const said = preparedAnswer(answer);
      if (said.kind === 'failed') return this.#failed(ongoing, said.why);
      const [now, answeredAt] = [this.#ports.clock.now(), this.#ports.clock.monotonic()];
      return preparedState(slotOf(ongoing).watched, { uid, since: said.since, now, answeredAt });
    }
    const said = cancelledAnswer(answer);
    if (said.kind === 'failed') return this.#failed(ongoing, said.why);
    const doubtUntil = slotOf(ongoing).doubtUntil;
    const isDoubtful = doubtUntil !== undefined && startedAt < doubtUntil;
    return { kind: 'cancelled', repeatAt: isDoubtful ? doubtUntil : undefined };
  }

  #failed(ongoing: Ongoing, why: string): PreparationState {
    const { method, podUid: uid, isPodReady: wasReady } = ongoing.call;
    const before = slotOf(ongoing).state;
    const isRepeated = before.kind === 'failed' && before.method === method && before.uid === uid;
    const attempts = isRepeated ? before.attempts + 1 : 1;
    const wait = backoffAfter(attempts - 1, retries);
    const retryAt = monotonic(this.#ports.clock.monotonic() + wait);
    return { kind: 'failed', method, uid, wasReady, why, attempts, retryAt };
  }

  #doubtAfter(ongoing: Ongoing, answer: PodAnswer): Monotonic | undefined {
    const { doubtUntil } = slotOf(ongoing);
    const isLost = answer.kind !== 'answered' && answer.isSent;
    if (ongoing.call.method !== 'POST' || !isLost) return doubtUntil;
    return monotonic(this.#ports.clock.monotonic() + doubt);
  }

  #tell(
    made: {
      readonly call: CallPod;
      readonly url: string;
      readonly set: StatefulSetView;
      readonly startedAt: Monotonic;
    },
    answer: PodAnswer,
    state: PreparationState,
  ): void {
    const { clock, log } = this.#ports;
    const { call, set, url, startedAt } = made;
    const pod = `${set.name}-${call.ordinal}`;
    const fields: LogFields = { pod, url: shownUrl(url), method: call.method };
    if (state.kind === 'failed') {
      log.error('call of a pod failed', { ...fields, err: `Pod "${pod}" ${state.why}` });
    } else if (state.kind === 'prepared') {
      const elapsed = formatGoDuration(millis(clock.now() - state.since));
      log.debug('pod is prepared', { ...fields, timestamp: state.since / 1_000, elapsed });
    } else if (answer.kind === 'answered' && answer.status === 409) {
      const { status, body } = answer;
      log.info('pod keeps its state', { ...fields, status, response_body: body.slice(0, 200) });
    } else {
      const duration = formatGoDuration(millis(clock.monotonic() - startedAt));
      log.debug('pod is not prepared any more', { ...fields, duration });
    }
  }
}

/** Forgets slots that the set has no more. */
function retainSlots(memory: SetMemory, { start, end }: PreparationUse): void {
  for (const [ordinal, { calling }] of memory.slots) {
    const isSlot = ordinal >= start && ordinal < end;
    if (isSlot || calling !== undefined) continue;
    memory.slots.delete(ordinal);
    memory.shown = undefined;
  }
}

function keep(memory: SetMemory, ordinal: number, slot: SlotMemory): void {
  memory.slots.set(ordinal, slot);
  memory.shown = undefined;
}

function slotOf({ memory, call }: Ongoing): SlotMemory {
  return memory.slots.get(call.ordinal) ?? unheardOf;
}

/**
 * Returns what is known after a call. One that failed, or a DELETE that the pod did not follow, says nothing against what
 * the pod said before.
 */
function watchedAfter(
  ongoing: Ongoing,
  answer: PodAnswer,
  { state, endedAt }: { readonly state: PreparationState; readonly endedAt: Monotonic },
): WatchedPreparation {
  const { watched } = slotOf(ongoing);
  if (state.kind === 'prepared') return { ...watched, prepared: state };
  const isOut = ongoing.call.method === 'DELETE' && cancelledAnswer(answer).kind === 'cancelled';
  return isOut ? { prepared: undefined, cancelledAt: endedAt } : watched;
}
