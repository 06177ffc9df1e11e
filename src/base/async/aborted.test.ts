import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aborted } from './aborted.ts';

test('aborted() resolves for a signal that has aborted', async () => {
  assert.equal(await aborted(AbortSignal.abort()), undefined);
});

test('aborted() resolves when the signal aborts, and not before', async () => {
  const controller = new AbortController();
  const told: string[] = [];
  const ended = aborted(controller.signal).then(() => told.push('aborted'));
  await Promise.resolve();
  told.push('before');
  controller.abort(new Error('the end'));
  await ended;
  assert.deepEqual(told, ['before', 'aborted']);
});
