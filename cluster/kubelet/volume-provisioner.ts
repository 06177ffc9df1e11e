import type { JsonObject } from '#base/json.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isAlreadyExists, isNotFound } from '#kubernetes/transport/api-error.ts';
import { objectAt, textAt } from '../json/read-json.ts';
import { servedTypes } from '../served-types.ts';
import type { ClaimView } from './views.ts';

const PROVISIONER = 'embedded-cluster';
const CLASS_NAME = 'standard';

/** Makes and removes the volumes of claims, for people who look at them: nothing is ever stored in one. */
export class VolumeProvisioner {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Makes the class that claims get which name none; one that is there stays. */
  async start(): Promise<void> {
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    const body = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: CLASS_NAME, annotations },
      provisioner: PROVISIONER,
    };
    await this.#create(() =>
      this.#client.create(servedTypes.storageClasses, { name: CLASS_NAME }, { body }),
    );
  }

  /** Makes a volume for `claim`, unless it has named one, and names it there. */
  async provide(claim: ClaimView): Promise<void> {
    if (textAt(claim.spec, 'volumeName') !== '') return;
    const name = volumeOf(claim);
    const body = volumeBody(name, claim);
    await this.#create(() =>
      this.#client.create(servedTypes.persistentVolumes, { name }, { body }),
    );
    await this.#client.patch(
      servedTypes.persistentVolumes,
      { name },
      { body: merge({ status: { phase: 'Bound' } }), subresource: 'status' },
    );
    await this.#client.patch(
      resourceTypes.persistentVolumeClaims,
      { namespace: claim.namespace, name: claim.name },
      { body: merge({ metadata: { uid: claim.uid }, spec: { volumeName: name } }) },
    );
  }

  /** Removes the volume that was made for `claim`, if any. */
  async remove(claim: ClaimView): Promise<void> {
    const key = { name: volumeOf(claim) };
    try {
      await this.#client.delete(servedTypes.persistentVolumes, key, { preconditions: {} });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #create(make: () => Promise<unknown>): Promise<void> {
    try {
      await make();
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
}

function merge(document: JsonObject): { readonly kind: 'merge'; readonly document: JsonObject } {
  return { kind: 'merge', document };
}

function volumeOf({ uid }: ClaimView): string {
  return `pvc-${uid}`;
}

function volumeBody(name: string, claim: ClaimView) {
  const { namespace, uid, spec } = claim;
  const claimRef = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    namespace,
    name: claim.name,
    uid,
  };
  const storageClassName = textAt(spec, 'storageClassName');
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': PROVISIONER } },
    spec: {
      accessModes: spec['accessModes'] ?? [],
      capacity: objectAt(spec, 'resources', 'requests'),
      claimRef,
      csi: { driver: PROVISIONER, volumeHandle: name },
      persistentVolumeReclaimPolicy: 'Delete',
      ...(storageClassName === '' ? {} : { storageClassName }),
    },
  };
}
