import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourcePath } from '#kubernetes/resource-path.ts';
import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import { isAlreadyExists, isConflict } from '#kubernetes/transport/api-error.ts';
import { replicaTemplateDefinition } from '#replica-coordination/replica-template.ts';
import { numberAt } from './json-path.ts';

const PREFIX = 'grafana.com/';

/** Returns the annotations that make a set follow the set `leader` of its group. */
export function followAnnotations(leader: string): Readonly<Record<string, string>> {
  return { [`${PREFIX}rollout-downscale-leader`]: leader };
}

/** Returns the annotations that make a set mirror the ReplicaTemplate `name`. */
export function mirrorAnnotations(name: string): Readonly<Record<string, string>> {
  const key = `${PREFIX}rollout-mirror-replicas-from-resource`;
  const { group, version, kind } = resourceTypes.replicaTemplates;
  return {
    [`${key}-name`]: name,
    [`${key}-kind`]: kind,
    [`${key}-api-version`]: `${group}/${version}`,
  };
}

/** Returns the annotations that have pods asked `delay` before they go, a Prometheus duration. */
export function delayAnnotations(delay: string): Readonly<Record<string, string>> {
  return {
    [`${PREFIX}rollout-delayed-downscale`]: delay,
    [`${PREFIX}rollout-prepare-delayed-downscale-url`]: 'http://pod/prepare-delayed-downscale',
  };
}

/** Returns the annotation that forces `replicas` upon a set; `undefined` removes it. */
export function forceAnnotation(replicas: number | undefined): JsonObject {
  const value = replicas === undefined ? null : String(replicas);
  return { [`${PREFIX}rollout-force-replicas`]: value };
}

/** Installs ReplicaTemplate unless it is there; the server serves it shortly afterwards. */
export async function installReplicaTemplates(client: Client): Promise<void> {
  const write = { body: replicaTemplateDefinition };
  try {
    await client.create(resourceTypes.customResourceDefinitions, {}, write);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Creates a ReplicaTemplate that asks for `replicas`. */
export async function createReplicaTemplate(
  client: Client,
  key: { readonly namespace: string; readonly name: string },
  replicas: number,
): Promise<void> {
  const { namespace, name } = key;
  const { group, version, kind } = resourceTypes.replicaTemplates;
  const body = {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name, namespace },
    spec: { replicas },
  };
  await client.create(resourceTypes.replicaTemplates, { namespace }, { body });
}

/** An object with a scale subresource. */
export interface Scalable {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Does what an autoscaler does: reads the scale of `target`, and puts it back with the count that `next` makes of the
 * present one; again where the object was changed meanwhile.
 */
export async function autoscale(
  client: Client,
  { type, namespace, name }: Scalable,
  next: (replicas: number) => number,
): Promise<void> {
  const key = { namespace, name };
  const path = resourcePath(type, { ...key, subresource: 'scale' });
  for (;;) {
    const scale = await client.raw({ method: 'GET', path });
    if (!isJsonObject(scale)) throw new Error(`The scale of ${type.plural}/${name} is no object`);
    const body = { ...scale, spec: { replicas: next(numberAt(scale, 'spec', 'replicas') ?? 0) } };
    try {
      await client.replace(type, key, { body, subresource: 'scale' });
      return;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}
