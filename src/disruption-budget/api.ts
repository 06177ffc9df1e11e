import type { JsonObject } from '#base/json.ts';
import type { Millis } from '#base/units.ts';
import { digestOf } from '#disruption/format-ledger.ts';
import { definitionOf } from '#kubernetes/custom-resource/custom-resource-definition.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';

const spec: JsonObject = {
  type: 'object',
  required: ['selector'],
  properties: {
    selector: {
      type: 'object',
      description:
        'Selects the pods that this budget governs and, by their own labels, the StatefulSets that are the zones.',
      required: ['matchLabels'],
      properties: {
        matchLabels: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
    maxUnavailable: {
      type: 'integer',
      minimum: 0,
      description:
        'How many pods of a zone, or of a partition, may be unavailable. 1 where neither this nor the percentage is given.',
    },
    maxUnavailablePercentage: {
      type: 'integer',
      minimum: 0,
      maximum: 100,
      description:
        'How many pods of a zone may be unavailable, in percent of the replicas of its StatefulSet. Not with podNamePartitionRegex.',
    },
    podNamePartitionRegex: {
      type: 'string',
      description:
        'A regular expression (RE2) that finds the partition of a pod in its name: pods of one partition in different zones replicate one another, and the budget counts them instead of whole zones.',
    },
    podNameRegexGroup: {
      type: 'integer',
      minimum: 1,
      description:
        'Which group of podNamePartitionRegex is the partition, counted from 1. Needed where there are several.',
    },
    crossZoneEvictionDelay: {
      type: 'string',
      description:
        'How long a pod must have been ready before a pod of its partition in another zone may be disrupted, as "20m" or "1h30m". Only with podNamePartitionRegex.',
    },
  },
};

/** The definition of ZoneAwarePodDisruptionBudget, as the peer ships it. */
export const zoneAwarePodDisruptionBudgetDefinition: JsonObject = definitionOf({
  type: resourceTypes.zoneAwarePodDisruptionBudgets,
  names: { shortNames: ['zpdb'] },
  schema: { type: 'object', properties: { spec } },
});

/** What the names of ledgers begin with. */
const ledgerPrefix = 'rollout-operator-ledger-';
/** How long the name of an object may be. */
const longestName = 253;

/**
 * Returns the name of the ConfigMap that has the ledger of the budget `name`, in its namespace (D-33); of one whose name is
 * too long for that, a part of it and a digest of all.
 */
export function ledgerName(name: string): string {
  const whole = `${ledgerPrefix}${name}`;
  if (whole.length <= longestName) return whole;
  const digest = digestOf({ version: '', budget: name, reservations: '' });
  // Whatever is before the digest must not end in a dot.
  const part = whole.slice(0, longestName - digest.length - 1).replace(/[^a-z0-9]+$/, '');
  return `${part}-${digest}`;
}

/** How many pods may be unavailable. */
export type MaxUnavailable =
  /** An integer from 0; beyond 2^53 not exact. */
  | { readonly kind: 'count'; readonly count: number }
  /** An integer from 0 to 100, of the replicas of the pod's own set. */
  | { readonly kind: 'percentage'; readonly percentage: number };

/** The partition of a pod, or why there is none. */
export type PodPartition =
  | { readonly kind: 'partition'; readonly name: string }
  | { readonly kind: 'unknown'; readonly text: string };

/** What pods replicate one another. */
export type BudgetSpan =
  /** All of a zone. */
  | { readonly kind: 'zone' }
  /** Those of one partition, one in each zone. */
  | {
      readonly kind: 'partition';
      /** `podNamePartitionRegex`, as it is written. */
      readonly regex: string;
      readonly group: number;
      partitionOf(podName: string): PodPartition;
      /** 0 for none. */
      readonly crossZoneEvictionDelay: Millis;
    };

/** What the `spec` of a ZoneAwarePodDisruptionBudget says. */
export interface BudgetSpec {
  /** Labels of pods and of StatefulSets; an empty one selects all in the namespace. */
  readonly matchLabels: ReadonlyMap<string, string>;
  readonly maxUnavailable: MaxUnavailable;
  readonly span: BudgetSpan;
}

/** Reports whether a budget selects an object of its namespace by that object's own `labels`. */
export function selects(
  { matchLabels }: Pick<BudgetSpec, 'matchLabels'>,
  labels: Readonly<Record<string, string>>,
): boolean {
  for (const [key, value] of matchLabels) if (labels[key] !== value) return false;
  return true;
}
