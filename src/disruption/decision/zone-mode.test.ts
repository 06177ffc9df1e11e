/** Zone mode, by the scenarios of the budget. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BudgetBed,
  budget,
  failed,
  request,
  textOf,
  zones,
} from '#support/budgets/budgeted-zones.ts';
import { unready } from '#support/objects/views.ts';
import type { Limit } from '../budget.ts';
import type { DisruptionSnapshot } from '../snapshot.ts';

interface Case {
  readonly limit?: number | Limit;
  readonly given?: DisruptionSnapshot;
  /** Pods that were just allowed, one after the other. */
  readonly after?: readonly string[];
  /** Who asks. @default a-0 */
  readonly asks?: string;
  readonly answer: string;
}

const percent = (value: number): Limit => ({ kind: 'percent-of-own-set', percent: value });

const cases: Record<string, Case> = {
  'refuses all at max unavailable 0 [zpdb 54]': { limit: 0, answer: 'max unavailable = 0' },
  'refuses all at 0 per cent [zpdb 55]': { limit: percent(0), answer: 'max unavailable = 0' },
  'refuses all while the own set counts no replicas, whatever the percentage [zpdb 56]': {
    limit: percent(50),
    given: zones({ a: { status: { replicas: 0 } } }),
    answer: 'max unavailable = 0',
  },
  'refuses where one set alone is selected [zpdb 57]': {
    given: zones({ b: 'none', c: 'none' }),
    answer: 'minimum number of StatefulSets not found',
  },
  'refuses where no set is selected': {
    given: zones({ a: 'none', b: 'none', c: 'none' }),
    answer: 'minimum number of StatefulSets not found',
  },
  'refuses where sets cannot be read [zpdb 58]': {
    given: { sets: undefined, leaving: new Set() },
    answer: 'minimum number of StatefulSets not found',
  },
  'refuses where sets cannot be read to take a percentage of': {
    limit: { kind: 'percent-of-all-sets', percent: 50 },
    given: { sets: undefined, leaving: new Set() },
    answer: 'minimum number of StatefulSets not found',
  },
  'refuses where the pods of another zone cannot be read [zpdb 60]': {
    given: zones({ b: { arePodsUnreadable: true } }),
    answer: 'unable to determine pod status in related StatefulSet',
  },
  'refuses where a set is too large to be looked at (D-56)': {
    given: zones({ b: { spec: { replicas: 20_001 }, listed: 3 } }),
    answer: 'unable to determine pod status in related StatefulSet',
  },
  'allows while all are ready [zpdb 62]': { answer: 'allowed' },
  'counts a failed pod of the own zone [zpdb 63]': {
    given: zones({ a: { pods: { 2: failed } } }),
    answer: '1 pod not ready in ingester-zone-a',
  },
  'allows one more than is disturbed in the own zone [zpdb 64]': {
    limit: 2,
    given: zones({ a: { pods: { 2: failed } } }),
    answer: 'allowed',
  },
  'refuses while another zone is disturbed [zpdb 65]': {
    given: zones({ c: { pods: { 2: failed } } }),
    answer: '1 pod not ready in ingester-zone-c',
  },
  'tolerates nothing in another zone, whatever the limit [zpdb 66]': {
    limit: 2,
    given: zones({ a: { pods: { 2: failed } }, c: { pods: { 2: failed } } }),
    answer: '1 pod not ready in ingester-zone-c',
  },
  'counts a pod that the status has, and nobody sees, as unknown [zpdb 67]': {
    given: zones({ b: { status: { replicas: 4 } } }),
    answer: '1 pod unknown in ingester-zone-b',
  },
  'counts pods that are wanted, and not there, as unknown [zpdb 68]': {
    given: zones({ b: { spec: { replicas: 5 }, status: { replicas: 3 }, listed: 3 } }),
    answer: '2 pods unknown in ingester-zone-b',
  },
  'counts a missing pod of the own zone as unknown [zpdb 69]': {
    given: zones({ a: { pods: { 2: 'missing' } } }),
    answer: '1 pod unknown in ingester-zone-a',
  },
  'counts a pod as disturbed that was just allowed, and still looks ready [zpdb 70]': {
    after: ['a-0'],
    asks: 'b-0',
    answer: '1 pod not ready in ingester-zone-a',
  },
  'allows again what it has just allowed [zpdb 71]': {
    after: ['a-0'],
    asks: 'a-0',
    answer: 'allowed',
  },
  'allows as many of a zone as the limit says [zpdb 72]': {
    limit: 2,
    after: ['a-0'],
    asks: 'a-1',
    answer: 'allowed',
  },
  'refuses what would be one more than the limit [zpdb 72]': {
    limit: 2,
    after: ['a-0', 'a-1'],
    asks: 'a-2',
    answer: '2 pods not ready in ingester-zone-a',
  },
  'lets a whole zone go at 100 per cent [zpdb 73]': {
    limit: percent(100),
    after: ['a-0', 'a-1'],
    asks: 'a-2',
    answer: 'allowed',
  },
  'rounds a percentage down': {
    limit: percent(75),
    after: ['a-0', 'a-1'],
    asks: 'a-2',
    answer: '2 pods not ready in ingester-zone-a',
  },
  'takes 1 pod where a percentage comes to less': { limit: percent(1), answer: 'allowed' },
  'names the first of the zones that are disturbed [zpdb 74]': {
    given: zones({ b: { pods: { 1: failed } }, c: { pods: { 0: failed } } }),
    answer: '1 pod not ready in ingester-zone-b',
  },
  'refuses where the own set is not selected [zpdb 75]': {
    given: zones({ a: 'none' }),
    answer: 'the StatefulSet that owns the pod is not selected',
  },
  'counts a pod whose container is not ready [zpdb 76]': {
    given: zones({ b: { pods: { 1: { areContainersReady: false } } } }),
    answer: '1 pod not ready in ingester-zone-b',
  },
  'counts a pod that is terminating [zpdb 77]': {
    given: zones({ b: { pods: { 1: { isTerminating: true } } } }),
    answer: '1 pod not ready in ingester-zone-b',
  },
  'counts a pod whose readiness gate is closed, though its containers are ready': {
    given: zones({ b: { pods: { 1: { readySince: undefined, unready: unready() } } } }),
    answer: '1 pod not ready in ingester-zone-b',
  },
  'counts a pod whose deletion was sent and is not seen yet (D-7)': {
    given: { ...zones(), leaving: new Set(['ingester-zone-b-1-uid']) },
    answer: '1 pod not ready in ingester-zone-b',
  },
  'takes for unknown what another owner controls, whatever its name': {
    given: zones({ b: { pods: { 1: { controllerUid: 'another-uid' } } } }),
    answer: '1 pod unknown in ingester-zone-b',
  },
  'needs no label of a pod, as the owner tells whose it is': {
    given: zones({ b: { spec: { templateLabels: {} } } }),
    answer: 'allowed',
  },
  'takes slots that are about to go in a scale-down for disturbed (D-17)': {
    given: zones({ b: { spec: { replicas: 2 }, status: { replicas: 3 }, listed: 3 } }),
    answer: '1 pod not ready in ingester-zone-b',
  },
  'counts a pod that goes from beyond the slots of its set': {
    given: zones({
      b: {
        spec: { replicas: 2 },
        status: { replicas: 3 },
        listed: 6,
        pods: { 2: 'missing', 3: 'missing', 4: 'missing' },
      },
    }),
    answer: '1 pod not ready, 1 pod unknown in ingester-zone-b',
  },
  'does not count the candidate itself, ready or not': {
    given: zones({ a: { pods: { 0: { areContainersReady: false } } } }),
    answer: 'allowed',
  },
  'refuses a pod whose place another one has taken': {
    given: zones({ a: { pods: { 0: { uid: 'newer-uid' } } } }),
    answer: 'the pod is not among those that are seen',
  },
};

for (const [
  fact,
  { limit = 1, given = zones(), after = [], asks = 'a-0', answer },
] of Object.entries(cases)) {
  test(`decide() in zone mode ${fact}`, () => {
    const bed = new BudgetBed(budget({ limit }), given);
    for (const slot of after) assert.equal(bed.ask(slot), 'allowed');
    assert.equal(bed.ask(asks), answer);
  });
}

test('decide() answers of two requests of one moment in two zones exactly one with yes [zpdb 78]', () => {
  const { answers } = new BudgetBed().decide({ requests: [request('a-0'), request('b-0')] });
  assert.deepEqual(answers.map(textOf), ['allowed', '1 pod not ready in ingester-zone-a']);
});

test('decide() keeps what one budget gives away out of the ledger of another [zpdb 79]', () => {
  const [one, other] = [new BudgetBed(), new BudgetBed()];
  assert.equal(one.ask('a-0'), 'allowed');
  assert.equal(other.ask('b-0'), 'allowed');
});
