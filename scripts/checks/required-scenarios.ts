/** One list of scenarios of a specification, and which of them must have a test. */
export interface ScenarioList {
  /** Where the scenarios are written down. */
  readonly document: string;
  /** Which files' claims count. @default all */
  readonly files?: RegExp;
  /** What is before the number in a test's title: `[scenario 7]`, `[cluster 5]`. */
  readonly prefix: string;
  /** Digits that a number is filled up to. @default 1 */
  readonly width?: number;
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
  'a manager made with kubebuilder runs, and rolls a three-zone group, on both clusters in the real lane, which builds it (test/real/rollout-group/minutes.ts), but is skipped where the binaries are given without it; the program of the peer is no module that the Go proxy serves, so that this Go operator in its manner stands in, which writes JSON as client-go does by itself (a StatefulSet in protobuf is 415 on the embedded cluster, cluster 29)';

const UNTIMED =
  'faults are injected, and time is compressed, on the embedded cluster alone (lane E)';

/** What scripts/checks/check-scenarios.ts holds the tests against. A list only grows. */
export const scenarioLists: readonly ScenarioList[] = [
  {
    document: 'rollout groups',
    prefix: 'scenario ',
    last: 86,
    required: [[1, 86]],
  },
  {
    document: 'embedded cluster, on the embedded cluster',
    files: /^(?:src|cluster|test\/(?:integration|simulation|scenarios))\//,
    prefix: 'cluster ',
    last: 60,
    required: [
      [1, 50],
      [53, 59],
    ],
    open: {
      51: 'there is no engine for CEL here: rules are stored with a warning, and tried on a real control plane',
      52: GO_PROGRAMS,
      60: 'figures, not facts: `npm run do bench` measures PF-1 and holds it against its limits',
    },
    parts: {
      2: 'kubectl itself runs where it is installed, and always in the real lane, which builds it',
      29: 'step 2 is decoded for the kinds of CL-13; Deployments, Services and others in protobuf are 415 with a hint',
    },
  },
  {
    document: 'embedded cluster, on a real control plane',
    files: /^test\/(?:real|scenarios|differential)\//,
    prefix: 'cluster ',
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
    document: 'admission webhooks',
    prefix: 'admission ',
    last: 104,
    required: [[1, 104]],
  },
  {
    document: 'zone-aware budgets',
    prefix: 'zpdb ',
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
    document: 'phased rollouts',
    prefix: 'phased ',
    last: 74,
    required: [[1, 74]],
  },
  {
    document: 'zone-aware controllers',
    prefix: 'zau ',
    last: 98,
    required: [[1, 77], [79, 96], 98],
    open: {
      78: 'what is given away is in the ledger, not in the status: its room is counted in bytes, and the tests of the ledger show its end',
      97: 'a rollout and evictions under the Roles of the peer run on a real control plane (test/real/custom-resources/zone-aware-controllers.test.ts), which is skipped where there are no binaries',
    },
  },
  {
    document: 'StatefulsetRollouts',
    // What runs nowhere but beside a real control plane, or a real Consul, claims them, too, and may be skipped.
    files: /^(?:src\/(?!check\/consul\/consul-contract)|test\/integration\/)/,
    prefix: 'T-',
    width: 2,
    last: 102,
    required: [
      [1, 3],
      [5, 102],
    ],
    open: {
      4: 'a rule of CEL, tried on a real control plane (test/real/custom-resources/statefulset-rollout-definition.test.ts), which is skipped where there are no binaries',
    },
    parts: {
      39: 'not ready is not lost: a stale pod goes first that is stuck, not every one that is not ready (D-48)',
      44: 'pods and sets are watched as well, so that passes follow any change: at least one follows, and it has the newest spec (D-62)',
      45: 'there is no sweep for leaks, as pods are watched: what a partial rollout loses is reported at once',
      46: 'a pass may look, as its own status comes by the same watch; it writes and sends nothing',
      56: 'broken pods that are taken back at once are those that are stuck (D-48)',
    },
  },
];
