/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the assertion */
/** Watches of a server that has forgotten, for every cluster. */
import assert from 'node:assert/strict';
import type { Scenario } from '../rollouts.ts';

/** Keyed by a sentence. */
export const watches: Readonly<Record<string, Scenario>> = {
  '[cluster 18] a watch from what the server has forgotten is told 410 on an answer of 200': {
    needs: ['disturbance'],
    act: async (env) => {
      const path = `/api/v1/namespaces/${env.namespace}/configmaps`;
      const { body } = await env.ask('POST', path, { metadata: { name: 'a' } });
      await env.ask('PATCH', `${path}/a`, { data: { k: 'v' } });
      await env.forgetEvents();
      const from: string = body.metadata.resourceVersion;
      const { status, body: event } = await env.ask(
        'GET',
        `${path}?watch=1&resourceVersion=${from}`,
      );
      assert.equal(status, 200);
      const { type, object } = event;
      assert.deepEqual([type, object.code, object.reason], ['ERROR', 410, 'Expired']);
      assert.match(object.message, /^too old resource version: \d+ \(\d+\)$/);
    },
  },
};
