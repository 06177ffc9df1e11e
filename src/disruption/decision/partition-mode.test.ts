/** Partition mode and the override, by the scenarios of the budget. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import {
  BudgetBed,
  budget,
  failed,
  partitionOf,
  partitions,
  request,
  textOf,
  zones,
} from '#support/budgets/budgeted-zones.ts';
import { rolloutOverride } from '../budget.ts';
import type { DisruptionSnapshot } from '../snapshot.ts';

interface Case {
  readonly limit?: number;
  readonly given?: DisruptionSnapshot;
  /** Pods that were just allowed, one after the other. */
  readonly after?: readonly string[];
  /** Who asks. @default a-0 */
  readonly asks?: string;
  readonly answer: string;
}

const zoneWithTwo = { spec: { replicas: 2 } };
/** All from the third on but the last are gone. */
const scalingDown = { 2: 'missing', 3: 'missing', 4: 'missing' } as const;
const tenPods = { spec: { replicas: 10 } };

const cases: Record<string, Case> = {
  'allows while all are ready [zpdb 80]': { answer: 'allowed' },
  'does not look at other partitions of the own zone [zpdb 81]': {
    given: zones({ a: { pods: { 1: failed } } }),
    answer: 'allowed',
  },
  'does not look at other partitions of other zones [zpdb 82]': {
    given: zones({ c: { pods: { 2: failed } } }),
    answer: 'allowed',
  },
  'refuses while a replica of the partition is disturbed [zpdb 83]': {
    given: zones({ b: { pods: { 0: failed } } }),
    answer: '1 pod not ready in partition 0',
  },
  'allows while fewer replicas than the limit are disturbed [zpdb 84]': {
    limit: 2,
    given: zones({ b: { pods: { 0: failed } } }),
    answer: 'allowed',
  },
  'adds up the disturbed replicas of all other zones [zpdb 85]': {
    limit: 2,
    given: zones({ b: { pods: { 0: failed } }, c: { pods: { 0: failed } } }),
    answer: '2 pods not ready in partition 0',
  },
  'counts a pod in every partition that a status has beyond its spec, and nobody sees [zpdb 86]': {
    given: zones({ b: { status: { replicas: 4 } } }),
    answer: '1 pod unknown in partition 0',
  },
  'counts a wanted pod that is missing in its own partition': {
    given: zones({ b: { pods: { 0: 'missing' } } }),
    answer: '1 pod unknown in partition 0',
  },
  'counts a wanted pod that is missing in no other partition': {
    given: zones({ b: { pods: { 1: 'missing' } } }),
    answer: 'allowed',
  },
  'counts a pod to be made in a scale-up in no other partition': {
    given: zones({ b: { spec: { replicas: 5 }, status: { replicas: 3 }, listed: 3 } }),
    answer: 'allowed',
  },
  'counts pods that go from beyond the slots of their set in no other partition': {
    given: zones({
      b: { spec: { replicas: 2 }, status: { replicas: 3 }, listed: 6, pods: scalingDown },
    }),
    answer: 'allowed',
  },
  'counts a peer that should exist and is not seen as unknown [zpdb 87]': {
    given: zones({ a: zoneWithTwo, c: 'none' }),
    asks: 'b-2',
    answer: '1 pod unknown in partition 2',
  },
  'says both what is not ready and what is unknown [zpdb 88]': {
    limit: 2,
    given: zones({ a: { spec: { replicas: 1 } }, b: { pods: { 2: failed } } }),
    asks: 'c-2',
    answer: '1 pod not ready, 1 pod unknown in partition 2',
  },
  'allows another partition of another zone beside one just allowed [zpdb 89]': {
    after: ['a-0'],
    asks: 'b-1',
    answer: 'allowed',
  },
  'refuses the same partition of another zone beside one just allowed [zpdb 89]': {
    after: ['a-0', 'b-1'],
    asks: 'b-0',
    answer: '1 pod not ready in partition 0',
  },
  'lets all partitions of the own zone go [zpdb 90]': {
    given: zones({ a: { pods: { 1: failed, 2: 'missing' } } }),
    answer: 'allowed',
  },
  'refuses a pod whose name has no partition [zpdb 59]': {
    given: zones({ a: tenPods, b: tenPods, c: tenPods }),
    asks: 'a-9',
    answer: 'failed to extract partition from pod Name regular expression',
  },
};

/** As if the regular expression took numbers below 9 only. */
const unmatched = (podName: string): string | undefined =>
  podName === 'ingester-zone-a-9' ? undefined : partitionOf(podName);

for (const [
  fact,
  { limit = 1, given = zones(), after = [], asks = 'a-0', answer },
] of Object.entries(cases)) {
  test(`decide() in partition mode ${fact}`, () => {
    const mode = { kind: 'partitions', partitionOf: unmatched, crossZoneDelay: millis(0) } as const;
    const bed = new BudgetBed(budget({ limit, mode }), given);
    for (const slot of after) assert.equal(bed.ask(slot), 'allowed');
    assert.equal(bed.ask(asks), answer);
  });
}

test('decide() in partition mode takes the partition from whatever group of the name the budget says [zpdb 91]', () => {
  const secondGroup = (podName: string): string | undefined =>
    /^(ingester|distributor)-zone-[a-z]-([0-9]+)$/.exec(podName)?.[2];
  const mode = { kind: 'partitions', partitionOf: secondGroup, crossZoneDelay: millis(0) } as const;
  const bed = new BudgetBed(budget({ mode }), zones({ b: { status: { replicas: 4 } } }));
  assert.equal(bed.ask('a-0'), '1 pod unknown in partition 0');
});

test('decide() in partition mode counts a missing pod whose name has no partition in all of them', () => {
  const mode = {
    kind: 'partitions',
    partitionOf: (name: string) => (name === 'ingester-zone-b-2' ? undefined : partitionOf(name)),
    crossZoneDelay: millis(0),
  } as const;
  const missing = zones({ b: { pods: { 2: 'missing' } } });
  assert.equal(new BudgetBed(budget({ mode }), missing).ask('a-0'), '1 pod unknown in partition 0');
  const unready = zones({ b: { pods: { 2: failed } } });
  assert.equal(new BudgetBed(budget({ mode }), unready).ask('a-0'), 'allowed');
});

const rollout = { asking: { by: 'rollout', term: 'term-1' } } as const;

test('decide() takes the override where the limit is 0, and gives the pod away [zpdb 111]', () => {
  const bed = new BudgetBed(budget({ limit: 0 }));
  assert.equal(bed.ask('a-0', { ...rollout, override: 1 }), 'allowed');
  assert.deepEqual(bed.reserved(), ['ingester-zone-a-0']);
});

test('decide() refuses a rollout at 0 without an override [zpdb 112]', () => {
  assert.equal(new BudgetBed(budget({ limit: 0 })).ask('a-0', rollout), 'max unavailable = 0');
});

test('decide() refuses at 0 where the override is 0, too', () => {
  const bed = new BudgetBed(budget({ limit: 0 }));
  assert.equal(bed.ask('a-0', { ...rollout, override: 0 }), 'max unavailable = 0');
});

test('decide() passes over an override of 0 where the limit is not [zpdb 113]', () => {
  assert.equal(new BudgetBed().ask('a-0', { ...rollout, override: 0 }), 'allowed');
});

test('decide() passes over a greater override where the limit is not 0 [zpdb 114]', () => {
  const bed = new BudgetBed();
  assert.equal(bed.ask('a-0'), 'allowed');
  assert.equal(bed.ask('b-0', { ...rollout, override: 2 }), '1 pod not ready in ingester-zone-a');
  assert.equal(bed.ask('a-1', { ...rollout, override: 2 }), '1 pod not ready in ingester-zone-a');
});

test('rolloutOverride() is 1 where partitions are protected, whatever the rollout may [zpdb 115]', () => {
  assert.equal(rolloutOverride(partitions(), 5), 1);
  assert.equal(rolloutOverride({ kind: 'zones-of-sets' }, 5), 5);
});

test('decide() lets scale-downs take several slots of a zone at once, and of no other (D-17)', () => {
  const scaleDown = { asking: { by: 'scale-down', term: 'term-1' } } as const;
  const bed = new BudgetBed();
  const { answers } = bed.decide({
    requests: ['a-2', 'a-1', 'b-2'].map((slot) => request(slot, scaleDown)),
  });
  assert.deepEqual(answers.map(textOf), [
    'allowed',
    'allowed',
    '2 pods not ready in ingester-zone-a',
  ]);
});

test('decide() lets the last zone scale a partition down that the others have given up', () => {
  const bed = new BudgetBed(
    budget({ mode: partitions() }),
    zones({ a: zoneWithTwo, c: zoneWithTwo }),
  );
  assert.equal(bed.ask('b-2'), '2 pods unknown in partition 2');
  assert.equal(bed.ask('b-2', { asking: { by: 'scale-down', term: 'term-1' } }), 'allowed');
});

test('standingOf() looks at each slot once, and decide() at none again, however many ask at one moment', () => {
  let calls = 0;
  const counted = (name: string): string | undefined => {
    calls += 1;
    return partitionOf(name);
  };
  const mode = { kind: 'partitions', partitionOf: counted, crossZoneDelay: millis(0) } as const;
  const many = { spec: { replicas: 200 } };
  const bed = new BudgetBed(budget({ mode }), zones({ a: many, b: many, c: many }));
  const requests = Array.from({ length: 200 }, (_, ordinal) => request(`a-${ordinal}`));
  const { answers } = bed.decide({ requests: [...requests, ...requests] });
  assert.ok(answers.every(({ kind }) => kind === 'allowed'));
  assert.equal(calls, 600);
});
