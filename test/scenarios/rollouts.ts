/** Rollouts of one group, for every cluster. Each ends when the group is complete, and returns nothing. */
import assert from 'node:assert/strict';
import { zoneAwarePodDisruptionBudgetDefinition } from '#disruption-budget/api.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Env, EnvOptions, Feature } from './env.ts';
import {
  breakImage,
  images,
  isComplete,
  podsOn,
  setImage,
  setName,
  setPaused,
  uidsOf,
  unreadyOn,
} from './group.ts';

/** One scenario: what it shows, what it needs, and what happens in it. */
export interface Scenario {
  readonly needs?: readonly Feature[];
  /** The group that it starts with. @default the usual one */
  readonly options?: EnvOptions;
  readonly act: (env: Env) => Promise<void>;
}

async function untilComplete(env: Env, image: string): Promise<void> {
  await env.until(`all pods run ${image} and are ready`, () => isComplete(env, image));
}

/** Keyed by a sentence. */
export const rollouts: Readonly<Record<string, Scenario>> = {
  'three zones of three pods go to a new image': {
    act: async (env) => {
      await env.startOperator();
      await setImage(env, images.new);
      await untilComplete(env, images.new);
    },
  },
  'an image that cannot be pulled stops in the first zone, and its correction goes through': {
    act: async (env) => {
      breakImage(env, images.broken);
      await env.startOperator();
      await setImage(env, images.broken);
      await env.until(
        'the limit of one zone is broken',
        () => unreadyOn(env, images.broken) === env.maxUnavailable,
      );
      assert.equal(podsOn(env, images.old), env.zones.length * env.replicas - env.maxUnavailable);
      await setImage(env, images.fixed);
      await untilComplete(env, images.fixed);
    },
  },
  'a rollout that is taken back half-way returns to the old image': {
    act: async (env) => {
      await env.startOperator();
      await setImage(env, images.new);
      await env.until('a zone is done', () => podsOn(env, images.new) > env.replicas);
      await setImage(env, images.old);
      await untilComplete(env, images.old);
    },
  },
  'a paused zone keeps its pods while the others go, and follows when it is resumed': {
    act: async (env) => {
      const [, paused = ''] = env.zones;
      const others = env.zones.filter((zone) => zone !== paused);
      await setPaused(env, paused, true);
      const before = uidsOf(env, paused);
      await env.startOperator();
      await setImage(env, images.new);
      await env.until('the other zones are done', () => isComplete(env, images.new, others));
      assert.deepEqual(uidsOf(env, paused), before);
      await setPaused(env, paused, false);
      await untilComplete(env, images.new);
    },
  },
  'an operator that is killed half-way is continued by its successor': {
    act: async (env) => {
      const operator = await env.startOperator();
      await setImage(env, images.new);
      await env.until('a zone is done', () => podsOn(env, images.new) > env.replicas);
      await operator.kill();
      await env.startOperator();
      await untilComplete(env, images.new);
    },
  },
  '[scenario 83] zones of one pod that start unready go one after the other, each when the one before is ready':
    {
      options: { replicas: 1, maxUnavailable: 1 },
      act: async (env) => {
        const { namespace } = env;
        const holds = env.zones.map((zone) => {
          const match = { namespace, name: `${setName(zone)}-0`, image: images.new };
          return { zone, rule: env.kubelet.behaviours.add({ behave: 'neverReady', match }) };
        });
        await env.startOperator();
        await setImage(env, images.new);
        for (const [done, { zone, rule }] of holds.entries()) {
          await env.until(
            `zone ${zone} runs the new image, unready`,
            () => unreadyOn(env, images.new, [zone]) === 1,
          );
          assert.equal(podsOn(env, images.new), done);
          assert.equal(podsOn(env, images.old), env.zones.length - done - 1);
          rule.remove();
        }
        await untilComplete(env, images.new);
      },
    },
  '[scenario 86] the definitions of budgets are there, webhooks are not, and the group rolls': {
    act: async (env) => {
      await installBudgets(env);
      await env.startOperator();
      await setImage(env, images.new);
      await untilComplete(env, images.new);
    },
  },
};

/** The definition of budgets as a cluster has it; two scenarios may make it at once. */
export async function installBudgets(env: Env): Promise<void> {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const { status } = await env.ask('POST', definitions, zoneAwarePodDisruptionBudgetDefinition);
  assert.ok(status === 201 || status === 409, `the definition was answered with ${status}`);
  await env.untilAnswered(
    `/apis/${resourceTypes.zoneAwarePodDisruptionBudgets.group}/v1/namespaces/${env.namespace}/${resourceTypes.zoneAwarePodDisruptionBudgets.plural}`,
    200,
  );
}
