import { type GivenOptions, numberOption, parseArguments } from './arguments.ts';
import type { PhasedDemoOptions } from './phased-rollout/phased-demo.ts';
import type { PercentDemoOptions } from './statefulset-rollout/percent-demo.ts';
import type { ExponentialDemoOptions } from './zone-aware-update/exponential-demo.ts';

/** What is simulated. */
export type Scenario =
  | 'rollout'
  | 'broken-image'
  | 'hiccup'
  | 'hand-over'
  | 'delayed-downscale'
  | 'no-downscale'
  | 'drain';

const scenarios: readonly Scenario[] = [
  'rollout',
  'broken-image',
  'hiccup',
  'hand-over',
  'delayed-downscale',
  'no-downscale',
  'drain',
];

/** What a person asks of the demo. */
export interface DemoOptions {
  readonly scenario: Scenario;
  /** End when the scenario has ended, instead of waiting for a key. */
  readonly isOnce: boolean;
  /** Divides all delays. @default 1 */
  readonly speed: number;
  /** Pods of each zone; undefined: as the manifests say. */
  readonly pods: number | undefined;
  /** Pods of one zone that may be unavailable at once; undefined: as the manifests say. */
  readonly maxUnavailable: number | undefined;
}

/** Plays that are shown in lines, on a terminal, too. */
export type LinesDemoOptions = PhasedDemoOptions | ExponentialDemoOptions | PercentDemoOptions;

/** The options, or what to print instead of starting, and the exit code. */
export type DemoArguments =
  | { readonly kind: 'run'; readonly options: DemoOptions | LinesDemoOptions }
  | { readonly kind: 'exit'; readonly code: number; readonly text: string };

/** What `--help` prints. */
const demoHelp = `Usage: npm start -- [options]

Starts a Kubernetes cluster in this process, installs the three zones of examples/ingester/, then the operator
beside them, changes the pod template and shows how the zones roll: one after the other, never two at once.

  --once                 end by itself: exit 0 when the rollout is done, 1 with the reason when not
                         (so it is anyway when the output is no terminal)
  --scenario NAME        rollout (default);
                         broken-image: an image that cannot be pulled, and the recovery;
                         hiccup: all readiness probes fail for some seconds in the middle of the
                         rollout, and nothing is deleted for that;
                         hand-over: two replicas of the operator; the leader is stopped in the middle of
                         the rollout, and the next one is killed later: who goes on, and when;
                         delayed-downscale: an autoscaler takes pods away from the three zones of
                         examples/ingester-delayed-downscale/, zone by zone, and each pod is asked first;
                         no-downscale: kubectl scales the zones of examples/ingester-webhooks/ down, and
                         the webhooks of the operator refuse, or prepare the pods that go;
                         drain: three drainers empty nodes in the middle of a rollout of
                         examples/ingester-disruption-budget/: who waits for whom, and until when;
                         phased: the set of examples/phased-rollout/ goes pod by pod, each only while a
                         query finds what it should; Prometheus is a real one where it is installed;
                         exponential: the set of examples/zone-aware-update/ goes zone by zone in ever
                         larger steps, and an alarm of CloudWatch, a stand-in, goes to ALARM in the middle;
                         percent: a version of examples/statefulset-rollout/ breaks at 50 percent and is
                         taken back, the next one goes from 1 to 50 and 100; Slack, a stand-in, shows it
  --speed N              divide all delays by N, from 0.1 to 100 (default 1)
  --pods N               pods of each zone, from 1 to 500 (default 6, 3 in drain and phased,
                         12 in exponential and, of the one set, in percent); at least 2 where some of
                         them go, 3 in percent
  --max-unavailable N    pods of one zone that may be unavailable at once, from 1 to 500 (default 2,
                         8 in exponential); not where zones are scaled, which replaces no pod
  --help                 this text
`;

const optionTable = {
  once: 'flag',
  scenario: 'value',
  speed: 'value',
  pods: 'value',
  'max-unavailable': 'value',
  help: 'flag',
} as const;

/** Parses the arguments of `npm start --`. */
export function parseDemoArguments(args: readonly string[]): DemoArguments {
  const parsed = parseArguments(args, optionTable);
  if (parsed.kind === 'invalid') return refused(parsed.sentence);
  const { options } = parsed;
  if (options.has('help')) return { kind: 'exit', code: 0, text: demoHelp };
  const scenario = options.get('scenario') ?? 'rollout';
  if (scenario === 'phased') return phased(options);
  if (scenario === 'exponential') return exponential(options);
  if (scenario === 'percent') return percent(options);
  const known = scenarios.find((name) => name === scenario);
  if (known === undefined) {
    const wanted =
      'rollout, broken-image, hiccup, hand-over, delayed-downscale, no-downscale, drain, phased, exponential or percent';
    return refused(`--scenario must be ${wanted}: got "${scenario}"`);
  }
  if (isScaling(known) && options.has('max-unavailable')) {
    return refused(
      `--max-unavailable and --scenario ${known} exclude each other: it replaces no pod`,
    );
  }
  return withNumbers(options, known);
}

function phased(options: GivenOptions): DemoArguments {
  if (options.has('max-unavailable')) {
    return refused(
      '--max-unavailable and --scenario phased exclude each other: pods go one at a time',
    );
  }
  const numbers = withNumbers(options, 'rollout');
  if (numbers.kind === 'exit') return numbers;
  const { speed, pods } = numbers.options;
  return { kind: 'run', options: { scenario: 'phased', speed, pods } };
}

function exponential(options: GivenOptions): DemoArguments {
  const numbers = withNumbers(options, 'rollout');
  if (numbers.kind === 'exit') return numbers;
  const { speed, pods, maxUnavailable } = numbers.options;
  return { kind: 'run', options: { scenario: 'exponential', speed, pods, maxUnavailable } };
}

/** One pod goes at 1 percent, another one at 50, and one stays. */
function percent(options: GivenOptions): DemoArguments {
  const numbers = withNumbers(options, 'rollout', 3);
  if (numbers.kind === 'exit') return numbers;
  const { speed, pods, maxUnavailable } = numbers.options;
  return { kind: 'run', options: { scenario: 'percent', speed, pods, maxUnavailable } };
}

/** Reports whether zones are scaled rather than rolled. */
function isScaling(scenario: Scenario): boolean {
  return scenario === 'delayed-downscale' || scenario === 'no-downscale';
}

type WithNumbers =
  | { readonly kind: 'run'; readonly options: DemoOptions }
  | Extract<DemoArguments, { readonly kind: 'exit' }>;

/** @param fewest pods: where zones are scaled, one stays, and one goes */
function withNumbers(
  options: GivenOptions,
  scenario: Scenario,
  fewest: number = isScaling(scenario) ? 2 : 1,
): WithNumbers {
  const speed = numberOption(options, 'speed', { min: 0.1, max: 100, isInteger: false });
  if (typeof speed === 'string') return refused(speed);
  const pods = numberOption(options, 'pods', { min: fewest, max: 500, isInteger: true });
  if (typeof pods === 'string') return refused(pods);
  const limit = { min: 1, max: 500, isInteger: true };
  const maxUnavailable = numberOption(options, 'max-unavailable', limit);
  if (typeof maxUnavailable === 'string') return refused(maxUnavailable);
  const isOnce = options.has('once');
  return { kind: 'run', options: { scenario, isOnce, speed: speed ?? 1, pods, maxUnavailable } };
}

function refused(sentence: string): Extract<DemoArguments, { readonly kind: 'exit' }> {
  return { kind: 'exit', code: 2, text: `${sentence}\n` };
}
