import type { JsonValue } from '#base/json.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { resourcePath } from '#kubernetes/resource-path.ts';
import { apiVersionOf } from '#kubernetes/resource-type.ts';
import { isNotFound } from '#kubernetes/transport/api-error.ts';
import { discoverTypes, type ServedType } from '../discover-types.ts';
import { parseReplicas } from './parse-views.ts';
import type { BudgetPod, ControllerReference, ScaledSet } from './views.ts';

/** Finds how many pods controllers want: sets from the cache, all other kinds through their /scale (PD-1). */
export class ControllerScales {
  readonly #client: Client;
  readonly #sets: Informer<ScaledSet>;
  #served: readonly ServedType[] = [];

  constructor(client: Client, sets: Informer<ScaledSet>) {
    this.#client = client;
    this.#sets = sets;
  }

  /** Returns the wanted pods by the uid of each controller of `pods`; one that is not found is absent. */
  async of(pods: readonly BudgetPod[]): Promise<ReadonlyMap<string, number>> {
    const replicas = new Map<string, number>();
    for (const { namespace, controller } of pods) {
      if (controller === undefined || replicas.has(controller.uid)) continue;
      const count = await this.#replicasOf(namespace, controller);
      if (count !== undefined) replicas.set(controller.uid, count);
    }
    return replicas;
  }

  async #replicasOf(namespace: string, owner: ControllerReference): Promise<number | undefined> {
    if (owner.kind === 'StatefulSet' && owner.apiVersion === 'apps/v1') {
      const set = this.#sets.lister.get(namespace, owner.name);
      return set?.uid === owner.uid ? set.replicas : undefined;
    }
    const type = await this.#typeOf(owner);
    if (type === undefined) return undefined;
    const path = resourcePath(type, { namespace, name: owner.name, subresource: 'scale' });
    const scale = await this.#getOrAbsent(path);
    if (scale === undefined) return undefined;
    const { uid, replicas } = parseReplicas(scale);
    return uid === owner.uid ? replicas : undefined;
  }

  async #typeOf(owner: ControllerReference): Promise<ServedType['type'] | undefined> {
    const find = (): ServedType['type'] | undefined =>
      this.#served.find(
        ({ type }) => apiVersionOf(type) === owner.apiVersion && type.kind === owner.kind,
      )?.type;
    const known = find();
    if (known !== undefined) return known;
    this.#served = await discoverTypes(this.#client);
    return find();
  }

  async #getOrAbsent(path: string): Promise<JsonValue | undefined> {
    try {
      return await this.#client.raw({ method: 'GET', path });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
