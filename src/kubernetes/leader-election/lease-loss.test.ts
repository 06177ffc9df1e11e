import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeaseWorld } from '#support/api-server/lease-world.ts';

/** A process that leads, and then for so many requests is not served. */
async function lost(failures: number): Promise<LeaseWorld> {
  const world = new LeaseWorld();
  const failed = Array.from({ length: failures }, () => ({ outcome: 'unapplied-500' }) as const);
  const a = world.start('a', { fates: [{}, {}, {}, ...failed] });
  await world.run(20_000);
  assert.equal(a.election.state.kind, 'lost');
  return world;
}

test('a term that was lost is given up all the same when nothing of it is under way, and spares the next one its wait', async () => {
  const world = await lost(8);
  const [a] = world.candidates;
  const ended = a?.election.end({ isClean: true });
  await world.run(60_000);
  await ended;
  assert.deepEqual(a?.election.state, { kind: 'ended', isClean: true });
  const b = world.start('b');
  await world.run(5_000);
  const { state } = b.election;
  assert.equal(state.kind === 'leading' && state.predecessor.kind, 'ended');
});

test('a term that was lost is not given up when something of it is under way', async () => {
  const world = await lost(8);
  const [a] = world.candidates;
  const ended = a?.election.end({ isClean: false });
  await world.run(60_000);
  await ended;
  const b = world.start('b');
  await world.run(30_000);
  const { state } = b.election;
  assert.equal(state.kind === 'leading' && state.predecessor.kind, 'unclean');
});

test('a term that was lost is not given up once another one has begun [WRIT-1]', async () => {
  const world = await lost(8);
  const [a] = world.candidates;
  const b = world.start('b');
  await world.run(30_000);
  assert.equal(b.election.state.kind, 'leading');
  const before = world.requestsOf('a').length;
  const ended = a?.election.end({ isClean: true });
  await world.run(60_000);
  await ended;
  assert.deepEqual(a?.election.state, { kind: 'ended', isClean: false });
  assert.equal(world.requestsOf('a').slice(before).join(' ').includes('update'), false);
  assert.deepEqual(world.holders(), ['b']);
});

test('a term that was lost is tried to be given up for a minute, and no longer', async () => {
  const world = await lost(1_000);
  const [a] = world.candidates;
  const ended = a?.election.end({ isClean: true });
  await world.run(70_000);
  await ended;
  assert.deepEqual(a?.election.state, { kind: 'ended', isClean: false });
});
