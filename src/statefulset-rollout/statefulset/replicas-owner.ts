import type { Client } from '#kubernetes/client.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { isForbidden, isNotFound } from '#kubernetes/transport/api-error.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import type { StatefulsetRolloutSpec } from '../api.ts';
import type { RolloutView } from '../parse-resource.ts';

/** Autoscalers, which this program only lists. */
const autoscalers: ResourceType = Object.freeze({
  group: 'autoscaling',
  version: 'v2',
  plural: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  isNamespaced: true,
});

/** How it is asked who else says how many replicas there are. */
interface Asking {
  readonly client: Pick<Client, 'list'>;
  readonly signal: AbortSignal;
}

/**
 * Returns how many replicas are written; undefined where they are another client's to say.
 *
 * @throws what the list of autoscalers fails with
 */
export async function replicasOf(
  { namespace }: Pick<RolloutView, 'namespace'>,
  { set, replicasOwnership }: StatefulsetRolloutSpec,
  asking: Asking,
): Promise<number | undefined> {
  if (replicasOwnership === 'External' || set.replicas === undefined) return undefined;
  if (replicasOwnership === 'Rollout') return set.replicas;
  return (await isAutoscaled(namespace, set.name, asking)) ? undefined : set.replicas;
}

async function isAutoscaled(
  namespace: string,
  name: string,
  { client, signal }: Asking,
): Promise<boolean> {
  try {
    const { items } = await client.list(autoscalers, { namespace }, { signal });
    return items.some((item) => {
      const target = objectAt(objectAt(item, 'spec'), 'scaleTargetRef');
      return target['kind'] === 'StatefulSet' && target['name'] === name;
    });
  } catch (error) {
    // Without autoscalers, or the right to list them, a number that is there is ours to write.
    if (isNotFound(error) || isForbidden(error)) return false;
    throw error;
  }
}
