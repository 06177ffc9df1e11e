/** One list of scenarios of a specification, and which of them must have a test. */
export interface ScenarioList {
  /** Where the scenarios are written down. */
  readonly document: string;
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
    required: [
      [1, 40],
      [73, 82],
    ],
  },
  {
    document: 'embedded cluster §24',
    prefix: 'T',
    width: 2,
    last: 60,
    required: [
      [1, 50],
      [53, 59],
    ],
  },
  {
    document: 'admission webhooks §15',
    prefix: 'admission ',
    width: 1,
    last: 104,
    required: [
      [1, 82],
      [99, 104],
    ],
  },
];
