import type { Limit } from '#disruption/budget.ts';
import { digestOf } from '#disruption/format-ledger.ts';
import type { PodSelector } from './spec/selector.ts';

/** What the `spec` of a ZoneDisruptionBudget says. */
export interface ZoneBudgetSpec {
  readonly selector: PodSelector;
  /** A number of pods of one zone, or a share of all in all zones, rounded up (ZDB-8). */
  readonly limit: Limit;
  /** Whether evictions are only judged, neither refused nor recorded. */
  readonly isDryRun: boolean;
}

/** What the names of its ledgers begin with; a ZoneAwarePodDisruptionBudget of the same name has another one. */
const ledgerPrefix = 'rollout-operator-zone-ledger-';
/** How long the name of an object may be. */
const longestName = 253;

/**
 * Returns the name of the ConfigMap with the ledger of a budget, in the namespace of the operator (D-33), where it is unique:
 * no namespace has a dot. Of names that are too long it has a part, and a digest of all.
 */
export function zoneLedgerName({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string {
  const whole = `${ledgerPrefix}${namespace}.${name}`;
  if (whole.length <= longestName) return whole;
  const digest = digestOf({ version: '', budget: whole, reservations: '' });
  // Whatever is before the digest must not end in a dot.
  const part = whole.slice(0, longestName - digest.length - 1).replace(/[^a-z0-9]+$/, '');
  return `${part}-${digest}`;
}
