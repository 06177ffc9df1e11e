import type { Clock } from '#base/clock.ts';
import { type Millis, monotonic } from '#base/units.ts';
import type { CallOptions, Client, ObjectKey, WriteOptions } from '#kubernetes/client.ts';
import type { Lister } from '#kubernetes/informer/informer.ts';
import type { LeaderElection } from '#kubernetes/leader-election/leader-election.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { isOutcomeUnknown } from '#kubernetes/transport/api-error.ts';
import { groupOf } from '#statefulset/group.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { announcedText, setOfPod, uidOfEviction } from './announced-request.ts';

/** What {@link announcedClient} goes through. */
export interface AnnouncingPorts {
  readonly election: Pick<LeaderElection, 'announce'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** How long a request without an answer may still arrive. */
  readonly horizon: Millis;
  /** The sets whose groups are named with them; absent where no group is reconciled. */
  readonly sets?: Pick<Lister<StatefulSetView>, 'get'>;
}

/**
 * Returns `client` whose requests that may take a pod are named in the Lease before they are sent, whatever capability sends them:
 * deletions and evictions of pods, and every change of a set but that of its status.
 */
export function announcedClient(client: Client, ports: AnnouncingPorts): Client {
  const announced = new AnnouncedRequests(ports);
  return {
    get: (type, key, options) => client.get(type, key, options),
    list: (type, query, options) => client.list(type, query, options),
    watch: (type, query, options) => client.watch(type, query, options),
    create: (type, key, write) => {
      const uid = write.subresource === 'eviction' ? uidOfEviction(write.body) : undefined;
      const text = uid === undefined ? undefined : announced.pod(key, uid);
      return announced.send(text, write, () => client.create(type, key, write));
    },
    replace: (type, key, write) =>
      announced.send(announced.change(type, key, write), write, () =>
        client.replace(type, key, write),
      ),
    patch: (type, key, write) =>
      announced.send(announced.change(type, key, write), write, () =>
        client.patch(type, key, write),
      ),
    delete: (type, key, options) => {
      const { uid } = options.preconditions;
      const isPod = type.plural === 'pods' && uid !== undefined;
      const text = isPod ? announced.pod(key, uid) : announced.change(type, key);
      return announced.send(text, options, () => client.delete(type, key, options));
    },
    raw: (request, options) => client.raw(request, options),
  };
}

/** Has requests named before they are sent, until they have ended. */
class AnnouncedRequests {
  readonly #ports: AnnouncingPorts;

  constructor(ports: AnnouncingPorts) {
    this.#ports = ports;
  }

  /** Returns how the Lease names a request for a pod; undefined: it takes no pod of a set. */
  pod({ namespace = '', name = '' }: Partial<ObjectKey>, uid: string): string | undefined {
    const statefulSet = setOfPod(name);
    if (statefulSet === undefined) return undefined;
    const group = this.#groupOf(namespace, statefulSet);
    return announcedText({ kind: 'pod', namespace, statefulSet, pod: name, uid, group });
  }

  /** Returns how the Lease names a change of a set; undefined: no pod can go by it. */
  change(
    { plural }: ResourceType,
    { namespace = '', name }: ObjectKey,
    { subresource, isDryRun = false }: Pick<WriteOptions, 'subresource' | 'isDryRun'> = {},
  ): string | undefined {
    if (plural !== 'statefulsets' || subresource === 'status' || isDryRun) return undefined;
    const group = this.#groupOf(namespace, name);
    return announcedText({ kind: 'set', namespace, statefulSet: name, group });
  }

  #groupOf(namespace: string, name: string): string | undefined {
    const set = this.#ports.sets?.get(namespace, name);
    return set && groupOf(set);
  }

  async send<T>(
    text: string | undefined,
    { signal = new AbortController().signal }: CallOptions,
    send: () => Promise<T>,
  ): Promise<T> {
    if (text === undefined) return send();
    const { election, clock, horizon } = this.#ports;
    const announcement = await election.announce(text, signal);
    try {
      const answer = await send();
      announcement.end();
      return answer;
    } catch (error) {
      const mayArrive = isOutcomeUnknown(error);
      announcement.end(mayArrive ? monotonic(clock.monotonic() + horizon) : undefined);
      throw error;
    }
  }
}
