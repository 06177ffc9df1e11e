import { seconds } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { arrayAt, objectAt, objectsIn, stringAt } from '#statefulset/parse-fields.ts';
import type { PodView } from '#statefulset/view.ts';

/** How long a pod may take to be read. */
const patience = seconds(5);

/**
 * Says in the words of the peer why no StatefulSet controls `pod` (E8, E9); undefined where one does, which the cache may
 * not show yet. Reads the pod where it has a controller: what kind of object that is, no cache keeps.
 *
 * @throws what the client throws
 */
export async function ownerProblem(
  pod: PodView,
  client: Client,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { namespace, name, controllerUid } = pod;
  if (controllerUid === undefined) return 'unable to find a StatefulSet pod owner';
  const options = { signal, timeout: patience };
  const live = await client.get(resourceTypes.pods, { namespace, name }, options);
  const owners = objectsIn(arrayAt(objectAt(live, 'metadata'), 'ownerReferences'));
  const owner = owners.find((each) => stringAt(each, 'uid') === controllerUid);
  const kind = owner === undefined ? undefined : stringAt(owner, 'kind');
  if (owner === undefined || kind === 'StatefulSet') return undefined;
  return `pod owner is not a StatefulSet - ${name} has owner ${stringAt(owner, 'name') ?? ''} (${kind ?? ''})`;
}
