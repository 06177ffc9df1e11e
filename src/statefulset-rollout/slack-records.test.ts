import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant } from '#base/units.ts';
import type { Patch } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import type { Thread } from '#notification/outbox-state.ts';
import { OutboxPlay, shown } from '#testing/outbox-play.ts';
import { silentLogger } from '#testing/silent-logger.ts';
import { SlackRecords } from './slack-records.ts';

const place = { namespace: 'demo', name: 'db' };
const stored: KubernetesObject = { metadata: { name: 'db', uid: 'uid-1', resourceVersion: '1' } };

/** A thread after `sent` of its calls. */
function threadAfter(sent: number): Thread {
  const play = new OutboxPlay();
  play.want({ pages: [shown('p'), shown('q'), shown('r')] });
  play.runTo(sent * 1_000 - 1);
  const [thread] = [...play.outbox.threads.values()];
  assert.ok(thread);
  return thread;
}

test('SlackRecords writes once at a time, and then only what is newest', async () => {
  const written: Patch[] = [];
  const answers: ((object: KubernetesObject) => void)[] = [];
  const records = new SlackRecords({
    client: {
      patch: (_type, _key, { body }) => {
        written.push(body);
        const { promise, resolve } = Promise.withResolvers<KubernetesObject>();
        answers.push(resolve);
        return promise;
      },
    },
    clock: { now: () => instant(0) },
    log: silentLogger,
    unseenRollouts: { answered: () => undefined },
    leads: () => true,
  });
  const pagesIn = (patch: Patch | undefined): number =>
    JSON.stringify(patch).match(/"index"/g)?.length ?? 0;
  for (const sent of [1, 2, 3]) records.store(place, threadAfter(sent));
  assert.deepEqual(written.map(pagesIn), [0]);
  answers[0]?.(stored);
  await new Promise(setImmediate);
  assert.deepEqual(written.map(pagesIn), [0, 2]);
  answers[1]?.(stored);
  await records.idle();
  assert.equal(written.length, 2);
});
