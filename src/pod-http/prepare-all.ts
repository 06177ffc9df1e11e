import type { PodAnswer, PodCall, PodHttp } from './pod-http.ts';
import { shownUrl } from './pod-url.ts';

/** The pods of one set that are all to be prepared, or none of them. */
export interface PrepareWork {
  /** As `namespace/name`, see `PodCall.set`. */
  readonly set: string;
  /** How many pods there are. */
  readonly count: number;
  /** The URL of the pod that is called as number `index`, from 0 on; made when its turn comes. */
  readonly urlAt: (index: number) => string;
  /** Headers besides `X-Cluster`, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A call that was not answered with 2xx. */
export interface FailedPodCall {
  /** Without user and password. */
  readonly url: string;
  /** A sentence that names the call and what came of it. */
  readonly message: string;
}

/** The calls that were not answered with 2xx: their number, and some of them. */
export interface FailedPodCalls {
  readonly count: number;
  /** The first few that failed, in the order of the pods. */
  readonly first: readonly FailedPodCall[];
}

/** Loops that call the pods of one set side by side (D-24). */
const loops = 32;
/** Failures that are reported one by one. */
const mostTold = 3;

/**
 * Prepares pods with POST. The first failure gives up the calls under way and those that wait for their turn;
 * a caller that gets one back has to {@link cancelAll}.
 *
 * @param signal ends the calls, which then have failed
 * @returns the first failure; undefined when every pod answered 2xx
 */
export async function prepareAll(
  podHttp: PodHttp,
  work: PrepareWork,
  signal: AbortSignal,
): Promise<FailedPodCall | undefined> {
  const failing = new AbortController();
  const either = AbortSignal.any([signal, failing.signal]);
  let first: FailedPodCall | undefined;
  await eachPod(work.count, async (index) => {
    if (first !== undefined) return;
    const call = callOf(work, 'POST', { url: work.urlAt(index), signal: either });
    const onEnd = (answer: PodAnswer): void => {
      first ??= failureOf(call, answer);
      if (first !== undefined) failing.abort();
    };
    // A call that never had its turn ends here only.
    onEnd(await podHttp.call({ ...call, onEnd }));
  });
  return first;
}

/**
 * Takes preparations back with DELETE: every pod is called once, also those that were never prepared, and no failure
 * keeps another call from being made.
 *
 * @returns the calls that failed; none when every pod answered 2xx
 */
export async function cancelAll(
  podHttp: PodHttp,
  work: PrepareWork,
  signal: AbortSignal,
): Promise<FailedPodCalls> {
  let count = 0;
  let first: readonly (FailedPodCall & { readonly index: number })[] = [];
  await eachPod(work.count, async (index) => {
    const call = callOf(work, 'DELETE', { url: work.urlAt(index), signal });
    const failure = failureOf(call, await podHttp.call(call));
    if (failure === undefined) return;
    count += 1;
    first = [...first, { ...failure, index }]
      .toSorted((a, b) => a.index - b.index)
      .slice(0, mostTold);
  });
  return { count, first: first.map(({ url, message }) => ({ url, message })) };
}

/** Calls `visit` for each index below `count`, in order, so many at once as there are loops. */
async function eachPod(count: number, visit: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await visit(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(loops, count) }, loop));
}

function callOf(
  { set, headers }: PrepareWork,
  method: PodCall['method'],
  rest: Pick<PodCall, 'url' | 'signal'>,
): PodCall {
  return headers === undefined ? { set, method, ...rest } : { set, method, headers, ...rest };
}

function failureOf({ url, method }: PodCall, answer: PodAnswer): FailedPodCall | undefined {
  const shown = shownUrl(url);
  if (answer.kind !== 'answered') return { url: shown, message: answer.message };
  if (answer.status >= 200 && answer.status <= 299) return undefined;
  return { url: shown, message: `Cannot ${method} ${shown}: the pod answered ${answer.status}` };
}
