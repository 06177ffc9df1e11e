/** Scaling of one group, for every cluster. Each ends when the group has what it wants, and returns nothing. */
import assert from 'node:assert/strict';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { isAlreadyExists, isConflict } from '#kubernetes/api-error.ts';
import { resourcePath } from '#kubernetes/resource-path.ts';
import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import {
  replicaTemplateDefinition,
  replicaTemplates,
} from '#replica-coordination/replica-template.ts';
import type { Env } from './env.ts';
import { images, setImage, setName } from './group.ts';
import type { Scenario } from './rollouts.ts';

const MIRROR = 'grafana.com/rollout-mirror-replicas-from-resource';

async function annotate(env: Env, zone: string, annotations: JsonObject): Promise<void> {
  const key = { namespace: env.namespace, name: setName(zone) };
  const body = { kind: 'merge', document: { metadata: { annotations } } } as const;
  await env.run(env.admin.patch(resourceTypes.statefulSets, key, { body }));
}

/** Every zone but the first follows the first. */
async function follow(env: Env): Promise<void> {
  const [leader = '', ...followers] = env.zones;
  const annotations = { 'grafana.com/rollout-downscale-leader': setName(leader) };
  for (const zone of followers) await annotate(env, zone, annotations);
}

/** Every zone mirrors one ReplicaTemplate, which asks for what they have. */
async function mirror(env: Env): Promise<void> {
  try {
    await env.run(
      env.admin.create(
        resourceTypes.customResourceDefinitions,
        {},
        { body: replicaTemplateDefinition },
      ),
    );
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  // The server serves a new type a moment later.
  await env.pass(seconds(3));
  const { group, version, kind } = replicaTemplates;
  const body = {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: 'ingester', namespace: env.namespace },
    spec: { replicas: env.replicas },
  };
  await env.run(env.admin.create(replicaTemplates, { namespace: env.namespace }, { body }));
  const annotations = {
    [`${MIRROR}-name`]: 'ingester',
    [`${MIRROR}-kind`]: kind,
    [`${MIRROR}-api-version`]: body.apiVersion,
  };
  for (const zone of env.zones) await annotate(env, zone, annotations);
}

/** As an autoscaler: the scale is read, and put back with another count; anew where the object moved meanwhile. */
async function autoscale(
  env: Env,
  { type, name }: { readonly type: ResourceType; readonly name: string },
  replicas: number,
): Promise<void> {
  const key = { namespace: env.namespace, name };
  const path = resourcePath(type, { ...key, subresource: 'scale' });
  for (;;) {
    const scale = await env.run(env.admin.raw({ method: 'GET', path }));
    assert.ok(isJsonObject(scale));
    const body = { ...scale, spec: { replicas } };
    try {
      await env.run(env.admin.replace(type, key, { body, subresource: 'scale' }));
      return;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}

interface Counts {
  readonly replicas?: number;
  readonly readyReplicas?: number;
}

interface Scaled {
  readonly spec: Counts;
  readonly status?: Counts;
}

async function untilAllHave(env: Env, replicas: number): Promise<void> {
  await env.until(`all zones have ${replicas} pods`, () =>
    env.zones.every((zone) => {
      const set = env.stored('statefulsets.apps', setName(zone)) as unknown as Scaled | undefined;
      const counts = [set?.spec.replicas, set?.status?.replicas, set?.status?.readyReplicas ?? 0];
      return counts.every((count) => count === replicas);
    }),
  );
}

async function untilReported(env: Env, replicas: number): Promise<void> {
  await env.until(`the template knows of ${replicas} replicas`, () => {
    const stored = env.stored('replicatemplates.rollout-operator.grafana.com', 'ingester');
    return (stored as unknown as Scaled | undefined)?.status?.replicas === replicas;
  });
}

/** Keyed by a sentence. */
export const scalings: Readonly<Record<string, Scenario>> = {
  'followers go down and up with a leader that an autoscaler scales': {
    act: async (env) => {
      const leader = { type: resourceTypes.statefulSets, name: setName(env.zones[0] ?? '') };
      await follow(env);
      await env.startOperator();
      await autoscale(env, leader, 1);
      await untilAllHave(env, 1);
      await autoscale(env, leader, env.replicas);
      await untilAllHave(env, env.replicas);
    },
  },
  'zones mirror a ReplicaTemplate down and up, and report to it': {
    act: async (env) => {
      const template = { type: replicaTemplates, name: 'ingester' };
      await mirror(env);
      await env.startOperator();
      await untilReported(env, env.replicas);
      await autoscale(env, template, 1);
      await untilAllHave(env, 1);
      await untilReported(env, 1);
      await autoscale(env, template, env.replicas);
      await untilAllHave(env, env.replicas);
      await untilReported(env, env.replicas);
    },
  },
  'a group shrinks in the midst of a rollout, and both end': {
    act: async (env) => {
      const leader = { type: resourceTypes.statefulSets, name: setName(env.zones[0] ?? '') };
      await follow(env);
      await env.startOperator();
      await setImage(env, images.new);
      await autoscale(env, leader, env.replicas - 1);
      await untilAllHave(env, env.replicas - 1);
    },
  },
  'an operator that is killed while a group shrinks leaves it to the next one': {
    act: async (env) => {
      const leader = { type: resourceTypes.statefulSets, name: setName(env.zones[0] ?? '') };
      await follow(env);
      const first = await env.startOperator();
      await autoscale(env, leader, 1);
      await first.kill();
      await env.startOperator();
      await untilAllHave(env, 1);
    },
  },
};
