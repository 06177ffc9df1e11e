/** The figures that benches print, what each must reach, and where that comes from. */

import { memoryLimit } from '../scripts/install/deployment.ts';

/** One bound; a figure above (or below) it fails the run. */
interface Bound {
  readonly unit: string;
  readonly atMost?: number;
  readonly atLeast?: number;
  /** Who asks for it. */
  readonly from: string;
  /** Whether the bound is about speed: such a bound holds at full size on a quiet machine only. */
  readonly isSpeed: boolean;
}

const goal = 'goals of the program';
const groups = 'goals of rollout groups';
const scaling = 'goals of scaling';
const webhooks = 'goals of webhooks';
const hostile = 'goals of webhooks among hostile reviews';
const replicas = 'goals of replicas that wait';
const shipped = 'goals of what is shipped';
const evictions = 'goals of evictions under a budget';
const phased = 'goals of PhasedRollouts';
const zoneAware = 'goals of zone-aware controllers';
const percent = 'goals of StatefulsetRollouts';
const safety = 'docs/rules/promises.md: one zone at a time, and no more pods than its limit';

/** Every bound of every bench, in one place. */
export const bounds = {
  'wall-clock ÷ physical limit': { unit: '×', atMost: 1.05, from: goal, isSpeed: true },
  'wall-clock ÷ perfect driver': { unit: '×', atMost: 1.03, from: groups, isSpeed: true },
  'wall-clock ÷ perfect driver, one at a time': {
    unit: '×',
    atMost: 1.01,
    from: groups,
    isSpeed: true,
  },
  'pod Ready → next delete, p50 ÷ perfect driver': {
    unit: '×',
    atMost: 2,
    from: groups,
    isSpeed: true,
  },
  // What is asked beside the deletes comes of time that passes, so both say nothing of a rollout of a second.
  'requests ÷ rolled pods': { unit: '', atMost: 1.06, from: groups, isSpeed: true },
  'requests beyond one a pod, 15, and 3 each 10 s': {
    unit: '',
    atMost: 0,
    from: groups,
    isSpeed: true,
  },
  'zones with unavailable pods at once': { unit: '', atMost: 1, from: safety, isSpeed: false },
  'pods unavailable beyond the limit of a zone': {
    unit: '',
    atMost: 0,
    from: safety,
    isSpeed: false,
  },
  'invariants broken': { unit: '', atMost: 0, from: 'docs/rules/promises.md', isSpeed: false },
  // One currentRevision a zone, and one retry of it should its set have moved meanwhile.
  'writes beyond one a pod, by zone': {
    unit: '',
    atMost: 2,
    from: `${goal}: one write a pod`,
    isSpeed: false,
  },
  'change of a scale → patch of its set, p99': {
    unit: 'ms',
    atMost: 50,
    from: scaling,
    isSpeed: true,
  },
  'calls of pods while nothing changes': {
    unit: '',
    atMost: 0,
    from: `${scaling}: none of them is called again`,
    isSpeed: false,
  },
  'calls of pods of one set at once': {
    unit: '',
    atMost: 32,
    from: `${scaling}: the same for each set`,
    isSpeed: false,
  },
  'pod Ready → next delete, p99': { unit: 'ms', atMost: 50, from: goal, isSpeed: true },
  'process start → ready': { unit: 's', atMost: 1.5, from: goal, isSpeed: true },
  // The manifests of the first peer allow 200 MiB (D-2).
  'peak RSS': {
    unit: 'MB',
    atMost: 180,
    from: `${goal}: fits where the first peer does`,
    isSpeed: true,
  },
  'CPU of a start, bundle ÷ sources': { unit: '×', atMost: 0.85, from: shipped, isSpeed: true },
  'RSS with 12 pods': { unit: 'MB', atMost: 80, from: shipped, isSpeed: true },
  'RSS with 900 pods': { unit: 'MB', atMost: 90, from: shipped, isSpeed: true },
  'RSS after a rollout of 900 pods': { unit: 'MB', atMost: 120, from: shipped, isSpeed: true },
  'RSS with 10,000 pods of 8 KB': { unit: 'MB', atMost: 125, from: shipped, isSpeed: true },
  'peak RSS with webhooks': { unit: 'MiB', atMost: 130, from: shipped, isSpeed: true },
  'writes while nothing changes': { unit: '/min', atMost: 0, from: goal, isSpeed: false },
  'CPU of a follower while nothing changes': {
    unit: '% of a core',
    atMost: 1,
    from: replicas,
    isSpeed: true,
  },
  'CPU while nothing changes': { unit: '% of a core', atMost: 1, from: goal, isSpeed: true },
  'pods created over HTTP': {
    unit: '/s',
    atLeast: 2000,
    from: 'goals of the embedded cluster',
    isSpeed: true,
  },
  'list of all pods over HTTP': {
    unit: 'ms',
    atMost: 300,
    from: 'goals of the embedded cluster',
    isSpeed: true,
  },
  'CPU a review ÷ bare HTTPS': { unit: '×', atMost: 1.6, from: hostile, isSpeed: true },
  'peak memory under hostile reviews': { unit: 'MiB', atMost: 180, from: hostile, isSpeed: true },
  'longest wait of an honest review': { unit: 'ms', atMost: 200, from: hostile, isSpeed: true },
  'review at 1,000/s, p99': { unit: 'ms', atMost: 20, from: hostile, isSpeed: true },
  'TLS handshakes of 200 connections': { unit: 's', atMost: 2, from: webhooks, isSpeed: true },
  'RSS of the webhook server': { unit: 'MB', atMost: 150, from: webhooks, isSpeed: true },
  'reviews failed during rotations': { unit: '', atMost: 0, from: webhooks, isSpeed: false },
  'drain of a zone ÷ physical limit': { unit: '×', atMost: 1.15, from: evictions, isSpeed: true },
  'answers other than allowed and 429': { unit: '', atMost: 0, from: evictions, isSpeed: false },
  'API calls for denials': { unit: '', atMost: 0, from: evictions, isSpeed: false },
  'CPU a denial ÷ no-downscale review': { unit: '×', atMost: 2, from: evictions, isSpeed: true },
  'review of an eviction at 300/s, p99': { unit: 'ms', atMost: 50, from: evictions, isSpeed: true },
  'executed grants': { unit: '/s', atLeast: 20, from: evictions, isSpeed: true },
  'ledger writes ÷ rounds of grants': { unit: '', atMost: 1, from: evictions, isSpeed: false },
  'wrong grants': { unit: '', atMost: 0, from: evictions, isSpeed: false },
  'denials beyond their deadline': { unit: '', atMost: 0, from: evictions, isSpeed: false },
  'API server back → all answers as usual': {
    unit: 's',
    atMost: 10,
    from: evictions,
    isSpeed: true,
  },
  'rollout under a budget ÷ without': { unit: '×', atMost: 1.05, from: evictions, isSpeed: true },
  // Of two pods that become ready together, the write of the ledger is a half each: it says nothing of a few pods.
  'writes ÷ rolled pod under a budget': { unit: '', atMost: 1.2, from: evictions, isSpeed: true },
  'writes ÷ rolled pod under a budget, one at a time': {
    unit: '',
    atMost: 2.1,
    from: evictions,
    isSpeed: true,
  },
  'last check answered → next pod let go, p99': {
    unit: 'ms',
    atMost: 100,
    from: phased,
    isSpeed: true,
  },
  'pods let go before their checks': {
    unit: '',
    atMost: 0,
    from: `${phased}: no step without its checks`,
    isSpeed: false,
  },
  'rollout of 10 pods ÷ its waits': { unit: '×', atMost: 1.05, from: phased, isSpeed: true },
  'CPU of 200 checks a second': { unit: '% of a core', atMost: 25, from: phased, isSpeed: true },
  'connections opened while checks go on': { unit: '', atMost: 0, from: phased, isSpeed: false },
  // A check that was asked just before the count began is stored in it, and the last ones after it.
  'writes ÷ checks': {
    unit: '',
    atMost: 1.05,
    from: `${phased}: one write a check`,
    isSpeed: true,
  },
  'update ÷ a perfect driver of the same steps': {
    unit: '×',
    atMost: 1.05,
    from: zoneAware,
    isSpeed: true,
  },
  'updates in other steps than the driver': {
    unit: '',
    atMost: 0,
    from: zoneAware,
    isSpeed: false,
  },
  'RSS of zone-aware controllers with 1,000 pods': {
    unit: 'MiB',
    atMost: 110,
    from: zoneAware,
    isSpeed: true,
  },
  'zones or pods away beyond a step': { unit: '', atMost: 0, from: safety, isSpeed: false },
  'rollout by percent ÷ perfect driver': { unit: '×', atMost: 1.15, from: percent, isSpeed: true },
  'pods away beyond the budget': { unit: '', atMost: 0, from: safety, isSpeed: false },
  'evictions under way at once': { unit: '', atMost: 10, from: percent, isSpeed: false },
  'bytes of a status of 1,000 pods': { unit: 'KiB', atMost: 400, from: percent, isSpeed: false },
  'status writes beyond one a batch and one a second': {
    unit: '',
    atMost: 0,
    from: percent,
    isSpeed: true,
  },
  'posts to Slack of a rollout': { unit: '', atMost: 21, from: percent, isSpeed: false },
  'calls of Slack a second': { unit: '/s', atMost: 1, from: percent, isSpeed: false },
  // Nothing waits for all of them where the size is tiny.
  'messages of Slack that do not show the end': {
    unit: '',
    atMost: 0,
    from: percent,
    isSpeed: true,
  },
  'RSS of a rollout of 1,000 pods': {
    unit: 'MiB',
    atMost: memoryLimit,
    from: 'the memory limit of its container',
    isSpeed: true,
  },
  'requests while all rollouts have ended': { unit: '', atMost: 0, from: percent, isSpeed: false },
  'RSS with 200 StatefulsetRollouts and 10,000 pods': {
    unit: 'MiB',
    atMost: 150,
    from: percent,
    isSpeed: true,
  },
  'RSS with 10,000 governed pods': { unit: 'MiB', atMost: 140, from: evictions, isSpeed: true },
} as const satisfies Readonly<Record<string, Bound>>;

/** Names of the figures that have a bound. */
export type BoundedFigure = keyof typeof bounds;

/** A measured figure. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** How it was measured. */
  readonly how: string;
  readonly bound: Bound | undefined;
  /** `skip`: the bound is about speed and says nothing at this size. */
  readonly verdict: 'PASS' | 'FAIL' | 'skip' | 'info';
}

/** What one bench found out. */
export interface Findings {
  readonly bench: string;
  /** What was run, in a sentence. */
  readonly setting: string;
  readonly figures: readonly Figure[];
}

/** Sizes in which benches run: `tiny` shows that they work and measures nothing. */
export type Size = 'full' | 'tiny';

/** A figure that has a bound. */
export function bounded(
  name: BoundedFigure,
  measured: { readonly value: number; readonly how: string; readonly of?: string },
  size: Size,
): Figure {
  const bound: Bound = bounds[name];
  const { value, how, of } = measured;
  const label = of === undefined ? name : `${name} (${of})`;
  return {
    name: label,
    value,
    unit: bound.unit,
    how,
    bound,
    verdict: verdictOf(bound, value, size),
  };
}

/** A figure that is only reported. */
export function told(
  name: string,
  measured: { readonly value: number; readonly unit: string; readonly how: string },
): Figure {
  return { name, ...measured, bound: undefined, verdict: 'info' };
}

function verdictOf(bound: Bound, value: number, size: Size): Figure['verdict'] {
  if (bound.isSpeed && size === 'tiny') return 'skip';
  const { atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY } = bound;
  // A figure that could not be taken (NaN) has not reached its bound.
  return value <= atMost && value >= atLeast ? 'PASS' : 'FAIL';
}

/** Findings as text, a line per figure and one for how it was measured. */
export function formatFindings({ bench, setting, figures }: Findings): string {
  const lines = figures.flatMap((figure) => [
    `  ${figure.verdict.padEnd(4)}  ${figure.name}: ${formatValue(figure)}${formatBound(figure)}`,
    `        ${figure.how}`,
  ]);
  return [`${bench}: ${setting}`, ...lines, ''].join('\n');
}

function formatValue({ value, unit }: Figure): string {
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : 3;
  return `${value.toFixed(digits)}${unit === '' ? '' : ` ${unit}`}`;
}

function formatBound({ bound }: Figure): string {
  if (bound === undefined) return '';
  const limit = bound.atMost === undefined ? `≥ ${bound.atLeast}` : `≤ ${bound.atMost}`;
  return ` (bound ${limit}, from ${bound.from})`;
}

/** The value below which `share` of `samples` lie (nearest rank); NaN of none. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
