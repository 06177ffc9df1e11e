/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the assertion */
/** Holds new sets and pods to what kube-apiserver 1.36.3 made of the same bodies (golden/defaults.json). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { newEnv } from './protocol-env.ts';

const golden: Readonly<
  Record<string, { readonly path: string; readonly given: JsonObject; readonly stored: JsonObject }>
> = JSON.parse(readFileSync(new URL('golden/defaults.json', import.meta.url), 'utf8'));

/** What two servers choose freely. */
const free = ['uid', 'resourceVersion', 'creationTimestamp'];

test('[cluster 27] the defaults of sets and pods are those of the real server', async (t) => {
  for (const [fact, { path, given, stored }] of Object.entries(golden)) {
    await t.test(fact, async () => {
      const env = await newEnv();
      const { status, body } = await env.send('POST', path, given);
      assert.equal(status, 201);
      const metadata = Object.entries(body.metadata).filter(([member]) => !free.includes(member));
      assert.deepEqual({ ...body, metadata: Object.fromEntries(metadata) }, stored);
    });
  }
});
