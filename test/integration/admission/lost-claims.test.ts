/** Claims of prepare-downscale that a user deletes or overwrites. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ClaimSightings } from '#admission/claim/claim-sightings.ts';
import { monotonic, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { AdmissionBed, type Replica } from '#support/admission/admission-bed.ts';
import { prepared } from '#support/admission/admission-requests.ts';

const A = 'ingester-zone-a';
const B = 'ingester-zone-b';

async function twoZones(): Promise<AdmissionBed> {
  const bed = await AdmissionBed.open();
  for (const name of [A, B]) await bed.store({ name, ...prepared });
  return bed;
}

async function isAllowed(
  bed: AdmissionBed,
  { prepareDownscale }: Pick<Replica, 'prepareDownscale'>,
  name: string,
): Promise<boolean> {
  const request = await bed.downscaleRequest(name, 3, 1);
  return (await bed.review(prepareDownscale, request)).isAllowed;
}

async function deleteClaims(bed: AdmissionBed): Promise<void> {
  const key = { namespace: 'test', name: 'rollout-operator-claims' };
  await bed.admin.delete(resourceTypes.configMaps, key, { preconditions: {} });
}

for (const asked of ['the replica that allowed it', 'another that has seen the claim']) {
  test(`a ConfigMap of claims that is deleted just after a scale-down was allowed does not let ${asked} allow a second zone for 30 s`, async () => {
    await using bed = await twoZones();
    const second = bed.replica('replica-2');
    const replica = asked.startsWith('another') ? second : bed;
    assert.equal(await isAllowed(bed, bed, A), true);
    assert.equal(await isAllowed(bed, second, B), false);
    await deleteClaims(bed);
    assert.equal(await isAllowed(bed, replica, B), false);
    await bed.clock.advance(29_999);
    assert.equal(await isAllowed(bed, replica, B), false);
    await bed.clock.advance(1);
    assert.equal(await isAllowed(bed, replica, B), true);
  });
}

test('a claim that was deleted is put back when a second review of its set is denied', async () => {
  await using bed = await twoZones();
  assert.equal(await isAllowed(bed, bed, A), true);
  const allowed = await bed.claims();
  await deleteClaims(bed);
  bed.fleet.behave({ kind: 'answer', status: 500 }, `${A}-2`);
  assert.equal(await isAllowed(bed, bed, A), false);
  assert.deepEqual(await bed.claims(), allowed);
  assert.equal(await isAllowed(bed, bed.replica('replica-2'), B), false);
});

test('a claim that was deleted while a second review of its set went on holds its group, also where that is denied', async () => {
  await using bed = await twoZones();
  const second = bed.replica('replica-2');
  assert.equal(await isAllowed(bed, bed, A), true);
  assert.equal(await isAllowed(bed, second, B), false);
  bed.fleet.behave({ kind: 'never' });
  const again = bed.begin(bed.prepareDownscale, await bed.downscaleRequest(A, 3, 1));
  await bed.fleet.received(3);
  assert.equal(await isAllowed(bed, second, B), false);
  await deleteClaims(bed);
  bed.fleet.behave({ kind: 'application' });
  await bed.clock.advance(seconds(5));
  assert.equal((await again.decision).isAllowed, false);
  await Promise.all(bed.background);
  assert.equal(await isAllowed(bed, second, B), false);
  assert.equal(await isAllowed(bed, bed, B), false);
});

test('a claim that was deleted holds its group no longer than its set is shrinking', async () => {
  await using bed = await twoZones();
  assert.equal(await isAllowed(bed, bed, A), true);
  await deleteClaims(bed);
  assert.equal(await isAllowed(bed, bed, B), false);
  const key = { namespace: 'test', name: A };
  await bed.admin.delete(resourceTypes.statefulSets, key, { preconditions: {} });
  assert.equal(await isAllowed(bed, bed, B), true);
});

test('texts of 1 MB that a user writes ten times a second are not kept', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const sightings = new ClaimSightings();
  const used = (): number => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  for (let turn = 0; turn < 600; turn += 1) {
    const text = Buffer.alloc(1_000_000, `${turn} `).toString('latin1');
    sightings.see(new Map([['ingester', text]]), monotonic(turn * 100));
  }
  const grown = used() - before;
  assert.equal(sightings.watched('ingester', undefined, monotonic(0)), 0);
  assert.ok(grown < 64 * 2 ** 20, `${Math.round(grown / 2 ** 20)} MiB more`);
});
