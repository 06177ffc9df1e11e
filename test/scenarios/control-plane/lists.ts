/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the assertion */
/** Lists in pages, for every cluster. */
import assert from 'node:assert/strict';
import type { Answer, Env } from '../env.ts';
import type { Scenario } from '../rollouts.ts';

const BATCH = 50;

function pathOf(env: Env): string {
  return `/api/v1/namespaces/${env.namespace}/configmaps`;
}

function nameOf(index: number): string {
  return `c-${String(index).padStart(4, '0')}`;
}

/** Creates `count` ConfigMaps, some at a time. */
async function fill(env: Env, count: number): Promise<void> {
  const indexes = Array.from({ length: count }, (_, index) => index);
  for (let at = 0; at < count; at += BATCH) {
    const answers = indexes
      .slice(at, at + BATCH)
      .map((index) => env.ask('POST', pathOf(env), { metadata: { name: nameOf(index) } }));
    for (const { status } of await Promise.all(answers)) assert.equal(status, 201);
  }
}

function namesOf({ body }: Answer): readonly string[] {
  const items: readonly { readonly metadata: { readonly name: string } }[] = body.items;
  // Some clusters give every namespace a ConfigMap of their own.
  return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('c-'));
}

/** Keyed by a sentence. */
export const lists: Readonly<Record<string, Scenario>> = {
  '[cluster 15] 1,200 objects come in pages that show the state of the first, whatever is deleted in between':
    {
      act: async (env) => {
        await fill(env, 1_200);
        const first = await env.ask('GET', `${pathOf(env)}?limit=500`);
        const { remainingItemCount, resourceVersion } = first.body.metadata;
        assert.deepEqual([first.body.items.length, remainingItemCount >= 700], [500, true]);
        const seen = [...namesOf(first)];
        let token: string | undefined = first.body.metadata.continue;
        for (const gone of [699, 1_199]) {
          await env.ask('DELETE', `${pathOf(env)}/${nameOf(gone)}`);
          await env.ask('POST', pathOf(env), { metadata: { name: `${nameOf(gone)}-new` } });
          const page = await env.ask('GET', `${pathOf(env)}?limit=500&continue=${token}`);
          assert.equal(page.body.metadata.resourceVersion, resourceVersion);
          seen.push(...namesOf(page));
          token = page.body.metadata.continue;
        }
        assert.equal(token, undefined);
        assert.deepEqual(
          seen,
          Array.from({ length: 1_200 }, (_, index) => nameOf(index)),
        );
      },
    },
  '[cluster 15] a token from before a compaction is answered 410 with one that goes on from the present':
    {
      needs: ['disturbance'],
      act: async (env) => {
        await fill(env, 6);
        const first = await env.ask('GET', `${pathOf(env)}?limit=2`);
        const token: string = first.body.metadata.continue;
        await env.ask('DELETE', `${pathOf(env)}/${nameOf(4)}`);
        await env.forgetEvents();
        const expired = await env.ask('GET', `${pathOf(env)}?limit=2&continue=${token}`);
        assert.deepEqual([expired.status, expired.body.reason], [410, 'Expired']);
        const fresh: string = expired.body.metadata.continue;
        const rest = await env.ask('GET', `${pathOf(env)}?continue=${fresh}`);
        const seen = [...namesOf(first), ...namesOf(rest)];
        assert.deepEqual(seen, [0, 1, 2, 3, 5].map(nameOf));
      },
    },
};
