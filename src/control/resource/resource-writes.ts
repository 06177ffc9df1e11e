import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { Client, Patch } from '#kubernetes/client.ts';
import type { Cached } from '#kubernetes/informer/informer.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { apiVersionOf, type ResourceType } from '#kubernetes/resource-type.ts';
import type { ResourceProofs } from '../consistent-read/resource-proofs.ts';
import type { unlessSent } from '../write/unless-sent.ts';
import type { UnseenWrites } from '../write/unseen-writes.ts';

/** What writes of the resources of one kind go through. */
export interface ResourceWritePorts {
  readonly client: Client;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly type: ResourceType;
  /** Learns of what was stored, until the cache of the resources shows it. */
  readonly unseen: UnseenWrites;
  /** Takes a stored status as a proof; absent where nothing rests on one. */
  readonly proofs?: ResourceProofs;
}

/** A finalizer that is put on a resource, or taken off. */
export interface FinalizerChange {
  readonly kind: 'add-finalizer' | 'remove-finalizer';
  readonly finalizer: string;
}

/** How a write leaves. */
type Leaving = ReturnType<typeof unlessSent>;

/** Writes resources of one kind, each only to the version that was read. */
export class ResourceWrites {
  readonly #ports: ResourceWritePorts;

  constructor(ports: ResourceWritePorts) {
    this.#ports = ports;
  }

  /**
   * Stores `status`, if `resource` is still what was read.
   *
   * @returns the resource as the server has it now
   * @throws what the request fails with
   */
  async storeStatus(
    resource: Cached,
    status: JsonObject,
    leaving: Leaving,
  ): Promise<KubernetesObject> {
    const { client, clock, type, unseen, proofs } = this.#ports;
    const { namespace, name, uid, resourceVersion } = resource;
    const body = {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { namespace, name, uid, resourceVersion },
      status,
    };
    const sentAt = clock.monotonic();
    const write = { body, subresource: 'status', ...leaving } as const;
    const stored = await client.replace(type, { namespace, name }, write);
    const { resourceVersion: revision } = stored.metadata;
    unseen.answered(uid, revision);
    proofs?.written(uid, { over: resourceVersion, revision, sentAt });
    return stored;
  }

  /** Puts a finalizer on `resource`, or takes it off; those of others stay. @throws what the request fails with */
  async changeFinalizer(
    resource: Cached & { readonly finalizers: readonly string[] },
    { kind, finalizer }: FinalizerChange,
    leaving: Leaving,
  ): Promise<void> {
    const { client, type, unseen } = this.#ports;
    const { namespace, name, uid, resourceVersion } = resource;
    const others = resource.finalizers.filter((each) => each !== finalizer);
    const finalizers = kind === 'add-finalizer' ? [...others, finalizer] : others;
    const body: Patch = { kind: 'merge', document: { metadata: { resourceVersion, finalizers } } };
    const stored = await client.patch(type, { namespace, name }, { body, ...leaving });
    unseen.answered(uid, stored.metadata.resourceVersion);
  }
}
