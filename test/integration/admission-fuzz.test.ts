/** The short part of `npm run fuzz`, and all bodies that ever failed. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SeededRandom } from '#embedded-cluster/seeded-random.ts';
import { FuzzDesk } from '../fuzz/fuzz-desk.ts';
import { nextInput } from '../fuzz/review-inputs.ts';

const count = 2_000;
const corpus = fileURLToPath(new URL('../fuzz/corpus/*.body', import.meta.url));
const desk = new FuzzDesk();

for (const [name, target] of Object.entries(desk.targets)) {
  test(`FUZZ-1, FUZZ-2: ${name} answers ${count} generated bodies as promised`, async () => {
    const random = new SeededRandom(7).derive(name);
    for (let at = 0; at < count; at += 1) {
      const input = nextInput(random);
      assert.equal(await desk.problem(target, input), undefined, input.made);
    }
  });

  test(`FUZZ-2: ${name} answers the same to the same`, async () => {
    const random = new SeededRandom(8).derive(name);
    for (let at = 0; at < 200; at += 1) {
      const { body } = nextInput(random);
      assert.equal(await desk.answer(target, body), await desk.answer(target, body));
    }
  });

  test(`FUZZ-1, FUZZ-2: ${name} answers every body of the corpus as promised`, async () => {
    for (const path of globSync(corpus)) {
      const body = readFileSync(path);
      assert.equal(await desk.problem(target, { body, made: basename(path) }), undefined, path);
    }
  });
}
