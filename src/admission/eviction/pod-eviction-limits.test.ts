/** The eviction webhook when others fail, are slow, or ask too much. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '#base/json.ts';
import { instant, millis, seconds } from '#base/units.ts';
import type { EvictionVerdict } from '#disruption-budget/eviction/eviction-budgets.ts';
import { reviewDocument } from '#support/admission/admission-requests.ts';
import { EvictionBed, type EvictionBedOptions } from '#support/admission/eviction-bed.ts';
import { settled } from '#support/api-server/fake-transport.ts';
import { budget, failed, zones } from '#support/budgets/budgeted-zones.ts';
import { T0 } from '#support/objects/views.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import type { ReviewDecision } from '../review/review.ts';
import { handlersOf } from '../review/review-handler.ts';

const name = 'ingester-zone-a-0';
const notAllowed = `eviction of pod test/${name} is not allowed`;

/** Healthy zones under one budget. */
function open(options: EvictionBedOptions = {}): EvictionBed {
  const bed = new EvictionBed(options);
  bed.budgets.budget('ingester');
  bed.budgets.show(zones());
  return bed;
}

/** The same, without any pod in the cache. */
function openUnseen(options: EvictionBedOptions = {}): EvictionBed {
  const bed = open(options);
  bed.budgets.show({ sets: [], leaving: new Set() });
  return bed;
}

const overloaded: ReviewDecision = {
  isAllowed: false,
  code: 429,
  message: `${notAllowed} because too many admission reviews are under way, try again`,
  causes: [
    {
      reason: 'Overloaded',
      message: `${notAllowed} because too many admission reviews are under way, try again`,
    },
  ],
  doubt: 'Overloaded',
};

test('podEviction() lets exactly one of two evictions at once in two zones pass [zpdb 78]', async () => {
  const bed = open();
  const [first, second] = await Promise.all([bed.evict('a-0'), bed.evict('b-0')]);
  assert.equal(first.isAllowed, true);
  assert.ok(!second.isAllowed && second.code === 429);
  assert.match(second.message, /^1 pod not ready in ingester-zone-a /);
  assert.deepEqual(await bed.counted(), { 'allowed 200': 1, 'denied 429': 1 });
  assert.deepEqual(bed.budgets.reserved('ingester'), [name]);
});

test('podEviction() answers equal evictions at once alike [zpdb 71]', async () => {
  const bed = open();
  const answers = await Promise.all([bed.evict('a-0'), bed.evict('a-0'), bed.evict('a-0')]);
  assert.deepEqual(answers, [{ isAllowed: true }, { isAllowed: true }, { isAllowed: true }]);
  assert.deepEqual(bed.budgets.reserved('ingester'), [name]);
});

for (const [what, status, doubt] of [
  ['fails', 500, 'DependencyFailed'],
  ['is not permitted', 403, 'Forbidden'],
] as const) {
  test(`podEviction() asks to come back where the read of the pod ${what} (HOOK-1)`, async () => {
    const bed = openUnseen();
    bed.answer = () => ({ status, body: { kind: 'Status', message: 'no luck', code: status } });
    const decision = await bed.evict('a-0');
    assert.ok(!decision.isAllowed);
    const { code, message, causes } = decision;
    assert.deepEqual([code, message], [429, `${notAllowed}: the pod cannot be read`]);
    assert.deepEqual([decision.doubt, causes?.map(({ reason }) => reason)], [doubt, [doubt]]);
    assert.match(causes?.[0]?.message ?? '', /no luck/);
    assert.deepEqual([await bed.counted(), await bed.underWay()], [{ 'pod-not-found 429': 1 }, 0]);
  });
}

test('podEviction() asks to come back where the ledger cannot be written (HOOK-1)', async () => {
  const bed = open();
  bed.budgets.script = () => Promise.reject(new Error('the ledger cannot be stored'));
  assert.deepEqual(await bed.evict('a-0'), {
    isAllowed: false,
    code: 429,
    message: `${notAllowed}: the budgets cannot be asked`,
    causes: [{ reason: 'DependencyFailed', message: 'the ledger cannot be stored' }],
    doubt: 'DependencyFailed',
  });
  assert.deepEqual([await bed.counted(), await bed.underWay()], [{ 'not-determined 429': 1 }, 0]);
});

test('podEviction() asks to come back when its time is over, whichever replica was asked (HOOK-1)', async () => {
  const never = new Promise<never>(() => undefined);
  const reading = openUnseen({ deadline: seconds(2) });
  reading.answer = () => never;
  const judging = open({ deadline: seconds(2) });
  judging.budgets.script = (_, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  for (const [bed, why] of [
    [reading, 'the pod cannot be read'],
    [judging, 'the budgets cannot be asked'],
  ] as const) {
    const decision = bed.evict('a-0');
    await bed.clock.advance(millis(1_999));
    assert.equal(await bed.underWay(), 1);
    await bed.clock.advance(millis(1));
    const said = await decision;
    assert.ok(!said.isAllowed);
    assert.deepEqual([said.code, said.message], [429, `${notAllowed}: ${why}`]);
    assert.match(said.causes?.[0]?.message ?? '', /deadline of 2000 ms/);
    assert.equal(await bed.underWay(), 0);
  }
});

test('podEviction() reads a pod twice, for however many equal evictions', async () => {
  const bed = openUnseen();
  const answer = Promise.withResolvers<{ readonly status: number }>();
  bed.answer = () => answer.promise;
  const evictions = Array.from({ length: 50 }, () => bed.evict('a-0'));
  await settled();
  answer.resolve({ status: 404 });
  for (const eviction of evictions) assert.equal((await eviction).isAllowed, true);
  assert.equal(bed.requests.length, 2);
});

test('podEviction() asks to come back at once while as many pods are read as may be (D-30)', async () => {
  const bed = openUnseen({ reads: 1 });
  const answer = Promise.withResolvers<{ readonly status: number }>();
  bed.answer = () => answer.promise;
  const first = bed.evict('b-0');
  const second = bed.evict('a-0');
  await settled();
  assert.deepEqual([await bed.underWay(), bed.requests.length], [1, 1]);
  answer.resolve({ status: 404 });
  assert.deepEqual([await first, await second], [{ isAllowed: true }, overloaded]);
  assert.equal((await bed.evict('a-0')).isAllowed, true);
  assert.deepEqual(await bed.counted(), { 'pod-not-found 200': 2, 'overloaded 429': 1 });
});

test('podEviction() judges on while no more pods may be read, as that asks nothing (D-30)', async () => {
  const bed = open({ reads: 0 });
  assert.deepEqual(await bed.evict('a-0'), { isAllowed: true });
});

test('podEviction() denies 1,000 evictions under way without a request, and one too many at once (D-30)', async () => {
  const bed = open({ judgements: 1_000 });
  const verdict = Promise.withResolvers<EvictionVerdict>();
  bed.budgets.script = () => verdict.promise;
  const evictions = Array.from({ length: 1_000 }, () => bed.evict('a-0'));
  assert.deepEqual(await bed.evict('a-0'), overloaded);
  assert.equal(await bed.underWay(), 1_000);
  const { ref } = budget();
  verdict.resolve({ kind: 'denied', budget: ref, denial: { kind: 'sets-unreadable' } });
  for (const eviction of evictions) assert.equal((await eviction).isAllowed, false);
  assert.deepEqual(await bed.counted(), { 'min-sts-not-found 429': 1_000, 'overloaded 429': 1 });
  assert.deepEqual([await bed.underWay(), bed.requests], [0, []]);
  bed.budgets.script = undefined;
  assert.deepEqual(await bed.evict('a-0'), { isAllowed: true });
});

const { ref } = budget();
const verdicts: Readonly<
  Record<string, readonly [EvictionVerdict, counts: string, message: string | undefined]>
> = {
  'why it cannot be determined now, and until when at the latest': [
    { kind: 'unclear', budget: ref, why: 'the ledger is being rebuilt', until: instant(T0 + 500) },
    'not-determined 429',
    `${notAllowed} yet: the ledger is being rebuilt, until 2026-01-01T00:00:01Z at the latest (ZoneAwarePodDisruptionBudget ingester)`,
  ],
  'why it cannot be determined for any budget': [
    { kind: 'unclear', budget: undefined, why: 'budgets are not listed', until: undefined },
    'not-determined 429',
    `${notAllowed} yet: budgets are not listed`,
  ],
  'which budget cannot be read': [
    {
      kind: 'ambiguous',
      budgets: ['ingester'],
      text: 'ZoneAwarePodDisruptionBudget "ingester" cannot be read: no spec',
    },
    'cfg-not-found 400',
    'ZoneAwarePodDisruptionBudget "ingester" cannot be read: no spec',
  ],
  'that the own set is not selected': [
    { kind: 'denied', budget: ref, denial: { kind: 'set-not-governed' } },
    'sts-no-found 429',
    'the StatefulSet that owns the pod is not selected (ZoneAwarePodDisruptionBudget ingester)',
  ],
  'that another pod has taken the place': [
    { kind: 'denied', budget: ref, denial: { kind: 'pod-not-seen', seenUid: 'newer' } },
    'pod-not-found 429',
    'the pod is not among those that are seen (ZoneAwarePodDisruptionBudget ingester): in its place is uid newer',
  ],
  'that the zone is unknown': [
    { kind: 'denied', budget: ref, denial: { kind: 'no-zone' } },
    'not-determined 429',
    'the zone of the pod is not known (ZoneAwarePodDisruptionBudget ingester)',
  ],
  'that there is no room for another reservation': [
    {
      kind: 'denied',
      budget: ref,
      denial: { kind: 'ledger-full', reservations: 9, mostBytes: 100 },
    },
    'denied 429',
    'no room for another reservation (ZoneAwarePodDisruptionBudget ingester): its ledger has 9, and takes at most 100 bytes',
  ],
  'nothing where it was allowed before': [
    { kind: 'allowed', budget: ref, isRepeated: true },
    'allowed 200',
    undefined,
  ],
};
for (const [fact, [verdict, counts, message]] of Object.entries(verdicts)) {
  test(`podEviction() says ${fact}`, async () => {
    const bed = open();
    bed.budgets.script = async () => verdict;
    const decision = await bed.evict('a-0');
    assert.equal(decision.isAllowed ? undefined : decision.message, message);
    if (!decision.isAllowed) {
      assert.equal(decision.code, Number(counts.slice(-3)));
      assert.equal(decision.causes?.length, 1);
    }
    assert.deepEqual(await bed.counted(), { [counts]: 1 });
  });
}

interface Posted {
  readonly status: number;
  readonly body: string;
}

/** Posts a review as the API server does. */
async function post(
  bed: EvictionBed,
  members: Readonly<Record<string, JsonValue>>,
): Promise<Posted> {
  const { clock, webhook } = bed;
  const handlers = handlersOf([webhook], { clock, log: silentLogger, requestTimeout: seconds(10) });
  const handler = handlers.get(webhook.path);
  assert.ok(handler);
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
  const document = reviewDocument({
    kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    subResource: 'eviction',
    name,
    operation: 'CREATE',
    object: eviction,
    oldObject: null,
    ...members,
  });
  const caller = { query: '', begun: clock.monotonic(), onLeave: () => undefined };
  const body = Buffer.from(JSON.stringify(document));
  return handler({ contentType: 'application/json', body, caller });
}

const refused =
  /^\{"uid":"abc","allowed":false,"status":\{"metadata":\{\},"message":"1 pod not ready in ingester-zone-c .*","details":\{"causes":\[\{"reason":"BudgetExhausted","message":"1 pod .*"\}\]\},"code":429\}\}$/;
const long = 'x'.repeat(8 * 1_024 * 1_024);

const hostile: Readonly<
  Record<string, readonly [Readonly<Record<string, JsonValue>>, RegExp | 400]>
> = {
  'as it is': [{}, refused],
  'with no object': [{ object: null }, refused],
  'with an object of another kind': [{ object: [1, { deleteOptions: null }] }, refused],
  'with delete options of another kind': [{ object: { deleteOptions: 'All' } }, refused],
  'with the kind and the resource of something else': [
    { kind: { group: 'apps', version: 'v1', kind: 'StatefulSet' }, resource: null },
    refused,
  ],
  'that says of itself that it is long gone': [
    { object: { metadata: { deletionTimestamp: 'x' }, status: { phase: 'Failed' } } },
    refused,
  ],
  'with 8 MiB of labels, which is not read': [
    { object: { metadata: { labels: { long } } } },
    refused,
  ],
  'with a name of 8 MiB': [{ name: long }, 400],
  'with a namespace of 8 MiB': [{ namespace: long }, 400],
  'with a dry run of 8 MiB': [{ object: { deleteOptions: { dryRun: [long] } } }, 400],
  'with a name that is no text': [{ name: { toString: 1 } }, 400],
  'with null in place of its name': [
    { name: null },
    /"message":"request did not include both a namespace and a name".*"code":400/,
  ],
  'with an operation of its own': [{ operation: 'create' }, /got: create".*"code":400/],
};
for (const [how, [members, want]] of Object.entries(hostile)) {
  test(`podEviction() answers an eviction ${how} while it is not allowed`, async () => {
    const bed = open();
    bed.budgets.show(zones({ c: { pods: { 2: failed } } }));
    const { status, body } = await post(bed, members);
    if (want === 400) assert.equal(status, 400);
    else assert.match(body.replace(/^.*?"response":/, '').slice(0, -1), want);
    assert.deepEqual(bed.requests, []);
  });
}

for (const [how, dryRun, reserved] of [
  ['for all', ['All'], []],
  ['of nothing', [], [name]],
  ['that is no list', 'All', [name]],
  ['of null', null, [name]],
] as const) {
  test(`podEviction() stores ${reserved.length} reservations for an Eviction with a dry run ${how} [zpdb 61]`, async () => {
    const bed = open();
    const { body } = await post(bed, { object: { deleteOptions: { dryRun } } });
    assert.match(body, /"allowed":true/);
    assert.deepEqual(bed.budgets.reserved('ingester'), reserved);
  });
}
