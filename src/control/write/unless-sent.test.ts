import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { isGivenUp, unlessSent } from './unless-sent.ts';

test('unlessSent() gives a request up that is to be sent once more after its signal aborted', () => {
  const ending = new AbortController();
  const asked: string[] = [];
  const { beforeSend, signal } = unlessSent(ending.signal, () => void asked.push('sent'));
  beforeSend();
  ending.abort();
  assert.throws(beforeSend, (error) => isGivenUp(error, ending.signal));
  assert.deepEqual(asked, ['sent']);
  assert.equal(signal.aborted, false);
});

test('unlessSent() leaves nothing on its signal once the request is sent, or kept here', () => {
  const lease = new AbortController();
  const overruled = new Error('not wanted any more');
  const kept = unlessSent(lease.signal, () => {
    throw overruled;
  });
  const sent = unlessSent(lease.signal);
  assert.throws(kept.beforeSend, overruled);
  sent.beforeSend();
  assert.deepEqual(getEventListeners(lease.signal, 'abort'), []);
});
