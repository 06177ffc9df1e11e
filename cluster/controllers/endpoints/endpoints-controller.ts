import type { Logger } from '#base/logger.ts';
import { millis } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { isForbidden, isNotFound } from '#kubernetes/transport/api-error.ts';
import { servedTypes } from '../../served-types.ts';
import { runWorkers } from '../run-workers.ts';
import { type NamedBody, planEndpoints } from './plan-endpoints.ts';
import type { EndpointPod, ServiceView } from './views.ts';

/** What the endpoints controller is made of. */
export interface EndpointsControllerOptions {
  readonly client: Client;
  /** Both indexed by {@link namespaceIndexers}. */
  readonly services: Informer<ServiceView>;
  readonly pods: Informer<EndpointPod>;
  /** Keys are `namespace/name` of services. */
  readonly queue: WorkQueue;
  readonly log: Logger;
}

/** Indexes of both caches. */
export const namespaceIndexers = Object.freeze({
  namespace: (object: { readonly namespace: string }) => [object.namespace],
});

/** Changes of many pods become one write. */
const soon = millis(100);

/** Keeps Endpoints and EndpointSlices of the Services that select pods; nothing here reads them but people. */
export class EndpointsController {
  readonly #options: EndpointsControllerOptions;

  constructor(options: EndpointsControllerOptions) {
    this.#options = options;
    options.services.onChange(({ object }) => this.#wake(object));
    options.pods.onChange(({ object }) => {
      for (const service of options.services.lister.by('namespace', object.namespace)) {
        this.#wake(service);
      }
    });
  }

  /** Works until the queue is shut down. */
  async run(): Promise<void> {
    const { services, pods, queue, log } = this.#options;
    await Promise.all([services.synced, pods.synced]);
    await runWorkers({ queue, log, count: 4, reconcile: (key) => this.#sync(key) });
  }

  #wake({ namespace, name }: ServiceView): void {
    this.#options.queue.addAfter(`${namespace}/${name}`, soon);
  }

  async #sync(key: string): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    const { services, pods } = this.#options;
    const service = services.lister.get(namespace, name);
    if (service === undefined) return this.#remove(namespace, name);
    const planned = planEndpoints(service, pods.lister.by('namespace', namespace));
    if (planned === undefined) return;
    await this.#write(servedTypes.endpoints, namespace, planned.endpoints);
    await this.#write(servedTypes.endpointSlices, namespace, planned.slice);
  }

  async #write(type: ResourceType, namespace: string, body: NamedBody): Promise<void> {
    const { client } = this.#options;
    const { name } = body.metadata;
    try {
      await client.replace(type, { namespace, name }, { body });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await this.#create(type, namespace, body);
    }
  }

  async #create(type: ResourceType, namespace: string, body: NamedBody): Promise<void> {
    try {
      await this.#options.client.create(type, { namespace }, { body });
    } catch (error) {
      // The namespace goes, or is gone, and the Service with it.
      if (!isNotFound(error) && !isForbidden(error)) throw error;
    }
  }

  /** Removes the slices, which go with their owner. */
  async #remove(namespace: string, name: string): Promise<void> {
    const { client } = this.#options;
    try {
      await client.delete(servedTypes.endpoints, { namespace, name }, { preconditions: {} });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
