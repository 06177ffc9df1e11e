import type { PodAnswer, PodCall, PodHttp } from './pod-http.ts';
import { withoutUser } from './pod-url.ts';

/** The pods of one set that are all to be prepared, or none of them. */
export interface PrepareWork {
  /** As `namespace/name`, see `PodCall.set`. */
  readonly set: string;
  /** One a pod, in the order in which they are called. */
  readonly urls: readonly string[];
  /** Headers besides `X-Cluster`, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A call that was not answered with 2xx. */
export interface FailedPodCall {
  readonly url: string;
  /** A sentence that names the call and what came of it. */
  readonly message: string;
}

/**
 * Prepares pods with POST. The first failure gives up the calls under way and those that wait for their turn (P12);
 * whoever gets one back has to {@link cancelAll}.
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
  await Promise.all(
    work.urls.map(async (url) => {
      const call = callOf(work, 'POST', { url, signal: either });
      const onEnd = (answer: PodAnswer): void => {
        first ??= failureOf(call, answer);
        if (first !== undefined) failing.abort();
      };
      // A call that never had its turn ends here only.
      onEnd(await podHttp.call({ ...call, onEnd }));
    }),
  );
  return first;
}

/**
 * Takes preparations back with DELETE: every pod is called once, also those that were never prepared, and no failure
 * keeps another call from being made (P13).
 *
 * @returns the failures, in the order of the URLs; empty when every pod answered 2xx
 */
export async function cancelAll(
  podHttp: PodHttp,
  work: PrepareWork,
  signal: AbortSignal,
): Promise<readonly FailedPodCall[]> {
  const failures = await Promise.all(
    work.urls.map(async (url) => {
      const call = callOf(work, 'DELETE', { url, signal });
      return failureOf(call, await podHttp.call(call));
    }),
  );
  return failures.filter((failure) => failure !== undefined);
}

function callOf(
  { set, headers }: PrepareWork,
  method: PodCall['method'],
  rest: Pick<PodCall, 'url' | 'signal'>,
): PodCall {
  return headers === undefined ? { set, method, ...rest } : { set, method, headers, ...rest };
}

function failureOf({ url, method }: PodCall, answer: PodAnswer): FailedPodCall | undefined {
  if (answer.kind !== 'answered') return { url, message: answer.message };
  if (answer.status >= 200 && answer.status <= 299) return undefined;
  return {
    url,
    message: `Cannot ${method} ${withoutUser(url)}: the pod answered ${answer.status}`,
  };
}
