import type { Millis } from '#base/units.ts';
import type { DisruptionProof } from '../observer/disruption-proof.ts';
import { secondsText } from '../observer/facts.ts';
import { podsText, type Summary } from '../rollout-group/summary.ts';
import type { DrainRecord } from './drainer.ts';

/** A pod whose end has begun. */
export interface Departure {
  readonly pod: string;
  readonly isEvicted: boolean;
  /** Whether the stored ledger had given it away by then. */
  readonly isGiven: boolean;
}

/** What a finished drain in the middle of a rollout comes to. */
export interface DrainOutcome {
  /** From the new template until every pod had it. */
  readonly rollout: Millis;
  /** From the first eviction that was asked for until the nodes were empty. */
  readonly drain: Millis;
  /** How many pods the budget lets be unavailable. */
  readonly allowed: number;
  readonly proof: Pick<DisruptionProof, 'mostZonesDown' | 'zones'>;
  readonly drainers: readonly DrainRecord[];
  readonly departures: readonly Departure[];
  /** Pods of the group. */
  readonly pods: number;
}

interface Verdict {
  readonly isKept: boolean;
  readonly line: string;
}

/** Sums up a rollout and a drain that have both ended. */
export function summarizeDrain(outcome: DrainOutcome): Summary {
  const verdicts = [
    budgetVerdict(outcome),
    zonesVerdict(outcome),
    departuresVerdict(outcome),
    ledgerVerdict(outcome),
  ];
  return {
    isKept: verdicts.every(({ isKept }) => isKept),
    lines: [timeLine(outcome), ...verdicts.map(({ line }) => line), ...drainerLines(outcome)],
  };
}

function timeLine({ rollout, drain, drainers }: DrainOutcome): string {
  const nodes = drainers.map(({ node }) => node).join(', ');
  return `the rollout took ${secondsText(rollout)}, the drain of ${nodes} in it ${secondsText(drain)}`;
}

function budgetVerdict({ proof, allowed }: DrainOutcome): Verdict {
  const most = Math.max(0, ...proof.zones.map(({ mostUnavailable }) => mostUnavailable));
  const beyond = Math.max(0, most - allowed);
  return verdict(
    beyond === 0,
    `0 pods beyond the budget: at most ${most} of a zone was unavailable at any time, ${allowed} allowed`,
    `${podsText(beyond)} beyond the budget: ${most} of a zone were unavailable, ${allowed} allowed`,
  );
}

function zonesVerdict({ proof: { mostZonesDown } }: DrainOutcome): Verdict {
  return verdict(
    mostZonesDown <= 1,
    `never two zones were down: at most ${mostZonesDown} zone had unavailable pods at any time`,
    `${mostZonesDown} zones had unavailable pods at the same time`,
  );
}

/** Each pod is replaced by the rollout, and each eviction that was permitted moves one. */
function departuresVerdict({ departures, drainers, pods }: DrainOutcome): Verdict {
  const evicted = departures.filter(({ isEvicted }) => isEvicted).length;
  const rolled = departures.length - evicted;
  const permitted = drainers.reduce((sum, drainer) => sum + drainer.evicted, 0);
  const text = `the rollout replaced ${podsText(rolled)}, the drainers moved ${evicted}`;
  return verdict(
    rolled === pods && evicted === permitted,
    text,
    `${text}, of ${pods} to be replaced and ${permitted} evictions that were permitted`,
  );
}

function ledgerVerdict({ departures }: DrainOutcome): Verdict {
  const early = departures.filter(({ isGiven }) => !isGiven).map(({ pod }) => pod);
  return verdict(
    early.length === 0,
    'each of them was in the ledger before it went, and at the end the ledger is empty',
    `${early.join(', ')} went without being in the ledger`,
  );
}

function drainerLines({ drainers }: DrainOutcome): readonly string[] {
  const texts = drainers.map(
    ({ name, evicted, denied }) => `${name} evicted ${podsText(evicted)}, got 429 ${denied} times`,
  );
  return [texts.join('; ')];
}

function verdict(isKept: boolean, kept: string, broken: string): Verdict {
  return { isKept, line: isKept ? kept : `broken promise: ${broken}` };
}
