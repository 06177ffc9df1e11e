import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InformerRig } from '#support/api-server/informer-rig.ts';
import { RefusedError } from '#support/api-server/scripted-client.ts';
import type { ListQuery, ListResult } from '../client.ts';

const never = new AbortController().signal;

/** A rig whose type the server does not serve, with nothing asked for yet since it knows. */
async function absentRig(): Promise<InformerRig> {
  const rig = new InformerRig({ isAbsentAllowed: true });
  rig.server.refusals = [new RefusedError(404), new RefusedError(404)];
  await rig.run();
  rig.client.calls.length = 0;
  return rig;
}

/** Lets lists of `rig` wait for `answer`, which is called with what the server has to say by then. */
function heldList(rig: InformerRig): { readonly held: (() => void)[] } {
  const held: (() => void)[] = [];
  const { server } = rig;
  rig.client.script = {
    list: (query: ListQuery) =>
      new Promise<ListResult>((resolve, reject) => {
        held.push(() => {
          try {
            resolve(server.list(query));
          } catch (error) {
            reject(error);
          }
        });
      }),
    watch: (query, stream) => server.watch(query, stream),
  };
  return { held };
}

test('absence says when the list was sent that the server answered by 404 (D-51)', async () => {
  const rig = new InformerRig({ isAbsentAllowed: true });
  assert.equal(rig.informer.absence, undefined);
  await rig.clock.advance(5_000);
  rig.server.refusals = [new RefusedError(404), new RefusedError(404)];
  await rig.run();
  assert.deepEqual(rig.informer.absence, { provenAt: 5_000 });
  rig.server.refusals = [new RefusedError(404)];
  await rig.clock.advance(30_000);
  assert.deepEqual(rig.informer.absence, { provenAt: 35_000 });
  await rig.finish();
});

test('look() proves anew, by one request, that the type is absent', async () => {
  const rig = await absentRig();
  await rig.clock.advance(12_000);
  rig.server.refusals = [new RefusedError(404)];
  await rig.informer.look(never);
  assert.deepEqual(rig.informer.absence, { provenAt: 12_000 });
  assert.deepEqual(rig.client.calls, [{ verb: 'list', query: { namespace: 'demo', limit: 1 } }]);
  await rig.finish();
});

test('look() dates the proof from the sending of its request, not from the answer', async () => {
  const rig = await absentRig();
  const { held } = heldList(rig);
  await rig.clock.advance(12_000);
  rig.server.refusals = [new RefusedError(404)];
  const looked = rig.informer.look(never);
  await rig.clock.advance(3_000);
  held.shift()?.();
  await looked;
  assert.deepEqual(rig.informer.absence, { provenAt: 12_000 });
  await rig.finish();
});

test('look() lists at once a type that has appeared, which has not synced until the list is whole', async () => {
  const rig = await absentRig();
  const states: string[] = [];
  const { informer } = rig;
  informer.onState(() => states.push(`synced ${informer.hasSynced} absent ${informer.isAbsent}`));
  await rig.clock.advance(12_000);
  const { held } = heldList(rig);
  const looked = informer.look(never);
  held.shift()?.();
  await looked;
  assert.equal(informer.isAbsent, false);
  assert.equal(informer.absence, undefined);
  assert.equal(informer.hasSynced, false);
  await rig.clock.settle();
  assert.equal(held.length, 1);
  held.shift()?.();
  await rig.clock.settle();
  assert.equal(informer.hasSynced, true);
  assert.deepEqual(rig.cached(), rig.stored());
  assert.deepEqual(states, ['synced false absent false', 'synced true absent false']);
  await rig.finish();
});

test('look() of many shares one request, and a caller that leaves leaves it to the others', async () => {
  const rig = await absentRig();
  const { held } = heldList(rig);
  const leave = new AbortController();
  const left = assert.rejects(rig.informer.look(leave.signal), /left/);
  const looks = [rig.informer.look(never), rig.informer.look(never)];
  leave.abort(new Error('left'));
  await left;
  rig.server.refusals = [new RefusedError(404)];
  for (const answer of held.splice(0)) answer();
  await Promise.all(looks);
  assert.equal(rig.client.calls.length, 1);
  await rig.finish();
});

test('look() asks nothing while the type is served', async () => {
  const rig = new InformerRig({ isAbsentAllowed: true });
  await rig.run();
  rig.client.calls.length = 0;
  await rig.informer.look(never);
  assert.deepEqual(rig.client.calls, []);
  await rig.finish();
});

for (const status of [403, 500, 503]) {
  test(`look() that is answered ${status} throws, and leaves the absence as old as it was`, async () => {
    const rig = await absentRig();
    await rig.clock.advance(12_000);
    rig.server.refusals = [new RefusedError(status)];
    await assert.rejects(rig.informer.look(never), new RegExp(String(status)));
    assert.deepEqual(rig.informer.absence, { provenAt: 0 });
    await rig.finish();
  });
}

/** Asserts that the type has appeared, and has synced when the next of the `held` answers has come and not before. */
async function assertSyncsByNext(
  rig: Awaited<ReturnType<typeof absentRig>>,
  held: ReturnType<typeof heldList>['held'],
): Promise<void> {
  assert.equal(rig.informer.isAbsent, false);
  assert.equal(rig.informer.hasSynced, false);
  held.shift()?.();
  await rig.clock.settle();
  assert.equal(rig.informer.hasSynced, true);
  assert.deepEqual(rig.cached(), rig.stored());
  await rig.finish();
}

test('look() is not undone by the late answer of a list that was sent before the type appeared', async () => {
  const rig = await absentRig();
  const { held } = heldList(rig);
  await rig.clock.advance(30_000);
  assert.equal(held.length, 1);
  await rig.clock.advance(1_000);
  const looked = rig.informer.look(never);
  held.pop()?.();
  await looked;
  rig.server.refusals = [new RefusedError(404)];
  held.shift()?.();
  await rig.clock.settle();
  await assertSyncsByNext(rig, held);
});

test('a type that appears by itself has not synced while its pages come', async () => {
  const rig = await absentRig();
  const { held } = heldList(rig);
  rig.server.pageSize = 1;
  await rig.clock.advance(30_000);
  held.shift()?.();
  await rig.clock.settle();
  await assertSyncsByNext(rig, held);
});

test('onState() tells that a type was uninstalled', async () => {
  const rig = new InformerRig({ isAbsentAllowed: true });
  await rig.run();
  const states: boolean[] = [];
  rig.informer.onState(() => states.push(rig.informer.isAbsent));
  rig.server.refusals = [404, 404, 404].map((status) => new RefusedError(status));
  rig.client.watching.end();
  await rig.clock.advance(300);
  assert.deepEqual(states, [true]);
  await rig.finish();
});
