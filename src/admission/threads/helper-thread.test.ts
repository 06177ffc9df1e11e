import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { selfSigned } from '#embedded-cluster/self-signed.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { noClusterValidation } from '#testing/no-cluster-validation.ts';
import { HelperThread } from './helper-thread.ts';
import type { ThreadSettings } from './messages.ts';

const clock = systemClock();

async function settings(host: string): Promise<ThreadSettings> {
  return {
    port: 0,
    host,
    certificate: await selfSigned(clock.now()),
    log: { format: 'logfmt', level: 'error' },
    clusterValidation: noClusterValidation,
    requestTimeout: seconds(1),
    drain: seconds(0),
    bodyRoom: 1_000,
  };
}

function start(program?: string): HelperThread {
  const given = { clock, endpoints: [], enter: () => undefined };
  return new HelperThread(program === undefined ? given : { ...given, program: new URL(program) });
}

test('serve() says why a thread cannot listen', async () => {
  const thread = start();
  // An address for documentation, which no machine has (RFC 5737).
  await assert.rejects(thread.serve(await settings('192.0.2.1')), {
    message: /^Cannot serve webhooks on port 0: .*EADDRNOTAVAIL/,
  });
  await thread.close();
});

test('failed tells what a thread did not survive', async () => {
  const thread = start('data:text/javascript,throw new Error("no more")');
  await assert.rejects(thread.failed, { message: 'no more' });
  await thread.close();
});

/** Nothing else would end a test whose thread is not missed. */
const timeout = 10_000;

test('failed tells that a thread has ended by itself', { timeout }, async () => {
  const thread = start('data:text/javascript,process.exit(3)');
  const message = 'A thread that answers reviews has ended with 3';
  await assert.rejects(thread.failed, { message });
  await assert.rejects(thread.serve(await settings('127.0.0.1')), { message });
  await thread.close();
});

test('failed tells nothing of a thread that was closed', async () => {
  const thread = start();
  await thread.serve(await settings('127.0.0.1'));
  await thread.close();
  assert.equal(await Promise.race([thread.failed, Promise.resolve('no failure')]), 'no failure');
});
