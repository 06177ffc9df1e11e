/** The eviction webhook, by the scenarios of the budget; the budgets are parsed and judged as they are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import type { DisruptionSnapshot } from '#disruption/snapshot.ts';
import { EvictionBed, noSuchPod } from '#support/admission/eviction-bed.ts';
import { failed, zones } from '#support/budgets/budgeted-zones.ts';
import { podView } from '#support/objects/views.ts';
import type { AdmissionRequest, ReviewDecision } from '../review/review.ts';

const name = 'ingester-zone-a-0';
const byBudget = '(ZoneAwarePodDisruptionBudget ingester)';
const severalText = 'multiple zoned pod disruption budgets found for pod';
const partitioned = { podNamePartitionRegex: '[a-z\\-]+-zone-[a-z]-([0-9]+)' };

interface Case {
  readonly given?: DisruptionSnapshot;
  /** Specs of the budgets `ingester`, `second`, …: all select every pod of the group. @default one of max 1 */
  readonly budgets?: readonly JsonObject[];
  /** Changes the bed once all else is there. */
  readonly with?: (bed: EvictionBed) => void;
  /** Pods that were just allowed, one after the other. */
  readonly after?: readonly string[];
  readonly asked?: Partial<AdmissionRequest>;
  /** `allowed`, `warned`, or code, reason of the cause and message of the denial. */
  readonly says: 'allowed' | 'warned' | readonly [code: number, cause: string, message: string];
  readonly counts: string;
  /** Requests to the API server. @default none */
  readonly calls?: number;
  /** Pods that are given away then. @default none, and that of the eviction where it is counted as allowed */
  readonly reserved?: readonly string[];
}

function ofPod(override: Parameters<typeof podView>[0]): (bed: EvictionBed) => void {
  return ({ budgets }) => budgets.add(podView({ name, ...override }));
}

function stored(status: JsonObject, metadata: JsonObject = {}): (bed: EvictionBed) => void {
  return (bed) => {
    const all = { name, namespace: 'test', uid: 'u', resourceVersion: '1', ...metadata };
    bed.answer = () => ({ body: { metadata: all, status } });
  };
}

const notSeenYet = [
  429,
  'PodNotSeen',
  `eviction of pod test/${name} is not allowed: the pod, as it is now, has not been seen by this operator yet`,
] as const;

const cases: Readonly<Record<string, Case>> = {
  'denies another operation than CREATE [zpdb 43]': {
    asked: { operation: 'DELETE' },
    says: [400, 'InvalidRequest', 'request operation is not create, got: DELETE'],
    counts: 'invalid-request 400',
  },
  'denies another subresource than eviction [zpdb 44]': {
    asked: { subResource: 'foo' },
    says: [400, 'InvalidRequest', 'request SubResource is not eviction, got: foo'],
    counts: 'invalid-request 400',
  },
  'denies a request without a name [zpdb 45]': {
    asked: { name: '' },
    says: [400, 'InvalidRequest', 'request did not include both a namespace and a name'],
    counts: 'invalid-request 400',
  },
  'denies a request without a namespace [zpdb 45]': {
    asked: { namespace: '' },
    says: [400, 'InvalidRequest', 'request did not include both a namespace and a name'],
    counts: 'invalid-request 400',
  },
  'lets the API server say that there is no such pod [zpdb 46]': {
    asked: { name: 'gone-0' },
    says: 'allowed',
    counts: 'pod-not-found 200',
    calls: 1,
  },
  'denies a pod that exists and has not been seen yet [zpdb 46]': {
    asked: { name: 'new-0' },
    with: stored({ phase: 'Running' }),
    says: [
      429,
      'PodNotSeen',
      'eviction of pod test/new-0 is not allowed: the pod, as it is now, has not been seen by this operator yet',
    ],
    counts: 'pod-not-found 429',
    calls: 1,
  },
  'allows a pod of a namespace without budgets that has not been seen yet, unread': {
    asked: { name: 'new-0' },
    with: ({ budgets }) => void budgets.ungoverned.add('test'),
    says: 'allowed',
    counts: 'pod-not-in-scope 200',
  },
  ...Object.fromEntries(
    (['Succeeded', 'Failed', 'Pending'] as const).map((phase): [string, Case] => [
      `allows a pod in phase ${phase} with a warning, and records nothing [zpdb 47]`,
      {
        given: zones({ a: { pods: { 0: { phase, readySince: undefined } } } }),
        with: stored({ phase }),
        says: 'warned',
        counts: 'pod-not-ready 200',
        calls: 1,
        reserved: [],
      },
    ]),
  ),
  'allows a terminating pod with a warning, and records nothing [zpdb 47]': {
    given: zones({ a: { pods: { 0: { isTerminating: true } } } }),
    with: stored({ phase: 'Running' }, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    says: 'warned',
    counts: 'pod-not-ready 200',
    calls: 1,
    reserved: [],
  },
  'denies a pod that serves, though the cache still has its failed predecessor [zpdb 47]': {
    given: zones({ a: { pods: { 0: failed } } }),
    with: stored({ phase: 'Running' }),
    says: notSeenYet,
    counts: 'pod-not-found 429',
    calls: 1,
  },
  'allows a failed pod that is gone by now [zpdb 47]': {
    given: zones({ a: { pods: { 0: failed } } }),
    with: (bed) => {
      bed.answer = () => noSuchPod;
    },
    says: 'allowed',
    counts: 'pod-not-found 200',
    calls: 1,
    reserved: [],
  },
  'allows a failed pod of a namespace without budgets with a warning, unread [zpdb 47]': {
    given: zones({ a: { pods: { 0: failed } } }),
    with: ({ budgets }) => void budgets.ungoverned.add('test'),
    says: 'warned',
    counts: 'pod-not-ready 200',
  },
  'allows a pod that no budget selects [zpdb 48]': {
    with: ofPod({ labels: { 'rollout-group': 'other' } }),
    says: 'allowed',
    counts: 'pod-not-in-scope 200',
    reserved: [],
  },
  'allows a pod that no budget selects, unlike its set, once it is read [zpdb 48]': {
    with: (bed) => {
      bed.budgets.script = () => Promise.resolve({ kind: 'not-governed', isSetGoverned: true });
      stored({ phase: 'Running' })(bed);
    },
    says: 'allowed',
    counts: 'pod-not-in-scope 200',
    calls: 1,
    reserved: [],
  },
  'denies a pod that a budget selects by now, and did not when it was seen last': {
    with: (bed) => {
      bed.budgets.script = () => Promise.resolve({ kind: 'not-governed', isSetGoverned: true });
      stored({ phase: 'Running' }, { labels: { 'rollout-group': 'ingester' } })(bed);
    },
    says: notSeenYet,
    counts: 'pod-not-found 429',
    calls: 1,
    reserved: [],
  },
  'denies a governed pod without an owner for good [zpdb 49]': {
    with: ofPod({ controllerUid: undefined }),
    says: [403, 'NoStatefulSet', `unable to find a StatefulSet pod owner ${byBudget}`],
    counts: 'sts-no-found 403',
  },
  'denies a governed pod of a ReplicaSet for good [zpdb 50]': {
    with: (bed) => {
      bed.budgets.owners.set('owner-uid', 'ReplicaSet web');
      ofPod({ controllerUid: 'owner-uid' })(bed);
    },
    says: [
      403,
      'NoStatefulSet',
      `pod owner is not a StatefulSet - ${name} has owner web (ReplicaSet) ${byBudget}`,
    ],
    counts: 'sts-no-found 403',
  },
  'denies for now while the set of the pod is not seen [zpdb 51]': {
    with: ofPod({ controllerUid: 'gone-uid' }),
    says: [
      429,
      'NotDetermined',
      `eviction of pod test/${name} is not allowed yet: the StatefulSet that controls the pod has not been seen yet ${byBudget}`,
    ],
    counts: 'not-determined 429',
  },
  'denies a pod of two budgets, and names them [zpdb 52]': {
    budgets: [{}, {}],
    says: [400, 'BudgetUnclear', `${severalText} (ingester, second)`],
    counts: 'cfg-not-found 400',
  },
  'allows a Pending pod of two budgets with a warning [zpdb 53]': {
    budgets: [{}, {}],
    given: zones({ a: { pods: { 0: { phase: 'Pending', readySince: undefined } } } }),
    with: stored({ phase: 'Pending' }),
    says: 'warned',
    counts: 'pod-not-ready 200',
    calls: 1,
    reserved: [],
  },
  'denies all at max unavailable 0 [zpdb 54]': {
    budgets: [{ maxUnavailable: 0 }],
    says: [403, 'NothingAllowed', `max unavailable = 0 ${byBudget}`],
    counts: 'max-unavailable-0 403',
  },
  'denies all at 0 per cent [zpdb 55]': {
    budgets: [{ maxUnavailablePercentage: 0 }],
    says: [403, 'NothingAllowed', `max unavailable = 0 ${byBudget}`],
    counts: 'max-unavailable-0 403',
  },
  'denies all while the own set counts no replicas [zpdb 56]': {
    budgets: [{ maxUnavailablePercentage: 50 }],
    given: zones({ a: { status: { replicas: 0 } } }),
    says: [403, 'NothingAllowed', `max unavailable = 0 ${byBudget}`],
    counts: 'max-unavailable-0 403',
  },
  'denies where one zone stands alone [zpdb 57]': {
    given: zones({ b: 'none', c: 'none' }),
    says: [
      400,
      'TooFewStatefulSets',
      `minimum number of StatefulSets not found ${byBudget}: it selects 1, and without another zone there is nothing to be kept up`,
    ],
    counts: 'min-sts-not-found 400',
  },
  'denies for now while sets cannot be read [zpdb 58]': {
    with: ({ budgets }) => {
      budgets.show({ sets: undefined, leaving: new Set() });
      budgets.add(podView({ name }));
    },
    says: [429, 'StatefulSetsUnreadable', `minimum number of StatefulSets not found ${byBudget}`],
    counts: 'min-sts-not-found 429',
  },
  'denies a pod whose partition cannot be determined [zpdb 59]': {
    budgets: [{ podNamePartitionRegex: 'store-zone-[a-z]-([0-9]+)' }],
    says: [
      400,
      'PartitionUnknown',
      `failed to extract partition from pod Name regular expression ${byBudget}`,
    ],
    counts: 'partition-not-identified 400',
  },
  'denies for now while pods of another zone cannot be read [zpdb 60]': {
    given: zones({ b: { arePodsUnreadable: true } }),
    says: [
      429,
      'PodsUnreadable',
      `unable to determine pod status in related StatefulSet ${byBudget}: ingester-zone-b`,
    ],
    counts: 'err: sts-pod-status-not-determined 429',
  },
  'allows a dry run, and records nothing [zpdb 61]': {
    asked: { isDryRun: true },
    says: 'allowed',
    counts: 'allowed 200',
    reserved: [],
  },
  'takes an Eviction that asks for a dry run itself, as kubectl does, for one [zpdb 61]': {
    asked: { object: { deleteOptions: { dryRun: '["All"]' } } },
    says: 'allowed',
    counts: 'allowed 200',
    reserved: [],
  },
  'denies a dry run as what it tries [zpdb 61, 65]': {
    asked: { isDryRun: true },
    given: zones({ c: { pods: { 2: failed } } }),
    says: [
      429,
      'BudgetExhausted',
      `1 pod not ready in ingester-zone-c ${byBudget}: ingester-zone-c-2 is not ready; at most 0 may be`,
    ],
    counts: 'denied 429',
  },
  'allows while all zones are healthy, and records it [zpdb 62]': {
    says: 'allowed',
    counts: 'allowed 200',
    calls: 1,
    reserved: [name],
  },
  'denies while another zone is disturbed [zpdb 65]': {
    given: zones({ c: { pods: { 2: failed } } }),
    says: [
      429,
      'BudgetExhausted',
      `1 pod not ready in ingester-zone-c ${byBudget}: ingester-zone-c-2 is not ready; at most 0 may be`,
    ],
    counts: 'denied 429',
  },
  'denies while a pod of another zone is given away, and says until when': {
    after: ['b-1'],
    says: [
      429,
      'BudgetExhausted',
      `1 pod not ready in ingester-zone-b ${byBudget}: ingester-zone-b-1 is given to an eviction, until 2026-01-01T00:02:00Z if nothing changes; at most 0 may be`,
    ],
    counts: 'denied 429',
    reserved: ['ingester-zone-b-1'],
  },
  'allows again what it has just allowed [zpdb 71]': {
    after: ['a-0'],
    says: 'allowed',
    counts: 'allowed 200',
    calls: 1,
    reserved: [name],
  },
  'allows as many of a zone as the budget says [zpdb 72]': {
    budgets: [{ maxUnavailable: 2 }],
    after: ['a-1'],
    says: 'allowed',
    counts: 'allowed 200',
    calls: 1,
    reserved: ['ingester-zone-a-1', name],
  },
  'denies what would be one more of a zone [zpdb 72]': {
    budgets: [{ maxUnavailable: 2 }],
    after: ['a-1', 'a-2'],
    says: [
      429,
      'BudgetExhausted',
      `2 pods not ready in ingester-zone-a ${byBudget}: ingester-zone-a-1 is given to an eviction, ingester-zone-a-2 is given to an eviction, until 2026-01-01T00:02:00Z if nothing changes; at most 1 may be`,
    ],
    counts: 'denied 429',
    reserved: ['ingester-zone-a-1', 'ingester-zone-a-2'],
  },
  'allows where another partition is disturbed [zpdb 82]': {
    budgets: [partitioned],
    given: zones({ c: { pods: { 2: failed } } }),
    says: 'allowed',
    counts: 'allowed 200',
    calls: 1,
    reserved: [name],
  },
  'denies a pod that is another one by the time that it is given away': {
    with: stored({ phase: 'Running' }),
    says: notSeenYet,
    counts: 'pod-not-found 429',
    calls: 1,
    reserved: [name],
  },
  'allows, unread, the very pod that the Eviction demands': {
    given: zones({ a: { pods: { 0: { uid: 'a-0-uid' } } } }),
    asked: { object: { deleteOptions: { preconditions: { uid: 'a-0-uid' } } } },
    says: 'allowed',
    counts: 'allowed 200',
    reserved: [name],
  },
  'lets the API server say that a pod is gone which was given away': {
    with: (bed) => {
      bed.answer = () => noSuchPod;
    },
    says: 'allowed',
    counts: 'pod-not-found 200',
    calls: 1,
    reserved: [name],
  },
  'denies where a replica of the partition is disturbed [zpdb 83]': {
    budgets: [partitioned],
    given: zones({ b: { pods: { 0: failed } } }),
    says: [
      429,
      'BudgetExhausted',
      `1 pod not ready in partition 0 ${byBudget}: ingester-zone-b-0 is not ready; at most 0 may be`,
    ],
    counts: 'denied 429',
  },
  'denies where as many replicas are disturbed as may be [zpdb 85]': {
    budgets: [{ ...partitioned, maxUnavailable: 2 }],
    given: zones({ b: { pods: { 0: failed } }, c: { pods: { 0: failed } } }),
    says: [
      429,
      'BudgetExhausted',
      `2 pods not ready in partition 0 ${byBudget}: ingester-zone-b-0 is not ready, ingester-zone-c-0 is not ready; at most 1 may be`,
    ],
    counts: 'denied 429',
  },
  'denies for now where the labels of the own set do not match [zpdb 75]': {
    with: ({ budgets }) => {
      budgets.show(zones({ a: 'none' }));
      budgets.add(podView({ name }));
    },
    says: [
      429,
      'NotDetermined',
      `eviction of pod test/${name} is not allowed yet: the StatefulSet that controls the pod has not been seen yet ${byBudget}`,
    ],
    counts: 'not-determined 429',
  },
};

async function open({ given, budgets = [{}], after = [], ...rest }: Case): Promise<EvictionBed> {
  const bed = new EvictionBed();
  for (const [at, spec] of budgets.entries()) {
    bed.budgets.budget(['ingester', 'second'][at] ?? `budget-${at}`, spec);
  }
  bed.budgets.show(given ?? zones());
  rest.with?.(bed);
  for (const slot of after) assert.deepEqual(await bed.evict(slot), { isAllowed: true });
  return bed;
}

/** A decision as the table has it. */
function told(decision: ReviewDecision): Case['says'] {
  if (decision.isAllowed) {
    if (decision.warnings === undefined) return 'allowed';
    assert.deepEqual(decision.warnings, ['pod is not ready']);
    return 'warned';
  }
  const [cause] = decision.causes ?? [];
  return [decision.code ?? 0, cause?.reason ?? '', decision.message];
}

for (const [fact, given] of Object.entries(cases)) {
  test(`podEviction() ${fact}`, async () => {
    const bed = await open(given);
    const before = await bed.counted();
    const asked = bed.requests.length;
    const decision = await bed.evict('a-0', given.asked);
    assert.deepEqual(told(decision), given.says);
    const counts = { ...before, [given.counts]: (before[given.counts] ?? 0) + 1 };
    assert.deepEqual([await bed.counted(), await bed.underWay()], [counts, 0]);
    const { name: read = name } = given.asked ?? {};
    const calls = Array.from(
      { length: given.calls ?? 0 },
      () => `/api/v1/namespaces/test/pods/${read}`,
    );
    assert.deepEqual(
      bed.requests.slice(asked),
      calls.map((path) => `GET ${path}`),
    );
    assert.deepEqual(bed.budgets.reserved('ingester'), given.reserved ?? []);
  });
}
