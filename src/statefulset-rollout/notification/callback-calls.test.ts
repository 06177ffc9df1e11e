import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noCallback } from '../callback-progress.ts';
import { parseRollout } from '../parse-resource.ts';
import { noProgress, type RolloutProgress } from '../progress.ts';
import type { EndedRollout } from './callback-attempts.ts';
import { CallbackCalls } from './callback-calls.ts';

const metadata = { namespace: 'a', name: 'db', uid: 'u', resourceVersion: '1' };
const rollout = parseRollout({ metadata });

function endedOf(stageId: string): EndedRollout {
  const progress = { ...noProgress, key: stageId, callback: { ...noCallback, stageId } };
  return { rollout, progress };
}

/** Whether the first of two calls has arrived, and what is said of it once the second one is made. */
async function saidOf(isDelivered: boolean): Promise<readonly (string | undefined)[]> {
  const answers: ((progress: RolloutProgress | undefined) => void)[] = [];
  const calls = new CallbackCalls({
    attempts: {
      bodyOf: () => '{}',
      attempt: (_, signal) => {
        const { promise, resolve } = Promise.withResolvers<RolloutProgress | undefined>();
        signal.addEventListener('abort', () => resolve(undefined));
        answers.push(resolve);
        return promise;
      },
    },
    wake: () => undefined,
  });
  const { signal } = new AbortController();
  const [first, second] = [endedOf('one'), endedOf('two')];
  const said: (string | undefined)[] = [];
  assert.equal(calls.take(first, signal), undefined);
  calls.superseded('u', first.progress, (stageId) => void said.push(stageId));
  assert.equal(calls.take(second, signal), undefined);
  answers[0]?.({ ...first.progress, ...(isDelivered && { deliveredStage: 'one' }) });
  await calls.close();
  return said;
}

test('CallbackCalls lets a call end that another outcome follows, and says nothing where it was delivered', async () => {
  assert.deepEqual(await saidOf(true), []);
});

test('CallbackCalls says of a call that another outcome follows that it was not delivered', async () => {
  assert.deepEqual(await saidOf(false), ['one']);
});
