import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { minutes } from '#base/units.ts';
import { embeddedEnv } from '../../scenarios/embedded-env.ts';
import { scalings } from '../../scenarios/scaling.ts';

describe('scaling on the embedded cluster', () => {
  for (const [name, { act }] of Object.entries(scalings)) {
    test(name, async () => {
      const env = await embeddedEnv();
      await act(env);
      const judgement = await env.judge(minutes(30));
      assert.equal(judgement.violations.length, 0, judgement.report());
      await env.close();
    });
  }
});
