import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { objectAt } from '#embedded-cluster/controllers/read-json.ts';
import { isConflict, isNotFound } from '#kubernetes/api-error.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Change } from '#kubernetes/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { ClaimView } from './views.ts';
import type { WriteLimit } from './write-limit.ts';

/** Binds every PersistentVolumeClaim at once, without a volume object (SS-8). */
export class ClaimBinder {
  readonly #client: Client;
  readonly #limit: WriteLimit;
  readonly #log: Logger;

  constructor(options: {
    readonly client: Client;
    readonly limit: WriteLimit;
    readonly log: Logger;
  }) {
    this.#client = options.client;
    this.#limit = options.limit;
    this.#log = options.log;
  }

  /** A change of the claim cache. */
  claimChanged(change: Change<ClaimView>): void {
    if (change.kind === 'deleted' || change.object.isBound) return;
    void this.#bind(change.object);
  }

  async #bind(claim: ClaimView): Promise<void> {
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
    try {
      await this.#limit.run(() =>
        this.#client.patch(resourceTypes.persistentVolumeClaims, key, {
          body,
          subresource: 'status',
        }),
      );
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return;
      this.#log.warn('claim was not bound', {
        claim: `${claim.namespace}/${claim.name}`,
        error: errorOf(error),
      });
    }
  }
}
