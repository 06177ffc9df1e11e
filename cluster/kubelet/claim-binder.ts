import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Change } from '#kubernetes/informer/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isConflict, isNotFound } from '#kubernetes/transport/api-error.ts';
import { objectAt } from '../json/read-json.ts';
import type { ClaimView } from './views.ts';
import type { VolumeProvisioner } from './volume-provisioner.ts';
import type { WriteLimit } from './write-limit.ts';

/** Binds every PersistentVolumeClaim at once (SS-8): without a volume object, or to one that it provisions. */
export class ClaimBinder {
  readonly #client: Client;
  readonly #limit: WriteLimit;
  readonly #log: Logger;
  readonly #volumes: VolumeProvisioner | undefined;

  constructor(options: {
    readonly client: Client;
    readonly limit: WriteLimit;
    readonly log: Logger;
    /** @default no claim gets a volume object */
    readonly volumes: VolumeProvisioner | undefined;
  }) {
    this.#client = options.client;
    this.#limit = options.limit;
    this.#log = options.log;
    this.#volumes = options.volumes;
  }

  /** Takes a change of the claim cache. */
  claimChanged(change: Change<ClaimView>): void {
    if (change.kind === 'deleted')
      void this.#guard(change.object, () => this.#release(change.object));
    else if (!change.object.isBound)
      void this.#guard(change.object, () => this.#bind(change.object));
  }

  async #release(claim: ClaimView): Promise<void> {
    await this.#limit.run(async () => this.#volumes?.remove(claim));
  }

  async #bind(claim: ClaimView): Promise<void> {
    await this.#limit.run(async () => this.#volumes?.provide(claim));
    const key = { namespace: claim.namespace, name: claim.name };
    const document = {
      metadata: { uid: claim.uid },
      status: {
        phase: 'Bound',
        accessModes: claim.spec['accessModes'] ?? [],
        capacity: objectAt(claim.spec, 'resources', 'requests'),
      },
    };
    const body = { kind: 'merge', document } as const;
    await this.#limit.run(() =>
      this.#client.patch(resourceTypes.persistentVolumeClaims, key, {
        body,
        subresource: 'status',
      }),
    );
  }

  async #guard(claim: ClaimView, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return;
      this.#log.warn('claim was not bound', {
        claim: `${claim.namespace}/${claim.name}`,
        error: errorOf(error),
      });
    }
  }
}
