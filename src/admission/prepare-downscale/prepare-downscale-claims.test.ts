/** One zone of a group at a time among all replicas: prepare-downscale with its claims (D-26, D-59). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { millis, minutes, seconds } from '#base/units.ts';
import type { PolicyRule } from '#cluster/auth/authorizer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { AdmissionBed, type Replica } from '#support/admission/admission-bed.ts';
import { prepared, scaleRequest } from '#support/admission/admission-requests.ts';
import type { ApiFault } from '#support/api-server/faulty-transport.ts';
import { SkewedClock } from '#support/clocks/skewed-clock.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import { deny, type ReviewDecision } from '../review/review.ts';

const A = 'ingester-zone-a';
const B = 'ingester-zone-b';

function refusal(name: string, tail: string): string {
  return `downscale of statefulsets/${name} in test from 3 to 1 replicas is not allowed because ${tail}`;
}

const heldBy = (holder: string, name = B): ReviewDecision =>
  deny(refusal(name, `statefulset ${holder} is already in process of updating replicas`));

async function twoZones(): Promise<AdmissionBed> {
  const bed = await AdmissionBed.open();
  for (const name of [A, B]) await bed.store({ name, ...prepared });
  return bed;
}

async function ask(
  bed: AdmissionBed,
  { prepareDownscale }: Pick<Replica, 'prepareDownscale'>,
  name: string,
): Promise<ReviewDecision> {
  return bed.review(prepareDownscale, await bed.downscaleRequest(name, 3, 1));
}

/** The claim of the group, as it stands. */
async function claimOf(bed: AdmissionBed, key = 'ingester'): Promise<JsonObject | undefined> {
  const text = (await bed.claims())?.[key];
  const value: unknown = typeof text === 'string' ? JSON.parse(text) : undefined;
  return isJsonObject(value) ? value : undefined;
}

/** Stores what was allowed. */
async function shrink(bed: AdmissionBed, name: string): Promise<void> {
  const body = { kind: 'merge', document: { spec: { replicas: 1 } } } as const;
  await bed.admin.patch(resourceTypes.statefulSets, { namespace: 'test', name }, { body });
}

/** Acts as the controller of StatefulSets on the second generation of a set: takes its last pod. */
async function act(bed: AdmissionBed, name: string, ordinal: number): Promise<void> {
  const pod = { namespace: 'test', name: `${name}-${ordinal}` };
  await bed.admin.delete(resourceTypes.pods, pod, { preconditions: {}, gracePeriodSeconds: 0 });
  const status = { observedGeneration: 2, replicas: ordinal, updatedReplicas: ordinal };
  const body = { kind: 'merge', document: { status } } as const;
  const key = { namespace: 'test', name };
  await bed.admin.patch(resourceTypes.statefulSets, key, { body, subresource: 'status' });
}

test('prepareDownscale() writes the claim of an allowed scale-down: set, replica, until', async () => {
  await using bed = await twoZones();
  assert.equal((await ask(bed, bed, A)).isAllowed, true);
  assert.deepEqual(await claimOf(bed), {
    set: A,
    replica: 'replica-1',
    until: '2026-01-01T00:00:30.000Z',
    generation: 1,
    state: 'allowed',
  });
});

test('prepareDownscale() denies another zone in another replica until 30 s after that has seen the claim', async () => {
  await using bed = await twoZones();
  const second = bed.replica('replica-2');
  assert.equal((await ask(bed, bed, A)).isAllowed, true);
  await bed.clock.advance(minutes(5));
  assert.deepEqual(await ask(bed, second, B), heldBy(A));
  await bed.clock.advance(29_999);
  assert.deepEqual(await ask(bed, second, B), heldBy(A));
  await bed.clock.advance(1);
  assert.equal((await ask(bed, second, B)).isAllowed, true);
});

for (const [which, skew] of [
  ['an hour ahead', 3_600_000],
  ['an hour behind', -3_600_000],
] as const) {
  test(`prepareDownscale() waits for the same 30 s where the clock of the replica is ${which}`, async () => {
    await using bed = await twoZones();
    const clock = new SkewedClock(bed.clock);
    clock.step(millis(skew));
    const second = bed.replica('replica-2', clock);
    assert.equal((await ask(bed, bed, A)).isAllowed, true);
    assert.deepEqual(await ask(bed, second, B), heldBy(A));
    await bed.clock.advance(29_999);
    assert.deepEqual(await ask(bed, second, B), heldBy(A));
    await bed.clock.advance(1);
    assert.equal((await ask(bed, second, B)).isAllowed, true);
  });
}

test('prepareDownscale() lets another zone go on when the change of the first is stored, acted on, and its pods are gone', async () => {
  await using bed = await twoZones();
  const second = bed.replica('replica-2');
  assert.equal((await ask(bed, bed, A)).isAllowed, true);
  assert.deepEqual(await ask(bed, second, B), heldBy(A));
  await shrink(bed, A);
  assert.deepEqual(await ask(bed, second, B), heldBy(A));
  await act(bed, A, 2);
  // Two pods, both ready: only its spec says that another one is to go.
  assert.deepEqual(await ask(bed, second, B), heldBy(A));
  await act(bed, A, 1);
  assert.equal((await ask(bed, second, B)).isAllowed, true);
  assert.equal((await claimOf(bed))?.['set'], B);
});

test('prepareDownscale() allows the same set again in any replica, as the server asks again (D-26)', async () => {
  await using bed = await twoZones();
  const second = bed.replica('replica-2');
  assert.equal((await ask(bed, bed, A)).isAllowed, true);
  assert.equal((await ask(bed, second, A)).isAllowed, true);
  assert.equal((await claimOf(bed))?.['replica'], 'replica-2');
});

test('prepareDownscale() denies the same set while another replica still reviews it', async () => {
  await using bed = await twoZones();
  const second = bed.replica('replica-2');
  bed.fleet.behave({ kind: 'never' });
  const first = bed.begin(bed.prepareDownscale, await bed.downscaleRequest(A, 3, 1));
  await bed.fleet.received(1);
  assert.deepEqual(await ask(bed, second, A), heldBy(A, A));
  first.leave();
  bed.fleet.behave({ kind: 'application' });
  await bed.clock.advance(seconds(5));
  assert.equal((await first.decision).isAllowed, false);
});

test('prepareDownscale() gives the claim up with a denial, so that another zone may go on in any replica [admission 79]', async () => {
  await using bed = await twoZones();
  const second = bed.replica('replica-2');
  bed.fleet.behave({ kind: 'answer', status: 500 }, `${A}-2`);
  assert.equal((await ask(bed, bed, A)).isAllowed, false);
  assert.deepEqual(await bed.claims(), {});
  assert.equal((await ask(bed, second, B)).isAllowed, true);
});

test('prepareDownscale() holds the claim while pods are asked to forget the preparation', async () => {
  await using bed = await twoZones();
  const second = bed.replica('replica-2');
  bed.fleet.behave({ kind: 'never' });
  const first = bed.begin(bed.prepareDownscale, await bed.downscaleRequest(A, 3, 1));
  await bed.clock.advance(seconds(5));
  assert.equal((await first.decision).isAllowed, false);
  assert.deepEqual(await ask(bed, second, A), heldBy(A, A));
  bed.fleet.behave({ kind: 'application' });
  await bed.clock.advance(seconds(5));
  await Promise.all(bed.background);
  assert.equal((await ask(bed, second, A)).isAllowed, true);
});

test('prepareDownscale() puts back what was allowed before, when a second review of the set is denied', async () => {
  await using bed = await twoZones();
  const second = bed.replica('replica-2');
  assert.equal((await ask(bed, bed, A)).isAllowed, true);
  const allowed = await bed.claims();
  bed.fleet.behave({ kind: 'answer', status: 500 }, `${A}-2`);
  assert.equal((await ask(bed, second, A)).isAllowed, false);
  assert.deepEqual(await bed.claims(), allowed);
  assert.deepEqual(await ask(bed, second, B), heldBy(A));
});

test('prepareDownscale() writes no claim in a dry run, and none where it needs no call', async () => {
  await using bed = await twoZones();
  const request = await bed.downscaleRequest(A, 3, 1);
  assert.deepEqual(await bed.review(bed.prepareDownscale, { ...request, isDryRun: true }), {
    isAllowed: true,
  });
  const grown = await bed.downscaleRequest(A, 3, 5);
  assert.deepEqual(await bed.review(bed.prepareDownscale, grown), { isAllowed: true });
  assert.deepEqual([bed.api.requests, await bed.claims()], [[], undefined]);
});

test('prepareDownscale() claims a set in no group by itself', async () => {
  await using bed = await AdmissionBed.open();
  await bed.store({ name: A, ...prepared, labels: { 'grafana.com/prepare-downscale': 'true' } });
  assert.equal((await ask(bed, bed, A)).isAllowed, true);
  assert.equal((await claimOf(bed, `_set.${A}`))?.['set'], A);
});

test('prepareDownscale() keeps the claims of other groups, and drops what it has watched for 30 s', async () => {
  await using bed = await twoZones();
  await bed.storeClaims({ stale: 'no JSON', 'ingester-2': 'no JSON either' });
  assert.equal((await ask(bed, bed, A)).isAllowed, true);
  assert.deepEqual(Object.keys((await bed.claims()) ?? {}).toSorted(), [
    'ingester',
    'ingester-2',
    'stale',
  ]);
  await bed.clock.advance(seconds(30));
  assert.equal((await ask(bed, bed, A)).isAllowed, true);
  assert.deepEqual(Object.keys((await bed.claims()) ?? {}), ['ingester']);
});

for (const corrupt of ['no JSON', '5', '', '{"set":"a"}', '['.repeat(1_000)]) {
  test(`prepareDownscale() denies for the claim ${JSON.stringify(corrupt.slice(0, 20))} with a cause, and overwrites it after 30 s`, async () => {
    await using bed = await twoZones();
    await bed.storeClaims({ ingester: corrupt });
    const denied = await ask(bed, bed, A);
    assert.equal(denied.isAllowed, false);
    assert.equal(denied.message, refusal(A, 'claiming the group failed.'));
    assert.equal(denied.code, 429);
    assert.equal(denied.causes?.[0]?.reason, 'ClaimUnreadable');
    assert.match(
      denied.causes[0].message,
      /^the claim in ConfigMap "test\/rollout-operator-claims", key "ingester" cannot be read: /,
    );
    await bed.clock.advance(seconds(30));
    assert.equal((await ask(bed, bed, A)).isAllowed, true);
    assert.equal((await claimOf(bed))?.['set'], A);
  });
}

test('prepareDownscale() overwrites after 30 s what is under binaryData', async () => {
  await using bed = await twoZones();
  const body = {
    metadata: { name: 'rollout-operator-claims' },
    binaryData: { ingester: 'AAAA', kept: 'AAAA' },
  };
  await bed.admin.create(resourceTypes.configMaps, { namespace: 'test' }, { body });
  assert.equal((await ask(bed, bed, A)).isAllowed, false);
  await bed.clock.advance(seconds(30));
  assert.equal((await ask(bed, bed, A)).isAllowed, true);
  assert.equal((await claimOf(bed))?.['set'], A);
});

const faults: Readonly<Record<string, ApiFault>> = {
  403: { status: 403 },
  409: { status: 409 },
  500: { status: 500 },
  'no answer': 'hang',
  'a broken connection': 'reset',
};
const calls = {
  get: { method: 'GET', exists: false },
  create: { method: 'POST', exists: false },
  update: { method: 'PUT', exists: true },
  'the second write': { method: 'PUT', exists: false },
} as const;
for (const [what, { method, exists }] of Object.entries(calls)) {
  for (const [how, fault] of Object.entries(faults)) {
    test(`prepareDownscale() denies when ${what} of the claims gets ${how}, within its deadline, and blocks nobody for longer than 30 s`, async () => {
      await using bed = await twoZones();
      if (exists) await bed.storeClaims({});
      const second = bed.replica('replica-2');
      bed.api.fault = (request) =>
        request.method === method && request.path.includes('/configmaps') ? fault : undefined;
      const asked = bed.begin(bed.prepareDownscale, await bed.downscaleRequest(A, 3, 1));
      await bed.clock.advance(seconds(5));
      const denied = await asked.decision;
      assert.equal(denied.isAllowed, false);
      assert.equal(denied.message, refusal(A, 'claiming the group failed.'));
      assert.equal(denied.code, how === '403' ? 403 : 429);
      assert.equal(denied.causes?.[0]?.reason, how === '403' ? 'Forbidden' : 'DependencyFailed');
      assert.equal(await bed.lastDownscale(A), undefined);
      const asks = bed.fleet.story().filter((call) => call.startsWith('POST')).length;
      const undos = bed.fleet.story().filter((call) => call.startsWith('DELETE')).length;
      assert.equal(undos, asks);
      bed.api.fault = () => undefined;
      await bed.clock.advance(seconds(2));
      await Promise.all(bed.background);
      await ask(bed, second, B);
      await bed.clock.advance(seconds(30));
      assert.equal((await ask(bed, second, B)).isAllowed, true);
    });
  }
}

test('prepareDownscale() goes on after a write that had its effect, and no answer', async () => {
  await using bed = await twoZones();
  const lost = bed.replica('replica-1');
  lost.api.fault = ({ method }) => (method === 'POST' ? 'reset' : undefined);
  assert.equal((await ask(bed, lost, A)).isAllowed, false);
  // As if that write had arrived after all, later than its own withdrawal.
  const until = '2026-01-01T00:00:30.000Z';
  const late = { set: A, replica: 'replica-1', until, generation: 1, state: 'under-way' };
  await bed.storeClaims({ ingester: JSON.stringify(late) });
  lost.api.fault = () => undefined;
  assert.equal((await ask(bed, lost, B)).isAllowed, true);
});

/** What prepare-downscale takes besides its claims. */
const roleWithoutClaims: readonly PolicyRule[] = [
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', 'list', 'patch'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
];
const claimsRule = (...verbs: readonly string[]): PolicyRule => ({
  apiGroups: [''],
  resources: ['configmaps'],
  verbs,
});

const notPermitted = /^warn the Role does not permit (?<verb>\w+) on the ConfigMap of the claims: /;
const refusedVerbs = (log: KeptLog): readonly (string | undefined)[] =>
  log.lines.flatMap((line) => notPermitted.exec(line)?.groups?.['verb'] ?? []);

for (const [missing, permitted] of [
  ['get', []],
  ['create', ['get']],
  ['update', ['get', 'create']],
] as const) {
  test(`prepareDownscale() goes on in one process, with one warning, where the Role does not permit ${missing} on the ConfigMap`, async () => {
    await using bed = await twoZones();
    if (missing === 'update') await bed.storeClaims({});
    const before = await bed.claims();
    const log = new KeptLog();
    bed.restrict('alone', [...roleWithoutClaims, claimsRule(...permitted)]);
    const alone = bed.replica('alone', bed.clock, log);
    assert.equal((await ask(bed, alone, A)).isAllowed, true);
    assert.deepEqual(await ask(bed, alone, B), heldBy(A));
    assert.equal((await ask(bed, alone, A)).isAllowed, true);
    assert.deepEqual(refusedVerbs(log), [missing]);
    assert.deepEqual(await bed.claims(), before);
    await bed.clock.advance(seconds(30));
    assert.equal((await ask(bed, alone, B)).isAllowed, true);
    assert.deepEqual(refusedVerbs(log), [missing]);
  });
}

test('prepareDownscale() gives a group back after a denial also where the Role does not permit the ConfigMap', async () => {
  await using bed = await twoZones();
  bed.restrict('alone', roleWithoutClaims);
  const alone = bed.replica('alone');
  bed.fleet.behave({ kind: 'answer', status: 500 }, `${A}-2`);
  assert.equal((await ask(bed, alone, A)).isAllowed, false);
  assert.equal((await ask(bed, alone, B)).isAllowed, true);
});

test('prepareDownscale() uses the ConfigMap as soon as the Role permits it, and holds what was allowed without', async () => {
  await using bed = await twoZones();
  const log = new KeptLog();
  bed.restrict('alone', roleWithoutClaims);
  const alone = bed.replica('alone', bed.clock, log);
  assert.equal((await ask(bed, alone, A)).isAllowed, true);
  bed.restrict('alone', [...roleWithoutClaims, claimsRule('get', 'create', 'update')]);
  assert.deepEqual(await ask(bed, alone, B), heldBy(A));
  await bed.clock.advance(seconds(30));
  assert.equal((await ask(bed, alone, B)).isAllowed, true);
  assert.equal((await claimOf(bed))?.['set'], B);
  assert.deepEqual(refusedVerbs(log), ['get']);
});

test('prepareDownscale() denies for 30 s when the Role ceases to permit the ConfigMap: claims seen there may still be held', async () => {
  await using bed = await twoZones();
  const log = new KeptLog();
  const replica = bed.replica('alone', bed.clock, log);
  assert.equal((await ask(bed, bed, A)).isAllowed, true);
  assert.deepEqual(await ask(bed, replica, B), heldBy(A));
  bed.restrict('alone', roleWithoutClaims);
  await bed.clock.advance(29_999);
  const denied = await ask(bed, replica, B);
  assert.ok(!denied.isAllowed);
  assert.equal(
    denied.message,
    refusal(
      B,
      'claiming the group failed: no Role permits the operator to get configmaps in the namespace "test", so bind one there, or have the webhook leave that namespace out',
    ),
  );
  assert.equal(denied.code, 403);
  await bed.clock.advance(1);
  assert.equal((await ask(bed, replica, B)).isAllowed, true);
  assert.deepEqual(refusedVerbs(log), ['get']);
});

/** As our Role: the ConfigMap is shipped, and nobody may create it. */
const shippedClaims: PolicyRule = {
  ...claimsRule('get', 'update'),
  resourceNames: ['rollout-operator-claims'],
};

test('prepareDownscale() claims in a ConfigMap that is shipped empty, where the Role permits creating none', async () => {
  await using bed = await twoZones();
  const metadata = { name: 'rollout-operator-claims' };
  const key = { namespace: 'test' };
  await bed.admin.create(resourceTypes.configMaps, key, { body: { metadata } });
  bed.restrict('replica-2', [...roleWithoutClaims, shippedClaims]);
  const replica = bed.replica('replica-2');
  assert.equal((await ask(bed, replica, A)).isAllowed, true);
  assert.equal((await claimOf(bed))?.['set'], A);
  assert.deepEqual(await ask(bed, bed, B), heldBy(A));
});

test('prepareDownscale() denies while a shipped ConfigMap is missing that the Role does not permit creating', async () => {
  await using bed = await twoZones();
  const log = new KeptLog();
  bed.restrict('replica-2', [...roleWithoutClaims, shippedClaims]);
  const replica = bed.replica('replica-2', bed.clock, log);
  for (const wait of [0, 60]) {
    await bed.clock.advance(seconds(wait));
    const denied = await ask(bed, replica, A);
    assert.ok(!denied.isAllowed);
    assert.equal(denied.code, 429);
    assert.match(
      denied.causes?.[0]?.message ?? '',
      /^ConfigMap "test\/rollout-operator-claims" is missing, and the Role does not permit creating it: create it without data \(/,
    );
  }
  assert.deepEqual(refusedVerbs(log), []);
  await bed.storeClaims({});
  assert.equal((await ask(bed, replica, A)).isAllowed, true);
});

test('prepareDownscale() denies for a 403 that is not about the Role, as for any other failure', async () => {
  await using bed = await twoZones();
  const log = new KeptLog();
  const replica = bed.replica('replica-2', bed.clock, log);
  replica.api.fault = ({ path }) => (path.includes('/configmaps') ? { status: 403 } : undefined);
  const denied = await ask(bed, replica, A);
  assert.ok(!denied.isAllowed);
  assert.equal(denied.code, 403);
  assert.deepEqual(refusedVerbs(log), []);
});

test('prepareDownscale() claims many groups at once from one process', async () => {
  await using bed = await AdmissionBed.open();
  const names = Array.from({ length: 12 }, (_, index) => `set-${index}`);
  for (const name of names) {
    const labels = { ...prepared.labels, 'rollout-group': `group-${name}` };
    await bed.store({ name, ...prepared, labels });
  }
  const decisions = await Promise.all(names.map((name) => ask(bed, bed, name)));
  assert.deepEqual(
    decisions.map(({ isAllowed }) => isAllowed),
    names.map(() => true),
  );
});

test('prepareDownscale() denies what is not about the live set: another uid, other replicas, none (D-59)', async () => {
  await using bed = await twoZones();
  const differs = deny(
    refusal(A, 'the StatefulSet is not, or no longer, as the request has it, try again'),
  );
  const scaled = scaleRequest(3, 1, { name: A, setUid: 'another' });
  assert.deepEqual(await bed.review(bed.prepareDownscale, scaled), differs);
  assert.deepEqual(
    await bed.review(bed.prepareDownscale, scaleRequest(3, 1, { name: A })),
    differs,
  );
  const other = await bed.downscaleRequest(A, 5, 1);
  const decision = await bed.review(bed.prepareDownscale, other);
  assert.deepEqual(decision, deny(differs.message?.replace('from 3', 'from 5') ?? ''));
  const gone = await bed.downscaleRequest(A, 3, 1);
  await bed.admin.delete(
    resourceTypes.statefulSets,
    { namespace: 'test', name: A },
    { preconditions: {} },
  );
  assert.deepEqual(await bed.review(bed.prepareDownscale, gone), differs);
  assert.deepEqual([bed.fleet.story(), await bed.claims()], [[], undefined]);
});
