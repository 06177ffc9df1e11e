import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { budgets } from './budgets.ts';
import { ofTheServer } from './control-plane/of-the-server.ts';
import { limitedUpdates } from './control-plane/statefulsets.ts';
import { embeddedEnv } from './embedded-env.ts';
import { missing } from './env.ts';
import { rollouts } from './rollouts.ts';

describe('on the embedded cluster', () => {
  for (const [name, { needs, options, act }] of Object.entries({ ...rollouts, ...budgets })) {
    test(name, async (context) => {
      const env = await embeddedEnv(options);
      const reason = missing(env, needs);
      if (reason !== undefined) {
        context.skip(reason);
      } else {
        await act(env);
        const judgement = await env.judge();
        assert.equal(judgement.violations.length, 0, judgement.report());
      }
      await env.close();
    });
  }

  for (const [name, { needs, act }] of Object.entries(ofTheServer)) {
    test(name, async (context) => {
      const env = await embeddedEnv({ zones: [] });
      const reason = missing(env, needs);
      if (reason !== undefined) context.skip(reason);
      else await act(env);
      await env.close();
    });
  }

  for (const [name, { act }] of Object.entries(limitedUpdates)) {
    test(name, async () => {
      const controllers = { switches: { maxUnavailable: true } };
      const env = await embeddedEnv({ zones: [], controllers });
      await act(env);
      await env.close();
    });
  }
});
