/** The short part of `npm run do fuzz`, and all bodies that ever failed. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SeededRandom } from '#cluster/seeded-random.ts';
import { preparations } from '../../fuzz/fuzzed-preparation.ts';
import { FuzzedWebhooks } from '../../fuzz/fuzzed-webhooks.ts';
import { nextInput } from '../../fuzz/review-inputs.ts';
import { webhookNames } from '../../fuzz/review-oracle.ts';

const count = 2_000;
const corpus = fileURLToPath(new URL('../../fuzz/corpus/*.body', import.meta.url));
const webhooks = new FuzzedWebhooks();

for (const name of webhookNames) {
  test(`FUZZ-1, FUZZ-2: ${name} answers ${count} generated bodies as the oracle says`, async () => {
    const random = new SeededRandom(7).derive(name);
    for (let at = 0; at < count; at += 1) {
      const { body, made } = nextInput(random);
      assert.equal(await webhooks.problem(name, body), undefined, made);
    }
  });

  test(`FUZZ-2: ${name} answers the same to the same`, async () => {
    const random = new SeededRandom(8).derive(name);
    for (let at = 0; at < 200; at += 1) {
      const { body } = nextInput(random);
      assert.deepEqual(await webhooks.post(name, body), await webhooks.post(name, body));
    }
  });

  test(`FUZZ-1, FUZZ-2: ${name} answers every body of the corpus as the oracle says`, async () => {
    for (const path of globSync(corpus)) {
      assert.equal(await webhooks.problem(name, readFileSync(path)), undefined, path);
    }
  });
}

test(`FUZZ-2: prepare-downscale does to pods and API server what its oracle permits, in ${count} worlds`, async () => {
  const { problems, called, allowed } = await preparations(count, new SeededRandom(9));
  assert.deepEqual(problems, []);
  assert.ok(called > allowed && allowed > 0, `${called} led to calls, ${allowed} were allowed`);
});
