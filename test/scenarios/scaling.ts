/** Scaling of one group, for every cluster. Each ends when the group has what it wants, and returns nothing. */
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import {
  autoscale,
  createReplicaTemplate,
  delayAnnotations,
  followAnnotations,
  installReplicaTemplates,
  mirrorAnnotations,
} from '#support/objects/scaling.ts';
import type { Env } from './env.ts';
import { images, isComplete, setImage, setName } from './group.ts';
import type { Scenario } from './rollouts.ts';

async function annotate(env: Env, zone: string, annotations: JsonObject): Promise<void> {
  const key = { namespace: env.namespace, name: setName(zone) };
  const body = { kind: 'merge', document: { metadata: { annotations } } } as const;
  await env.run(env.admin.patch(resourceTypes.statefulSets, key, { body }));
}

/** Every zone but the first follows the first. */
async function follow(env: Env): Promise<void> {
  const [leader = '', ...followers] = env.zones;
  const annotations = followAnnotations(setName(leader));
  for (const zone of followers) await annotate(env, zone, annotations);
}

/** Every zone mirrors one ReplicaTemplate, which asks for what they have. */
async function mirror(env: Env, more: JsonObject = {}): Promise<void> {
  await env.run(installReplicaTemplates(env.admin));
  await env.pass(seconds(3));
  const key = { namespace: env.namespace, name: 'ingester' };
  await env.run(createReplicaTemplate(env.admin, key, env.replicas));
  for (const zone of env.zones)
    await annotate(env, zone, { ...mirrorAnnotations('ingester'), ...more });
}

async function scaleTo(
  env: Env,
  target: { readonly type: ResourceType; readonly name: string },
  replicas: number,
): Promise<void> {
  const { namespace } = env;
  await env.run(autoscale(env.admin, { ...target, namespace }, () => replicas));
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

/** What each zone is to have and has in the end, by zone. */
async function untilWanted(env: Env, replicas: readonly number[]): Promise<void> {
  const wanted = (): readonly (number | undefined)[] =>
    env.zones.map((zone) => {
      const set = env.stored('statefulsets.apps', setName(zone)) as unknown as Scaled | undefined;
      return set?.spec.replicas;
    });
  await env.until(`the zones are to have ${replicas.join(', ')} replicas`, () => {
    return wanted().join() === replicas.join();
  });
}

/** Whether any pod of the group is prepared to go. */
function isAnyPrepared({ pods, zones, replicas }: Env): boolean {
  return zones.some((zone) =>
    Array.from({ length: replicas }, (_, ordinal) => `${setName(zone)}-${ordinal}`).some(
      (pod) => pods.preparedSince(pod) !== undefined,
    ),
  );
}

/** Short enough for a real clock, and long enough for answers of another age. */
const delayed = delayAnnotations('6s');
const application = { kind: 'application' } as const;

/** Keyed by a sentence. */
export const scalings: Readonly<Record<string, Scenario>> = {
  'followers go down and up with a leader that an autoscaler scales': {
    act: async (env) => {
      const leader = { type: resourceTypes.statefulSets, name: setName(env.zones[0] ?? '') };
      await follow(env);
      await env.startOperator();
      await scaleTo(env, leader, 1);
      await untilAllHave(env, 1);
      await scaleTo(env, leader, env.replicas);
      await untilAllHave(env, env.replicas);
    },
  },
  'zones mirror a ReplicaTemplate down and up, and report to it': {
    act: async (env) => {
      const template = { type: resourceTypes.replicaTemplates, name: 'ingester' };
      await mirror(env);
      await env.startOperator();
      await untilReported(env, env.replicas);
      await scaleTo(env, template, 1);
      await untilAllHave(env, 1);
      await untilReported(env, 1);
      await scaleTo(env, template, env.replicas);
      await untilAllHave(env, env.replicas);
      await untilReported(env, env.replicas);
    },
  },
  'a group shrinks in the middle of a rollout, and both end': {
    act: async (env) => {
      const leader = { type: resourceTypes.statefulSets, name: setName(env.zones[0] ?? '') };
      await follow(env);
      await env.startOperator();
      await setImage(env, images.new);
      await scaleTo(env, leader, env.replicas - 1);
      await untilAllHave(env, env.replicas - 1);
      await env.until('all pods run the new image', () => isComplete(env, images.new));
    },
  },
  'an operator that is killed while a group shrinks leaves it to the next one': {
    act: async (env) => {
      const leader = { type: resourceTypes.statefulSets, name: setName(env.zones[0] ?? '') };
      await follow(env);
      const first = await env.startOperator();
      await scaleTo(env, leader, 1);
      await first.kill();
      await env.startOperator();
      await untilAllHave(env, 1);
    },
  },
  'three zones shrink once each pod was prepared for the delay; pods that answer late, wrongly or never hold themselves':
    {
      act: async (env) => {
        const template = { type: resourceTypes.replicaTemplates, name: 'ingester' };
        const [never = '', wrong = '', late = ''] = env.zones.map(setName);
        env.pods.behave({ kind: 'never' }, `${never}-2`);
        env.pods.behave({ kind: 'answer', status: 200, body: '{"timestamp":"1"}' }, `${wrong}-1`);
        const slow = { kind: 'late', after: seconds(2), behaves: application } as const;
        env.pods.behave(slow, `${late}-1`);
        await mirror(env, delayed);
        await env.startOperator();
        await scaleTo(env, template, 1);
        await untilWanted(env, [3, 2, 1]);
        env.pods.behave(application, `${never}-2`);
        env.pods.behave({ kind: 'reset' }, `${wrong}-1`);
        await untilWanted(env, [1, 2, 1]);
        env.pods.behave(application, `${wrong}-1`);
        await untilAllHave(env, 1);
      },
    },
  'a count that returns cancels what pods were asked, also by an operator that did not ask them': {
    act: async (env) => {
      const template = { type: resourceTypes.replicaTemplates, name: 'ingester' };
      await mirror(env, delayAnnotations('1h'));
      const first = await env.startOperator();
      await scaleTo(env, template, 2);
      await env.until('a pod of each zone is prepared', () =>
        env.zones.every((zone) => env.pods.preparedSince(`${setName(zone)}-2`) !== undefined),
      );
      await first.kill();
      await scaleTo(env, template, 3);
      await env.startOperator();
      await env.until('no pod is prepared any more', () => !isAnyPrepared(env));
      await untilWanted(env, [3, 3, 3]);
    },
  },
  '[found R-4] pods hear that they stay once nothing asks for fewer, also from an operator that did not ask them':
    {
      act: async (env) => {
        const template = { type: resourceTypes.replicaTemplates, name: 'ingester' };
        const delay = delayAnnotations('1h');
        await mirror(env, delay);
        const first = await env.startOperator();
        await scaleTo(env, template, 2);
        await env.until('a pod of each zone is prepared', () =>
          env.zones.every((zone) => env.pods.preparedSince(`${setName(zone)}-2`) !== undefined),
        );
        await first.kill();
        const set = Object.keys({ ...mirrorAnnotations('ingester'), ...delay });
        const gone = Object.fromEntries(set.map((key) => [key, null]));
        for (const zone of env.zones) await annotate(env, zone, gone);
        await env.startOperator();
        await env.until('no pod is prepared any more', () => !isAnyPrepared(env));
        await untilWanted(env, [3, 3, 3]);
      },
    },
};
