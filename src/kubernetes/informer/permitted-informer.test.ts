import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, monotonic, seconds } from '#base/units.ts';
import { FakeInformer } from '#support/api-server/fake-informer.ts';
import { type FakeAnswer, FakeTransport } from '#support/api-server/fake-transport.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { createClient } from '../http-client.ts';
import { resourceTypes } from '../resource-type.ts';
import { PermittedInformer, type TypeSight } from './permitted-informer.ts';

const type = resourceTypes.phasedRollouts;

/** An informer under a server that answers reviews by `answers` in turn, the last for ever. */
function setup(answers: readonly FakeAnswer[], askAgain?: Millis) {
  const clock = new ManualClock();
  const asked: unknown[] = [];
  const transport = new FakeTransport(({ body }): FakeAnswer => {
    const { spec } = JSON.parse(body ?? '{}') as { spec?: { resourceAttributes: unknown } };
    asked.push(spec?.resourceAttributes ?? 'a list');
    return answers[Math.min(asked.length, answers.length) - 1] ?? { status: 500 };
  });
  const client = createClient({ transport, clock, timeout: seconds(0), userAgent: 'test/1' });
  const project = (): never => {
    throw new Error('Nothing is listed');
  };
  const informer = new FakeInformer<never>({ clock, type, project, indexers: {} });
  const permitted = new PermittedInformer({ client, clock, informer, namespace: 'demo', askAgain });
  const seen: TypeSight[] = [];
  permitted.onState(() => seen.push(permitted.sight));
  return { clock, informer, permitted, seen, asked };
}

const allowed: FakeAnswer = { body: { status: { allowed: true } } };
const denied: FakeAnswer = { body: { status: { allowed: false } } };
const proven = Promise.resolve();

test('PermittedInformer asks once where its type is to be listed, and runs at once where that is permitted', async () => {
  const { permitted, seen, asked } = setup([allowed]);
  assert.equal(permitted.sight, 'asking');
  await permitted.run(proven, new AbortController().signal);
  await permitted.settled;
  assert.deepEqual(seen, ['known']);
  assert.deepEqual(asked, [
    { verb: 'list', group: 'sts.plus', resource: 'phasedrollouts', namespace: 'demo' },
  ]);
});

test('PermittedInformer believes a denial only of a server that knows the Role, and then asks no more', async () => {
  const { permitted, asked, clock } = setup([denied]);
  const late = Promise.withResolvers<void>();
  const ending = new AbortController();
  const running = permitted.run(late.promise, ending.signal);
  await clock.yield();
  assert.equal(permitted.sight, 'asking');
  late.resolve();
  await permitted.settled;
  assert.equal(permitted.sight, 'denied');
  assert.equal(clock.pendingTimers, 0);
  ending.abort();
  await running;
  assert.equal(asked.length, 2);
});

test('PermittedInformer asks again after a while where that is wanted, until it is permitted', async () => {
  const { permitted, clock, seen } = setup([denied, denied, denied, allowed], seconds(60));
  const running = permitted.run(proven, new AbortController().signal);
  await permitted.settled;
  clock.advance(seconds(60));
  await clock.yield();
  assert.deepEqual(seen, ['denied']);
  clock.advance(seconds(60));
  await running;
  assert.deepEqual(seen, ['denied', 'known']);
});

test('PermittedInformer ends by its signal while it is denied', async () => {
  const { permitted, clock } = setup([denied], seconds(60));
  const ending = new AbortController();
  const running = permitted.run(proven, ending.signal);
  await permitted.settled;
  ending.abort();
  await running;
  assert.equal(clock.pendingTimers, 0);
  assert.equal(permitted.sight, 'denied');
});

test('PermittedInformer asks again, once the server knows the Role, what a server that has just started refuses to review', async () => {
  const refused: FakeAnswer = { status: 403, body: {} };
  // A review and a list that are refused as long as no Role is known, then an answer.
  const { permitted, asked, clock } = setup([refused, refused, denied]);
  const late = Promise.withResolvers<void>();
  const ending = new AbortController();
  const running = permitted.run(late.promise, ending.signal);
  await clock.yield();
  assert.equal(permitted.sight, 'asking');
  late.resolve();
  await permitted.settled;
  assert.equal(permitted.sight, 'denied');
  assert.deepEqual(asked.slice(1), ['a list', asked[0]]);
  ending.abort();
  await running;
});

test('PermittedInformer takes for denied what it may neither review nor list', async () => {
  const { permitted } = setup([{ status: 403, body: {} }]);
  const ending = new AbortController();
  const running = permitted.run(proven, ending.signal);
  await permitted.settled;
  assert.equal(permitted.sight, 'denied');
  ending.abort();
  await running;
});

test('PermittedInformer tries what cannot be found out', async () => {
  const { permitted } = setup([{ status: 500 }]);
  await permitted.run(proven, new AbortController().signal);
  assert.equal(permitted.sight, 'known');
});

test('PermittedInformer tells that its type is absent, and then being listed', async () => {
  const { permitted, informer } = setup([allowed]);
  informer.absence = { provenAt: monotonic(0) };
  await permitted.run(proven, new AbortController().signal);
  await permitted.settled;
  assert.equal(permitted.sight, 'absent');
  informer.absence = undefined;
  informer.hasSynced = false;
  assert.equal(permitted.sight, 'listing');
});
