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
}

/** What scripts/check-scenarios.ts holds the tests against. A list only grows. */
export const scenarioLists: readonly ScenarioList[] = [
  {
    document: 'rollout groups §8',
    prefix: 'scenario ',
    width: 1,
    last: 86,
    required: [[1, 82]],
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
  },
  {
    document: 'embedded cluster §24, on a real control plane',
    files: /^test\/(?:real|scenarios|differential)\//,
    prefix: 'T',
    width: 2,
    last: 60,
    // 21 and 22 need slow watches, 29 is about protobuf here; 52 for programs in Go.
    required: [
      [1, 20],
      [23, 28],
      [30, 51],
    ],
  },
  {
    document: 'admission webhooks §15',
    prefix: 'admission ',
    width: 1,
    last: 104,
    required: [[1, 104]],
  },
];
