import { formatGoDuration } from '#base/time/go-duration.ts';
import type { Millis } from '#base/units.ts';
import { secondsText } from '../observer/facts.ts';
import { podsText, type Summary } from '../rollout-group/summary.ts';
import type { DownscaleProof } from './downscale-proof.ts';

/** What a finished down-scale comes to. */
export interface DownscaleOutcome {
  readonly took: Millis;
  readonly zones: number;
  readonly from: number;
  readonly to: number;
  readonly delay: Millis;
  readonly minimumTime: Millis;
  readonly proof: Pick<
    DownscaleProof,
    'departures' | 'asked' | 'refusals' | 'slowest' | 'zones' | 'closest'
  >;
  /** Names of pods that stay and are prepared to go all the same. */
  readonly stillPrepared: readonly string[];
}

interface Verdict {
  readonly isKept: boolean;
  readonly line: string;
}

/** Sums up a down-scale that has come to the wanted count. */
export function summarizeDownscale(outcome: DownscaleOutcome): Summary {
  const verdicts = [
    askedVerdict(outcome),
    delayVerdict(outcome),
    zonesVerdict(outcome),
    stayVerdict(outcome),
  ];
  const { took, from, to, proof } = outcome;
  const order = proof.zones.join(', then ');
  const time = `the down-scale took ${secondsText(took)}: ${order} went from ${from} to ${podsText(to)} each`;
  return {
    isKept: verdicts.every(({ isKept }) => isKept),
    lines: [time, ...verdicts.map(({ line }) => line)],
  };
}

function askedVerdict({ proof, zones, from, to }: DownscaleOutcome): Verdict {
  const gone = new Set(proof.departures.map(({ pod }) => pod));
  const unasked = [...gone].filter((pod) => !proof.asked.has(pod));
  const wanted = zones * (from - to);
  if (unasked.length > 0) return broken(`${unasked.join(', ')} went without being asked`);
  if (gone.size !== wanted) return broken(`${gone.size} pods went instead of ${wanted}`);
  const calls = [...proof.asked.values()].reduce((sum, count) => sum + count, 0);
  const refusals = [...proof.refusals].map(
    ([pod, count]) => `; ${pod} said not yet ${times(count)}`,
  );
  const { slowest } = proof;
  const late =
    slowest === undefined ? '' : `; ${slowest.pod} took ${secondsText(slowest.took)} to answer`;
  const line = `${proof.asked.size} pods were asked to prepare, in ${calls} calls${refusals.join('')}${late}`;
  return { isKept: true, line };
}

function delayVerdict({ proof, delay }: DownscaleOutcome): Verdict {
  const text = formatGoDuration(delay);
  const early = proof.departures.filter(({ waited }) => waited === undefined || waited < delay);
  if (early.length > 0) {
    const each = early.map(({ pod, waited }) =>
      waited === undefined ? `${pod} unprepared` : `${pod} after ${secondsText(waited)}`,
    );
    return broken(`pods went before their delay of ${text}: ${each.join(', ')}`);
  }
  const [first] = proof.departures.toSorted((a, b) => (a.waited ?? 0) - (b.waited ?? 0));
  const soonest =
    first?.waited === undefined
      ? ''
      : `: the soonest, ${first.pod}, ${secondsText(first.waited)} after it had prepared`;
  return { isKept: true, line: `no pod went before its delay of ${text}${soonest}` };
}

function zonesVerdict({ proof, minimumTime }: DownscaleOutcome): Verdict {
  const text = formatGoDuration(minimumTime);
  const { closest } = proof;
  if (closest === undefined) return { isKept: true, line: 'no two zones shrank' };
  if (closest < minimumTime) {
    return broken(`two zones shrank within ${secondsText(closest)}, less than ${text}`);
  }
  const line = `no two zones shrank within ${text}: the closest were ${secondsText(closest)} apart`;
  return { isKept: true, line };
}

function stayVerdict({ stillPrepared, zones, to }: DownscaleOutcome): Verdict {
  if (stillPrepared.length > 0) {
    return broken(`pods that stay are still prepared to go: ${stillPrepared.join(', ')}`);
  }
  return { isKept: true, line: `of the ${zones * to} pods that stay, none is prepared to go` };
}

function broken(what: string): Verdict {
  return { isKept: false, line: `broken promise: ${what}` };
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
