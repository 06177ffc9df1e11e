import assert from 'node:assert/strict';
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
