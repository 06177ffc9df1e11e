import type { SpanAttributes, SpanStart, TraceHeaders } from '#telemetry/tracing/tracing.ts';
import type { AdmissionRequest, ReviewDecision } from './review.ts';

/** Returns how the span of a review that was posted to `path` begins; the caller's trace goes on in it. */
export function reviewStart(path: string, caller: TraceHeaders = {}): SpanStart {
  return { name: `review ${path}`, kind: 'server', attributes: { 'http.route': path }, caller };
}

/** Returns what a span says of what is reviewed: names as the API server has them, no object, no user. */
export function reviewAttributes(request: AdmissionRequest): SpanAttributes {
  const { uid, kind, resource, subResource, namespace, name, operation, isDryRun } = request;
  return {
    'request.uid': uid,
    'request.gvk': `${kind.group}/${kind.version}, Kind=${kind.kind}`,
    'request.operation': operation,
    'request.dry_run': isDryRun,
    'object.resource': subResource === '' ? resource : `${resource}/${subResource}`,
    'object.namespace': namespace,
    'object.name': name,
  };
}

/** Returns what a span says of a decision. */
export function decisionAttributes(decision: ReviewDecision): SpanAttributes {
  const answered = { 'http.response.status_code': 200, 'response.allowed': decision.isAllowed };
  if (decision.isAllowed) return answered;
  const { code, causes = [] } = decision;
  return {
    ...answered,
    ...(code !== undefined && { 'response.code': code }),
    ...(causes.length > 0 && { 'response.causes': causes.map(({ reason }) => reason) }),
  };
}
