import type { JsonObject } from '#base/json.ts';
import type { RolloutProgress } from '../progress.ts';
import type { CallbackAttempts, EndedRollout } from './callback-attempts.ts';

/** What came of an attempt, as far as the progress of a rollout has it. */
export type ToldCallback = Pick<RolloutProgress, 'callback' | 'deliveredStage' | 'finishedAt'>;

/** What {@link CallbackCalls} works with. */
export interface CallbackCallPorts {
  readonly attempts: Pick<CallbackAttempts, 'attempt' | 'bodyOf'>;
  /** Wakes a resource, as the attempt about it has ended. */
  readonly wake: (key: string) => void;
}

type Ending =
  | { readonly kind: 'told'; readonly told: ToldCallback }
  /** It was given up, and does not count. */
  | { readonly kind: 'given-up' }
  | { readonly kind: 'failed'; readonly error: unknown };

interface Call {
  /** Of the attempt. */
  readonly id: string;
  /** Of the rollout whose outcome is reported. */
  readonly rollout: string;
  readonly stageId: string;
  readonly giving: AbortController;
  /** Undefined while it is under way. */
  ending: Ending | undefined;
  /** Called once it has ended. */
  onEnd?: () => void;
}

/** Calls that are under way at once, each with a connection of its own. */
const mostAtOnce = 100;

/**
 * Attempts to call back, outside of the passes: a receiver that does not answer keeps no pass, and no other rollout. What came of
 * one is kept until it is stored, so that a write in between makes no second call.
 */
export class CallbackCalls {
  readonly #ports: CallbackCallPorts;
  /** By uid of the resource. */
  readonly #calls = new Map<string, Call>();
  readonly #running = new Set<Promise<void>>();
  /** Keys of those that found no room. */
  readonly #waiting = new Set<string>();

  constructor(ports: CallbackCallPorts) {
    this.#ports = ports;
  }

  /** Returns what the attempts about `ended` send, for it to be stored; see {@link CallbackAttempts.bodyOf}. */
  bodyOf(ended: EndedRollout, status: JsonObject): string {
    return this.#ports.attempts.bodyOf(ended, status);
  }

  /**
   * Returns what came of the attempt that `ended` asks for, and begins it where it has not begun; undefined as long as nothing
   * has, whereafter the resource is woken.
   *
   * @throws what the attempt failed with; the next call begins it again
   */
  take(ended: EndedRollout, signal: AbortSignal): ToldCallback | undefined {
    const { uid } = ended.rollout;
    const id = idOf(ended.progress);
    const known = this.#calls.get(uid);
    if (known?.id !== id) {
      // Of another outcome: nothing waits for it any more, but whether it arrived is to be reported.
      if (known?.onEnd === undefined) this.forget(uid);
      this.#begin(ended, id, signal);
      return undefined;
    }
    const { ending } = known;
    if (ending?.kind === 'told') return ending.told;
    if (ending !== undefined) this.#calls.delete(uid);
    if (ending?.kind === 'failed') throw ending.error;
    return undefined;
  }

  /**
   * Another rollout has begun: says so by `tell` where no receiver was notified how the one of `progress` ended, as soon as that is known. A
   * receiver that begins the next rollout itself has been called back, although its answer may be on its way yet.
   */
  superseded(
    uid: string,
    progress: RolloutProgress,
    tell: (stageId: string | undefined) => void,
  ): void {
    const call = this.#calls.get(uid);
    if (call?.rollout !== rolloutOf(progress)) {
      tell(progress.callback.stageId || undefined);
      return;
    }
    const tellUnlessTold = (): void => {
      const { ending, stageId } = call;
      const isTold = ending?.kind === 'told' && ending.told.deliveredStage === stageId;
      if (!isTold) tell(stageId);
    };
    if (call.ending === undefined) call.onEnd = tellUnlessTold;
    else tellUnlessTold();
  }

  /** Forgets a resource that is gone, or whose outcome is another one. */
  forget(uid: string): void {
    this.#calls.get(uid)?.giving.abort();
    this.#calls.delete(uid);
  }

  /** Gives up what is under way; resolves when nothing is. */
  async close(): Promise<void> {
    for (const uid of this.#calls.keys()) this.forget(uid);
    await Promise.all(this.#running);
  }

  #begin(ended: EndedRollout, id: string, signal: AbortSignal): void {
    const { namespace, name, uid } = ended.rollout;
    const key = `${namespace}/${name}`;
    if (this.#running.size >= mostAtOnce) {
      this.#waiting.add(key);
      return;
    }
    const { progress } = ended;
    const { stageId } = progress.callback;
    const rollout = rolloutOf(progress);
    const call: Call = { id, rollout, stageId, giving: new AbortController(), ending: undefined };
    this.#calls.set(uid, call);
    const running = this.#run(call, ended, signal).finally(() => {
      this.#running.delete(running);
      this.#ports.wake(key);
      this.#wakeNext();
    });
    this.#running.add(running);
  }

  #wakeNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.#ports.wake(next);
  }

  async #run(call: Call, ended: EndedRollout, signal: AbortSignal): Promise<void> {
    const { attempts } = this.#ports;
    try {
      const giving = AbortSignal.any([signal, call.giving.signal]);
      const progress = await attempts.attempt(ended, giving);
      call.ending =
        progress === undefined ? { kind: 'given-up' } : { kind: 'told', told: progress };
    } catch (error) {
      call.ending = { kind: 'failed', error };
    }
    call.onEnd?.();
  }
}

/** Names a rollout; one that is begun again, as it was before, is another one. */
function rolloutOf({ key, startedAt }: RolloutProgress): string {
  return JSON.stringify([key, startedAt]);
}

/** Names one attempt of one outcome; a rollout that is begun again, as it was before, has another one. */
function idOf({ key, startedAt, outcome, callback }: RolloutProgress): string {
  return JSON.stringify([key, startedAt, outcome?.result, callback.stageId, callback.attempts]);
}
