import type { Tracing } from '#telemetry/tracing/tracing.ts';
import { type HopAnswer, type RoundTripContext, roundTrip } from './pod-round-trip.ts';
import type { Hop } from './redirect.ts';

/** Sends `hop`, a call of a pod of `set`, in a span that goes on in the pod. */
export function tracedHop(
  tracing: Tracing,
  { hop, set }: { readonly hop: Hop; readonly set: string },
  context: RoundTripContext,
): Promise<HopAnswer> {
  const { method, url } = hop;
  const [namespace = '', name = ''] = set.split('/');
  const attributes = {
    'http.request.method': method,
    'k8s.namespace.name': namespace,
    'k8s.statefulset.name': name,
    'server.address': url.hostname,
    'url.path': url.pathname,
  };
  const start = { name: `call-pod ${method}`, kind: 'client', attributes } as const;
  return tracing.within(start, async (span) => {
    const headers = { ...context.headers, ...span.headers() };
    const answer = await roundTrip(hop, { ...context, headers });
    if (answer.kind === 'answered') {
      const { status } = answer;
      span.set({ 'http.response.status_code': status });
      if (status >= 400) span.fail(new Error(`the pod answered ${status}`));
    } else {
      span.set({ 'error.type': answer.kind });
      span.fail(new Error(answer.why === '' ? answer.kind : answer.why));
    }
    return answer;
  });
}
