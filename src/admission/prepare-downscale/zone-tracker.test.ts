import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { AdmissionBed, ago } from '#support/admission/admission-bed.ts';
import { prepared, setObject, updateRequest } from '#support/admission/admission-requests.ts';
import { deny, type ReviewDecision } from '../review/review.ts';

const hour = 3_600_000;
const A = 'ingester-zone-a';
const B = 'ingester-zone-b';
const NOW = '{"lastDownscaled":"2026-01-01T00:00:00Z"}';
const wait = { 'grafana.com/min-time-between-zones-downscale': '12h' };

/** Whether a request is about the ConfigMap of the tracker; the claims have one of their own. */
function isOfTracker(path: string): boolean {
  return path.includes('/configmaps/tracker');
}

function entry(at: string): string {
  return JSON.stringify({ lastDownscaled: at });
}

function refused(tail: string, name = A): string {
  return `downscale of statefulsets/${name} in test from 3 to 1 replicas is not allowed because ${tail}`;
}

function allowed(name = A): ReviewDecision {
  return {
    isAllowed: true,
    message: `downscale of statefulsets/${name} in test from 3 to 1 replicas is allowed -- all pods successfully prepared for shutdown.`,
  };
}

/** Two zones of a group; zone b with further labels. */
async function twoZones(labels: Readonly<Record<string, string>> = {}): Promise<AdmissionBed> {
  const bed = await AdmissionBed.open({ isZoneTracked: true });
  await bed.store({ name: A, ...prepared });
  await bed.store({ name: B, ...prepared, labels: { ...prepared.labels, ...labels } });
  return bed;
}

test('zoneTrackerRecord() creates the map as scaled down now, which the siblings wait for [admission 71]', async () => {
  await using bed = await twoZones(wait);
  const tail =
    'statefulset ingester-zone-b was downscaled at 2026-01-01 00:00:00 +0000 UTC and is labelled to wait 12h0m0s between zone downscales';
  assert.deepEqual(await bed.downscale(A, 3, 1), deny(refused(tail)));
  assert.deepEqual(await bed.zones(), { [A]: NOW, [B]: NOW });
  assert.deepEqual(bed.fleet.story(), []);
});

test('zoneTrackerRecord() lets sets without a minimum time go on at once [admission 72]', async () => {
  await using bed = await twoZones();
  await bed.storeZones({ [A]: entry(ago(hour)), [B]: entry(ago(hour)) });
  assert.deepEqual(await bed.downscale(A, 3, 1), allowed());
  assert.deepEqual(await bed.zones(), { [A]: NOW, [B]: entry(ago(hour)) });
});

test('zoneTrackerRecord() creates the map and notes its own down-scale [admission 72]', async () => {
  await using bed = await twoZones();
  assert.deepEqual(await bed.downscale(A, 3, 1), allowed());
  assert.deepEqual(await bed.zones(), { [A]: NOW, [B]: NOW });
  assert.equal(await bed.lastDownscale(A), undefined);
});

test('zoneTrackerRecord() begins a map that is shipped empty as scaled down now', async () => {
  await using bed = await twoZones(wait);
  await bed.storeZones({});
  const { message = '' } = await bed.downscale(A, 3, 1);
  assert.match(message, /statefulset ingester-zone-b was downscaled at 2026-01-01 00:00:00/);
  assert.deepEqual(await bed.zones(), { [A]: NOW, [B]: NOW });
  assert.deepEqual(bed.fleet.story(), []);
});

test('zoneTrackerRecord() says what to do where the map is missing and may not be created', async () => {
  await using bed = await twoZones();
  bed.api.fault = ({ method, path }) =>
    method === 'POST' && /\/configmaps(?:\?|$)/.test(path) ? { status: 403 } : undefined;
  await bed.admin.create(
    resourceTypes.configMaps,
    { namespace: 'test' },
    { body: { metadata: { name: 'rollout-operator-claims' } } },
  );
  const denied = await bed.downscale(A, 3, 1);
  assert.ok(!denied.isAllowed);
  assert.equal(denied.message, refused('loading zones failed.'));
  assert.equal(denied.code, 429);
  assert.match(
    denied.causes?.[0]?.message ?? '',
    /^ConfigMap "test\/tracker" is missing, and the Role does not permit creating it: create it without data \(/,
  );
});

test('zoneTrackerRecord() takes a sibling without entry as never scaled down [admission 73]', async () => {
  await using bed = await twoZones(wait);
  await bed.storeZones({ [A]: entry(ago(hour)) });
  assert.deepEqual(await bed.downscale(A, 3, 1), allowed());
});

test('zoneTrackerRecord() reads the member in any letter case [admission 74]', async () => {
  await using bed = await twoZones(wait);
  await bed.storeZones({ [B]: `{"LastDownscaled":"${ago(hour)}"}` });
  const decision = await bed.downscale(A, 3, 1);
  assert.match(decision.message ?? '', /downscaled at 2025-12-31 23:00:00 \+0000 UTC/);
});

test('zoneTrackerRecord() leaves a corrupt entry of another group alone (D-21) [admission 75]', async () => {
  await using bed = await twoZones(wait);
  await bed.storeZones({ elsewhere: 'no JSON', [B]: entry(ago(13 * hour)) });
  assert.deepEqual(await bed.downscale(A, 3, 1), allowed());
  assert.deepEqual(await bed.zones(), {
    elsewhere: 'no JSON',
    [A]: NOW,
    [B]: entry(ago(13 * hour)),
  });
});

for (const corrupt of ['no JSON', '5', '"x"', '{"lastDownscaled":5}']) {
  test(`zoneTrackerRecord() denies for a sibling's entry ${corrupt}, and waits for it as for now`, async () => {
    await using bed = await twoZones();
    await bed.storeZones({ [B]: corrupt });
    assert.deepEqual(
      await bed.downscale(A, 3, 1),
      deny(refused('loading zones failed.'), 'Unreadable'),
    );
    assert.deepEqual(await bed.zones(), { [B]: NOW });
    assert.deepEqual(await bed.downscale(A, 3, 1), allowed());
  });
}

for (const at of ['', 'yesterday']) {
  test(`zoneTrackerRecord() denies for a sibling's time ${JSON.stringify(at)}, and waits for it as for now [admission 76]`, async () => {
    await using bed = await twoZones();
    await bed.storeZones({ [B]: entry(at) });
    const tail = 'parsing parsing downscale timestamps from the zone ConfigMap failed.';
    assert.deepEqual(await bed.downscale(A, 3, 1), deny(refused(tail), 'Unreadable'));
    assert.deepEqual(await bed.zones(), { [B]: NOW });
  });
}

test('zoneTrackerRecord() overwrites its own corrupt entry', async () => {
  await using bed = await twoZones();
  await bed.storeZones({ [A]: 'no JSON' });
  assert.deepEqual(await bed.downscale(A, 3, 1), allowed());
  assert.deepEqual(await bed.zones(), { [A]: NOW });
});

test('zoneTrackerRecord() denies when the map cannot be read (D-25)', async () => {
  await using bed = await twoZones();
  bed.api.fault = ({ path }) => (isOfTracker(path) ? { status: 403 } : undefined);
  const decision = await bed.downscale(A, 3, 1);
  assert.equal(decision.isAllowed, false);
  assert.deepEqual([decision.message, decision.code], [refused('loading zones failed.'), 403]);
  assert.deepEqual(bed.fleet.story(), []);
});

test('zoneTrackerRecord() takes the preparation back when the map cannot be written (D-25) [admission 77]', async () => {
  await using bed = await twoZones();
  await bed.storeZones({ [A]: entry(ago(hour)) });
  bed.api.fault = ({ method, path }) =>
    method === 'PUT' && isOfTracker(path) ? { status: 500 } : undefined;
  const decision = await bed.downscale(A, 3, 1);
  assert.equal(decision.isAllowed, false);
  assert.deepEqual(
    [decision.message, decision.code],
    [refused('setting downscale timestamp in the zone ConfigMap failed.'), 429],
  );
  assert.deepEqual(bed.fleet.story(), [
    'POST ingester-zone-a-2',
    'POST ingester-zone-a-1',
    'DELETE ingester-zone-a-2',
    'DELETE ingester-zone-a-1',
  ]);
});

test('prepareDownscale() holds the group, and only it, while pods are called [admission 78, 79]', async () => {
  await using bed = await twoZones();
  bed.fleet.behave({ kind: 'never' }, `${A}-2`);
  const first = bed.begin(bed.prepareDownscale, await bed.downscaleRequest(A, 3, 1));
  await bed.fleet.received(1);
  const tail = 'statefulset ingester-zone-a is already in process of updating replicas';
  assert.deepEqual(await bed.downscale(B, 3, 1), deny(refused(tail, B)));
  const labels = { ...prepared.labels, 'rollout-group': 'elsewhere' };
  await bed.store({ name: 'other', ...prepared, labels });
  assert.deepEqual(await bed.downscale('other', 3, 1), allowed('other'));
  first.leave();
  assert.equal((await first.decision).isAllowed, false);
  // What hangs once more hangs until the pod's own timeout.
  await bed.clock.advance(seconds(5));
  await Promise.all(bed.background);
  assert.deepEqual(await bed.downscale(B, 3, 1), allowed(B));
});

test('zoneTrackerRecord() creates the map for a set in no group [admission 80]', async () => {
  await using bed = await AdmissionBed.open({ isZoneTracked: true });
  const labels = { 'grafana.com/prepare-downscale': 'true' };
  await bed.store({ name: A, ...prepared, labels });
  assert.deepEqual(await bed.downscale(A, 3, 1), allowed());
  assert.deepEqual(await bed.zones(), { [A]: NOW });
});

test('zoneTrackerRecord() keeps the entries of others when a set is in no group', async () => {
  await using bed = await AdmissionBed.open({ isZoneTracked: true });
  await bed.storeZones({ elsewhere: entry(ago(hour)) });
  await bed.store({ name: A, ...prepared, labels: { 'grafana.com/prepare-downscale': 'true' } });
  assert.deepEqual(await bed.downscale(A, 3, 1), allowed());
  assert.deepEqual(await bed.zones(), { elsewhere: entry(ago(hour)), [A]: NOW });
});

test('prepareDownscale() does not touch the map in a dry run [admission 81]', async () => {
  await using bed = await AdmissionBed.open({ isZoneTracked: true });
  const set = { name: A, ...prepared };
  const request = updateRequest(setObject(set), setObject({ ...set, replicas: 1 }), {
    isDryRun: true,
  });
  assert.deepEqual(await bed.review(bed.prepareDownscale, request), { isAllowed: true });
  assert.deepEqual(bed.api.requests, []);
  assert.equal(await bed.zones(), undefined);
});

test('zoneTrackerRecord() keeps the labels of the map [admission 82]', async () => {
  await using bed = await twoZones();
  await bed.storeZones({}, { team: 'storage' });
  assert.deepEqual(await bed.downscale(A, 3, 1), allowed());
  const { metadata } = await bed.admin.get(resourceTypes.configMaps, {
    namespace: 'test',
    name: 'tracker',
  });
  assert.deepEqual(metadata.labels, { team: 'storage' });
});

/** Lets another client write to the map just before our own first write. */
function interfere(bed: AdmissionBed, data: Readonly<Record<string, string>>): void {
  let isDone = false;
  const write = { body: { kind: 'merge', document: { data } } } as const;
  bed.api.beforeRequest = async ({ method, path }) => {
    if (isDone || method !== 'PUT' || !isOfTracker(path)) return;
    isDone = true;
    await bed.admin.patch(resourceTypes.configMaps, { namespace: 'test', name: 'tracker' }, write);
  };
}

test('zoneTrackerRecord() keeps what others write at the same time', async () => {
  await using bed = await twoZones();
  await bed.storeZones({ elsewhere: entry(ago(hour)) });
  interfere(bed, { elsewhere: NOW });
  assert.deepEqual(await bed.downscale(A, 3, 1), allowed());
  assert.deepEqual(await bed.zones(), { elsewhere: NOW, [A]: NOW });
});

test('zoneTrackerRecord() takes it back when another replica let a sibling go meanwhile', async () => {
  await using bed = await twoZones(wait);
  await bed.storeZones({ [B]: entry(ago(13 * hour)) });
  interfere(bed, { [B]: NOW });
  const decision = await bed.downscale(A, 3, 1);
  assert.match(decision.message ?? '', /statefulset ingester-zone-b was downscaled at 2026-01-01/);
  assert.equal(bed.fleet.story().filter((call) => call.startsWith('DELETE')).length, 2);
  assert.deepEqual(await bed.zones(), { [B]: NOW });
});
