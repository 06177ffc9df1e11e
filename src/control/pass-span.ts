import { parseGroupKey } from '#statefulset/group.ts';
import type { OpenSpan, SpanStart } from '#telemetry/tracing/tracing.ts';
import type { GroupPassEnd } from './group-pass.ts';

/** Returns how the span of a pass over the group `key` begins. */
export function passStart(key: string): SpanStart {
  const { namespace, group } = parseGroupKey(key);
  const attributes = { 'k8s.namespace.name': namespace, rollout_group: group };
  return { name: 'reconcile', kind: 'internal', attributes };
}

/** Says in `span` what a pass decided, and why: words of closed sets, each once, and a count. */
export function tellPass(
  span: OpenSpan,
  { plan, written, result }: GroupPassEnd,
  failure: Error | string | undefined,
): void {
  const decisions = [...written, ...plan.decisions];
  span.set({
    'pass.result': result.kind,
    'pass.decisions': once(decisions.map(({ kind }) => kind)),
    'pass.reasons': once(decisions.map(({ because }) => because.reason)),
    'pass.pods_deleted': decisions.filter(({ kind }) => kind === 'delete-pod').length,
  });
  if (failure !== undefined) span.fail(failure);
}

function once(words: readonly string[]): string[] {
  return [...new Set(words)].toSorted();
}
