import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import {
  type Environment,
  startEnvironment,
  templateOf,
} from '../../test/integration/stages/virtual-environment.ts';

/** PF-1: pods of one set through create and rollout in virtual time; prints wall time and memory. */
async function timed(env: Environment, what: string, isDone: () => boolean): Promise<void> {
  const wall = performance.now();
  const cpu = process.cpuUsage();
  const virtual = env.clock.now();
  await env.clock.runUntil(isDone, { maxSteps: 10_000_000 });
  const took = (performance.now() - wall) / 1_000;
  const used = process.cpuUsage(cpu);
  const busy = (used.user + used.system) / 1_000_000;
  const passed = (env.clock.now() - virtual) / 1_000;
  const memory = process.memoryUsage().rss / 1_048_576;
  process.stdout.write(
    `${what}: ${took.toFixed(1)} s wall, ${busy.toFixed(1)} s CPU, ${passed.toFixed(1)} s virtual, ${memory.toFixed(0)} MiB RSS\n`,
  );
}

async function run(policy: string, replicas: number): Promise<void> {
  const env = await startEnvironment();
  env.cluster.eventLog.stopRecording();
  const spec: JsonObject = { replicas, podManagementPolicy: policy };
  await env.createSet(spec);
  const has = (member: 'readyReplicas' | 'updatedReplicas'): boolean => {
    const status = env.stored('statefulsets.apps').get('db')?.['status'];
    return JSON.stringify(status).includes(`"${member}":${replicas}`);
  };
  await timed(env, `${policy} create ${replicas}`, () => has('readyReplicas'));
  await env.patchSet({ spec: { template: templateOf('db:2') } });
  await env.clock.advance(seconds(1));
  await timed(env, `${policy} rollout ${replicas}`, () => {
    return has('updatedReplicas') && has('readyReplicas');
  });
  await env.close();
}

const replicas = Number(process.argv[2] ?? 1_000);
await run('OrderedReady', replicas);
await run('Parallel', replicas);
