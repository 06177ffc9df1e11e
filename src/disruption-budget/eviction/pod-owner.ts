import { seconds } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { arrayAt, objectAt, objectsIn, stringAt } from '#statefulset/parse-fields.ts';
import type { PodView } from '#statefulset/view.ts';

/** How long a pod may take to be read. */
const patience = seconds(5);

/** Pods that are remembered; what controls a pod never changes but by hand. */
const most = 1_000;

/** What controls pods that no known StatefulSet does; a flood of evictions of one pod reads it once. */
export class PodOwners {
  /** Keyed by the uid of the pod, oldest first. */
  readonly #problems = new Map<string, Promise<string | undefined>>();

  /**
   * Says in the words of the peer why no StatefulSet controls `pod`; undefined where one does, which the cache may
   * not show yet. Reads the pod where it has a controller: what kind of object that is, no cache keeps.
   *
   * @throws what the client throws; the reason of `signal` when that aborts first
   */
  async problem(pod: PodView, client: Client, signal: AbortSignal): Promise<string | undefined> {
    if (pod.controllerUid === undefined) return 'unable to find a StatefulSet pod owner';
    const known = this.#problems.get(pod.uid) ?? this.#read(pod, client);
    return unlessAborted(known, signal);
  }

  #read(pod: PodView, client: Client): Promise<string | undefined> {
    const reading = problemOf(pod, client);
    const forget = (): void => void this.#problems.delete(pod.uid);
    // What cannot be known, as the set is not seen yet, is asked again.
    reading.then((problem) => problem ?? forget(), forget);
    this.#problems.set(pod.uid, reading);
    if (this.#problems.size > most) this.#problems.delete([...this.#problems.keys()][0] ?? '');
    return reading;
  }
}

async function problemOf(
  { namespace, name, controllerUid }: PodView,
  client: Client,
): Promise<string | undefined> {
  const live = await client.get(resourceTypes.pods, { namespace, name }, { timeout: patience });
  const owners = objectsIn(arrayAt(objectAt(live, 'metadata'), 'ownerReferences'));
  const owner = owners.find((each) => stringAt(each, 'uid') === controllerUid);
  const kind = owner === undefined ? undefined : stringAt(owner, 'kind');
  if (owner === undefined || kind === 'StatefulSet') return undefined;
  return `pod owner is not a StatefulSet - ${name} has owner ${stringAt(owner, 'name') ?? ''} (${kind ?? ''})`;
}

async function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = (): void => reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([answer, promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
