import type { JsonObject } from '#base/json.ts';
import type { Client } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { GROUP_LABEL } from '#statefulset/group.ts';
import { formatLabelSelector } from '#statefulset/label-selector.ts';
import {
  LAST_DOWNSCALE,
  MINIMUM_TIME,
  type MinimumTimeText,
  minimumTimeText,
} from '#statefulset/last-downscale.ts';
import { integerAt, objectAt } from '#statefulset/parse-fields.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { annotationsOf, labelsOf } from '../downscale/parse-workload.ts';
import { callOf, type Deadline } from '../review/deadline.ts';

/** Another StatefulSet of the group. */
export interface Sibling {
  readonly name: string;
  readonly uid: string;
  /** Its own minimum time; undefined without one. */
  readonly minimum: MinimumTimeText | undefined;
  /** The annotation; undefined without one. */
  readonly lastDownscale: string | undefined;
  /** In the API's string form. */
  readonly selector: string;
  readonly replicas: number;
  readonly updatedReplicas: number;
}

/** Which group of which namespace, and the set that shrinks. */
export interface GroupKey {
  readonly namespace: string;
  readonly group: string;
  readonly name: string;
}

const labelValue = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/**
 * Returns the other sets of the group by a consistent read, in the order of the list.
 *
 * @throws what the client throws; an Error for a set that cannot be read
 */
export async function listSiblings(
  { namespace, group, name }: GroupKey,
  client: Client,
  deadline: Deadline,
): Promise<readonly Sibling[]> {
  // A selector is one text: what is no label value would select something else.
  if (!labelValue.test(group)) throw new Error(`the group ${JSON.stringify(group)} is no label`);
  const query = { namespace, labelSelector: `${GROUP_LABEL}=${group}` };
  const { items } = await client.list(resourceTypes.statefulSets, query, callOf(deadline));
  return items.filter((item) => item.metadata.name !== name).map(siblingOf);
}

function siblingOf(item: KubernetesObject): Sibling {
  const labels = labelsOf(item);
  const annotations = annotationsOf(item);
  if (labels.kind === 'invalid' || annotations.kind === 'invalid') {
    throw new Error(`the metadata of StatefulSet "${item.metadata.name}" cannot be read`);
  }
  const status = objectAt(item, 'status');
  return {
    name: item.metadata.name,
    uid: item.metadata.uid,
    minimum: minimumTimeText(annotations.value.get(MINIMUM_TIME), labels.value.get(MINIMUM_TIME)),
    lastDownscale: annotations.value.get(LAST_DOWNSCALE),
    selector: formatLabelSelector(objectAt(objectAt(item, 'spec'), 'selector')),
    replicas: integerAt(status, 'replicas') ?? 0,
    updatedReplicas: integerAt(status, 'updatedReplicas') ?? 0,
  };
}

/**
 * Returns the first sibling, in the order given, that is not whole, as the peer puts it; undefined when all are. Its pods
 * are those that it controls, not those that happen to bear its name.
 */
export async function unhealthySibling(
  siblings: readonly Sibling[],
  { namespace, client }: { readonly namespace: string; readonly client: Client },
  deadline: Deadline,
): Promise<string | undefined> {
  const problems = await Promise.all(
    siblings.map(async (sibling) => {
      const query = { namespace, labelSelector: sibling.selector };
      const { items } = await client.list(resourceTypes.pods, query, callOf(deadline));
      return healthProblem(sibling, items.filter((pod) => isReadyPodOf(sibling, pod)).length);
    }),
  );
  return problems.find((problem) => problem !== undefined);
}

/** Reports whether a pod counts towards its set's being whole: controlled by it, and ready as the peer has it. */
function isReadyPodOf({ uid }: Sibling, item: JsonObject): boolean {
  const pod = parsePod(item);
  return (
    pod.controllerUid === uid &&
    pod.phase === 'Running' &&
    !pod.isTerminating &&
    pod.areContainersReady
  );
}

function healthProblem(
  { name, replicas, updatedReplicas }: Sibling,
  ready: number,
): string | undefined {
  if (replicas === ready && updatedReplicas === ready) return undefined;
  const outdated = replicas - updatedReplicas;
  return `statefulset ${name} has ${outdated} non-updated replicas and ${replicas - ready} non-ready replicas`;
}
