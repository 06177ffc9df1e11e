import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEnvironment } from './virtual-environment.ts';

test('try', async () => {
  const env = await startEnvironment();
  console.log('started', env.clock.now(), env.log.lines);
  await env.createSet();
  const t0 = env.clock.now();
  try { await env.clock.runUntilIdle({maxSteps: 300}); } catch (e) { console.log(String(e)); }
  console.log('idle after', env.clock.now() - t0, env.log.lines);
  for (const c of env.cluster.eventLog.commits) console.log(c.at - t0, c.verb, c.resource, c.name, c.user);
  console.log(JSON.stringify(env.stored('pods').get('db-0'), null, 1));
  console.log(JSON.stringify(env.stored('statefulsets.apps').get('db')?.['status'], null, 1));
  assert.equal(env.stored('pods').size, 3);
  await env.close();
});
