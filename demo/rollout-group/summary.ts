import type { Millis } from '#base/units.ts';
import type { DisruptionProof } from '../observer/disruption-proof.ts';
import { secondsText } from '../observer/facts.ts';
import type { HandOver } from './hand-over.ts';
import { handOverTime, handOverVerdicts } from './hand-over-summary.ts';
import type { Hiccup } from './hiccup.ts';
import { shortenedSentence } from './short-times.ts';

/** What a finished scenario comes to. */
export interface Outcome {
  /** From the (good) template to the last pod being Ready. */
  readonly took: Millis;
  readonly limit: Millis;
  readonly proof: Pick<DisruptionProof, 'mostZonesDown' | 'zones' | 'reach' | 'deletions'>;
  /** The image that could not be pulled, in the scenario `broken-image`. */
  readonly brokenImage: string | undefined;
  /** When all probes failed, in the scenario `hiccup`; the proof does not count that time. */
  readonly hiccup: Hiccup | undefined;
  /** How operators succeeded one another, in the scenario `hand-over`. */
  readonly handOver: HandOver | undefined;
}

/** The last lines of a run, and whether every promise was kept. */
export interface Summary {
  readonly isKept: boolean;
  readonly lines: readonly string[];
}

/** Sums up a rollout that has ended. */
export function summarize(outcome: Outcome): Summary {
  const verdicts = [
    ...hiccupVerdict(outcome),
    ...handOverVerdicts(outcome),
    zonesVerdict(outcome),
    podsVerdict(outcome),
    ...brokenVerdict(outcome),
  ];
  const last = outcome.handOver === undefined ? [] : [shortenedSentence];
  return {
    isKept: verdicts.every(({ isKept }) => isKept),
    lines: [timeLine(outcome), ...verdicts.map(({ line }) => line), ...last],
  };
}

interface Verdict {
  readonly isKept: boolean;
  readonly line: string;
}

function timeLine({ took, limit, brokenImage, hiccup, handOver }: Outcome): string {
  if (handOver !== undefined) return handOverTime(took);
  if (hiccup !== undefined) {
    return `the rollout took ${secondsText(took)}; for ${secondsText(hiccup.lasted)} of them no pod was ready`;
  }
  const what = brokenImage === undefined ? 'the rollout took' : 'the rollout of the fix took';
  const percent = ((took / limit - 1) * 100).toFixed(1);
  const more = Number(percent) > 0 ? `${percent} % over` : 'at';
  return `${what} ${secondsText(took)}: ${more} the physical limit of ${secondsText(limit)}`;
}

function hiccupVerdict({ hiccup }: Outcome): readonly Verdict[] {
  if (hiccup === undefined) return [];
  const { deleted } = hiccup;
  const isKept = deleted === 0;
  const line = isKept
    ? 'no pod was deleted while all readiness probes failed'
    : `broken promise: ${podsText(deleted)} deleted while all readiness probes failed`;
  return [{ isKept, line }];
}

function zonesVerdict({ proof, hiccup }: Outcome): Verdict {
  const count = proof.mostZonesDown;
  const isKept = count <= 1;
  const line = isKept
    ? `${hiccup === undefined ? '' : 'apart from that '}never two zones were down: at most ${count} zone had unavailable pods at any time`
    : `broken promise: ${count} zones had unavailable pods at the same time`;
  return { isKept, line };
}

function podsVerdict({ proof }: Outcome): Verdict {
  const isKept = proof.zones.every(({ limit, mostUnavailable }) => mostUnavailable <= limit);
  const counts = proof.zones
    .map(({ zone, limit, mostUnavailable }) => `${zone} ${mostUnavailable} of ${limit} allowed`)
    .join(', ');
  const start = isKept
    ? 'most pods unavailable at once'
    : 'broken promise: pods unavailable at once';
  return { isKept, line: `${start}: ${counts}` };
}

function brokenVerdict({ proof, brokenImage }: Outcome): readonly Verdict[] {
  if (brokenImage === undefined) return [];
  const reached = proof.reach(brokenImage);
  const most = Math.max(0, ...reached);
  const limit = Math.min(...proof.zones.map((zone) => zone.limit));
  const isKept = reached.length <= 1 && most <= limit;
  const line = isKept
    ? `the broken image reached ${podsText(most)} of ${reached.length} zone, where ${limit} may be unavailable`
    : `broken promise: the broken image reached ${podsText(most)} of a zone, and ${reached.length} zones`;
  return [{ isKept, line }];
}

/** Returns `1 pod`, `2 pods`. */
export function podsText(count: number): string {
  return count === 1 ? '1 pod' : `${count} pods`;
}
