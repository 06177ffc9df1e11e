/**
 * Posts generated bodies to every webhook and compares the answers with the oracle (FUZZ-1, FUZZ-2); and then to
 * prepare-downscale, where pods and API server answer as generated, too, and compares all effects with theirs.
 *
 *     npm run do -- fuzz [--count 200000] [--seed 1]
 *
 * A body that breaks a rule is kept in test/fuzz/corpus, which `npm test` posts again.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SeededRandom } from '#cluster/seeded-random.ts';
import { preparations } from './fuzzed-preparation.ts';
import { FuzzedWebhooks } from './fuzzed-webhooks.ts';
import type { FuzzInput } from './raw-inputs.ts';
import { nextInput } from './review-inputs.ts';
import { type WebhookName, webhookNames } from './review-oracle.ts';

/** CPU time that one body may take, in milliseconds (FUZZ-1). */
const maxCpu = 100;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '1' },
  },
});

const webhooks = new FuzzedWebhooks();
let failures = 0;
for (const name of webhookNames) failures += await fuzz(name);
failures += await fuzzPreparation();
process.exitCode = failures === 0 ? 0 : 1;

async function fuzz(name: WebhookName): Promise<number> {
  const count = Number(values.count);
  const random = new SeededRandom(Number(values.seed)).derive(name);
  const start = performance.now();
  let failed = 0;
  let slowest = 0;
  for (let at = 0; at < count; at += 1) {
    const input = nextInput(random);
    const before = process.cpuUsage();
    await webhooks.post(name, input.body);
    const { user, system } = process.cpuUsage(before);
    const cpu = (user + system) / 1_000;
    slowest = Math.max(slowest, cpu);
    const problem = await webhooks.problem(name, input.body);
    const what = problem ?? (cpu > maxCpu ? `it took ${cpu.toFixed(0)} ms of CPU` : undefined);
    if (what === undefined) continue;
    failed += 1;
    if (failed <= 10) report(name, input, what);
  }
  const took = (performance.now() - start) / 1_000;
  process.stdout.write(
    `${name}: ${count} bodies in ${took.toFixed(0)} s, ${failed} failed, slowest ${slowest.toFixed(0)} ms of CPU\n`,
  );
  return failed;
}

async function fuzzPreparation(): Promise<number> {
  const { count, seed } = values;
  const begun = performance.now();
  const found = await preparations(Number(count), new SeededRandom(Number(seed)));
  const took = (performance.now() - begun) / 1_000;
  for (const problem of found.problems.slice(0, 10)) process.stdout.write(`${problem}\n`);
  const failed = found.problems.length;
  process.stdout.write(
    `prepare-downscale with pods: ${count} bodies in ${took.toFixed(0)} s, ${found.called} led to calls, ${found.allowed} of them were allowed, ${failed} failed\n`,
  );
  return failed;
}

function report(name: string, { body, made }: FuzzInput, what: string): void {
  const folder = join(import.meta.dirname, 'corpus');
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}-${hash}.body`), body);
  process.stdout.write(`${name}: ${what}: ${made}: corpus/${name}-${hash}.body\n`);
}
