import { describe, test } from 'node:test';
import { embeddedEnv } from '../embedded-env.ts';
import { missing } from '../env.ts';
import { startPercentOperator } from './embedded-percent.ts';
import { percentAdoption } from './percent-adoption.ts';
import { percentRefusals } from './percent-refusals.ts';
import { percentRollouts } from './percent-rollouts.ts';

const all = { ...percentRollouts, ...percentAdoption, ...percentRefusals };

describe('StatefulsetRollouts on the embedded cluster', () => {
  for (const [name, { needs, act }] of Object.entries(all)) {
    test(name, async (context) => {
      const env = await embeddedEnv({ zones: [], program: startPercentOperator });
      const reason = missing(env, needs);
      if (reason !== undefined) context.skip(reason);
      else await act(env);
      await env.close();
    });
  }
});
