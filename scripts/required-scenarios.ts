/** One list of scenarios of a specification, and which of them must have a test. */
export interface ScenarioList {
  /** Where the scenarios are written down. */
  readonly document: string;
  /** Which files' claims count. @default all */
  readonly files?: RegExp;
  /** What stands before the number in a test's title: `[scenario 7]`, `[T05]`. */
  readonly prefix: string;
  /** Digits that a number is filled up to. */
  readonly width: number;
  /** The last scenario that the document has. */
  readonly last: number;
  /** Scenarios that must have a test: numbers, and ranges with both ends in. */
  readonly required: readonly (number | readonly [number, number])[];
  /** Why all others need none here, by number. Every scenario is either here or required. */
  readonly open?: Readonly<Record<number, string>>;
  /** What of a required scenario no test shows, and why. */
  readonly parts?: Readonly<Record<number, string>>;
}

const GO_PROGRAMS =
  'a manager made with kubebuilder runs, and rolls a three-zone group, on both clusters in the real lane, which builds it (test/real/minutes.ts), but is skipped where the binaries are given without it; the program of the peer is no module that the Go proxy serves, so that this Go operator in its manner stands in, which writes JSON as client-go does by itself (a StatefulSet in protobuf is 415 on the embedded cluster, T29)';

const UNTIMED =
  'faults are injected, and time is compressed, on the embedded cluster alone (lane E)';

const UNPHASED =
  'the controller of PhasedRollouts is not built yet: nothing carries the plans of src/phased-rollout/plan.ts out';
const ENGINE_ONLY =
  'what is asked, what counts and when to ask again, of src/check/; no status, Event or partition is written yet (the controller of PhasedRollouts is not built)';
const PLANNER_ONLY =
  'what the planner decides, played over a model of the set; no controller reads a cluster or writes to one yet';

/** Scenarios of phased rollouts of which the check itself is shown. */
const checkOnly = [5, 6, 22, 23, 31, 32, 35, 36, 37, 38, 39, 40, 43, 47, 48, 49, 62, 74];
/** Scenarios of phased rollouts that are about the check, or the schema, alone. */
const checkWhole = [3, 41, 42, 44, 45, 46, 50, 51];

/** Scenarios of phased rollouts that are about the webhooks, and the program that serves them, alone. */
const webhooksWhole = [1, 2, 4, 7, 8];
const phasedWhole = [...checkWhole, ...webhooksWhole];
/** Scenarios of phased rollouts of which what is decided is shown. */
const plannerOnly = [
  9, 10, 11, 12, 13, 14, 16, 17, 19, 20, 21, 24, 25, 26, 27, 28, 29, 30, 33, 34,
].concat([52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 63, 64, 65, 66, 67, 68, 69, 70, 71]);
const phasedShown = [...checkOnly, ...phasedWhole, ...plannerOnly];

/** What scripts/check-scenarios.ts holds the tests against. A list only grows. */
export const scenarioLists: readonly ScenarioList[] = [
  {
    document: 'rollout groups §8',
    prefix: 'scenario ',
    width: 1,
    last: 86,
    required: [[1, 86]],
  },
  {
    document: 'embedded cluster §24, on the embedded cluster',
    files: /^(?:src|test\/(?:integration|simulation|scenarios))\//,
    prefix: 'T',
    width: 2,
    last: 60,
    required: [
      [1, 50],
      [53, 59],
    ],
    open: {
      51: 'there is no engine for CEL here: rules are stored with a warning, and tried on a real control plane',
      52: GO_PROGRAMS,
      60: 'figures, not facts: `npm run bench` measures PF-1 and holds it against its limits',
    },
    parts: {
      2: 'kubectl itself runs where it is installed, and always in the real lane, which builds it',
      29: 'step 2 is decoded for the kinds of CL-13; Deployments, Services and others in protobuf are 415 with a hint',
    },
  },
  {
    document: 'embedded cluster §24, on a real control plane',
    files: /^test\/(?:real|scenarios|differential)\//,
    prefix: 'T',
    width: 2,
    last: 60,
    required: [
      [1, 20],
      [23, 28],
      [30, 51],
    ],
    open: {
      21: UNTIMED,
      22: UNTIMED,
      29: 'asks what the embedded server does with protobuf (lane W); the real one decodes every kind',
      52: GO_PROGRAMS,
      53: UNTIMED,
      54: UNTIMED,
      55: UNTIMED,
      56: UNTIMED,
      57: UNTIMED,
      58: UNTIMED,
      59: UNTIMED,
      60: 'figures of the embedded server (lane W)',
    },
  },
  {
    document: 'admission webhooks §15',
    prefix: 'admission ',
    width: 1,
    last: 104,
    required: [[1, 104]],
  },
  {
    document: 'zone-aware budgets §15',
    prefix: 'zpdb ',
    width: 1,
    last: 118,
    required: [
      [1, 97],
      [104, 118],
    ],
    open: Object.fromEntries(
      [98, 99, 100, 101, 102, 103].map((each) => [
        each,
        'no annotation is written to pods: the Ready condition tells since when they are ready',
      ]),
    ),
  },
  {
    document: 'phased rollouts §7',
    prefix: 'phased ',
    width: 1,
    last: 74,
    required: phasedShown,
    open: Object.fromEntries(
      Array.from({ length: 74 }, (_, index) => index + 1)
        .filter((each) => !phasedShown.includes(each))
        .map((each) => [each, UNPHASED]),
    ),
    parts: Object.fromEntries([
      ...checkOnly.map((each) => [each, ENGINE_ONLY] as const),
      ...plannerOnly.map((each) => [each, PLANNER_ONLY] as const),
    ]),
  },
];
