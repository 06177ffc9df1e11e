import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { embeddedEnv } from '../scenarios/embedded-env.ts';
import { rollouts } from '../scenarios/rollouts.ts';

describe('rollouts on the embedded cluster', () => {
  for (const [name, { needs = [], act }] of Object.entries(rollouts)) {
    test(name, async (context) => {
      const env = await embeddedEnv();
      const missing = needs.filter((feature) => !env.supports(feature));
      if (missing.length > 0) {
        context.skip(`the embedded cluster has no ${missing.join(', ')}`);
      } else {
        await act(env);
        const judgement = await env.judge();
        assert.equal(judgement.violations.length, 0, judgement.report());
      }
      await env.close();
    });
  }
});
