/** Reads from a stored StatefulsetRollout what is shown to a user. What is there in another form counts as not there. */
import type { JsonObject } from '#base/json.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { integerAt, objectAt, stringAt } from '#statefulset/parse-fields.ts';

/** How far a rollout has come. */
export interface RolloutReport {
  readonly generation: number;
  /** The generation that the rest is about. */
  readonly observedGeneration: number;
  /** Empty before the operator has seen it. */
  readonly phase: string;
  readonly percent: number;
  readonly percentDeployed: number;
  /** In one line. */
  readonly reason: string;
  readonly isPauseRequested: boolean;
}

/** Longest text of the cluster that is shown in one line, in characters. */
const longestText = 1_100;

/** Returns `text` as it can be shown on a terminal, in one line: others write what is in a cluster. */
export function plainText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, longestText);
}

/** Reads how far the rollout of a stored object has come. */
export function rolloutReport(object: KubernetesObject): RolloutReport {
  const spec = objectAt(object, 'spec');
  const status = objectAt(object, 'status');
  return {
    generation: object.metadata.generation ?? 0,
    observedGeneration: integerAt(status, 'observedGeneration') ?? 0,
    phase: plainText(stringAt(status, 'phase') ?? ''),
    percent: integerAt(spec, 'percent') ?? 0,
    percentDeployed: integerAt(status, 'percentDeployed') ?? 0,
    reason: plainText(stringAt(status, 'reason') ?? ''),
    isPauseRequested: spec['pauseRequested'] === true,
  };
}

/** How a rollout has ended. */
export type RolloutEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly reason: string };

/** Returns how the rollout of the present generation has ended; undefined while it has not. */
export function endOf({
  generation,
  observedGeneration,
  phase,
  reason,
}: RolloutReport): RolloutEnd | undefined {
  if (observedGeneration !== generation) return undefined;
  if (phase === 'RolloutDone') return { kind: 'done' };
  return phase === 'RolloutFailed' ? { kind: 'failed', reason } : undefined;
}

/** Returns the line of a rollout: phase, percent and reason. */
export function progressLine(name: string, report: RolloutReport): string {
  const { phase, percent, percentDeployed, reason } = report;
  const isSeen = report.observedGeneration === report.generation && phase !== '';
  const place = `${name} ${percent}%`;
  if (!isSeen) return `${place}: not looked at yet by the operator`;
  const because = reason === '' ? '' : `: ${reason}`;
  return `${place}: ${phase}, ${percentDeployed}% deployed${because}`;
}

/** Returns what of `spec` makes a rollout another one: the percentage, and what the pods are made of. */
export function intentOf(object: JsonObject): JsonObject {
  const spec = objectAt(object, 'spec');
  const set = objectAt(objectAt(spec, 'statefulset'), 'spec');
  return { percent: spec['percent'], template: set['template'] };
}
