import type { Clock } from '#base/clock.ts';
import type { Monotonic } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { compareRevisions } from '#kubernetes/revision.ts';
import { undefinedIfAbsent } from '#kubernetes/transport/api-error.ts';
import { maxDecisionAge } from './basis.ts';

/** A resource as a cache shows it. */
export interface ShownResource {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** What the API server has of a resource is not what its cache shows: nothing is decided on that. */
export class UnshownChangeError extends Error {
  override readonly name = 'UnshownChangeError';

  /** @param change what has happened to it, such as `changed` */
  constructor({ kind }: ResourceType, { name }: ShownResource, change: 'changed' | 'deleted') {
    super(`${kind} ${name} was ${change}, and its watch does not show that yet`);
  }
}

interface Proven {
  readonly revision: string;
  readonly at: Monotonic;
  /** What a write of ours named: but for what that wrote, the resource was like this. */
  readonly over?: string;
}

/** A write of ours that named the version it was decided on. */
export interface VersionedWrite {
  readonly over: string;
  /** What it was stored at. */
  readonly revision: string;
  readonly sentAt: Monotonic;
}

/**
 * By what it is proven that a resource is as its cache shows it: a read of it, or a write of ours that named its version. Its
 * spec says how many pods may go and what must pass before: what a watch that lags shows of that lets no pod go (D-51).
 */
export class ResourceProofs {
  readonly #client: Client;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #type: ResourceType;
  /** Keyed by uid. */
  readonly #proven = new Map<string, Proven>();

  constructor(
    ports: { readonly client: Client; readonly clock: Pick<Clock, 'monotonic'> },
    type: ResourceType,
  ) {
    this.#client = ports.client;
    this.#clock = ports.clock;
    this.#type = type;
  }

  /** Reports whether it was as `shown` no longer ago than a decision may rest on. */
  isProven({ uid, resourceVersion }: ShownResource, now: Monotonic): boolean {
    const proven = this.#proven.get(uid);
    if (proven === undefined || now - proven.at > maxDecisionAge) return false;
    // A cache that is ahead of a proof shows all that there was when it was sent.
    return (
      proven.over === resourceVersion || compareRevisions(resourceVersion, proven.revision) >= 0
    );
  }

  /** Reads it. @throws UnshownChangeError where it is not as `shown`, and what the request fails with */
  async read(shown: ShownResource, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid, resourceVersion } = shown;
    const at = this.#clock.monotonic();
    const found = await this.#client
      .get(this.#type, { namespace, name }, { signal })
      .catch(undefinedIfAbsent);
    if (found?.metadata.uid !== uid) throw new UnshownChangeError(this.#type, shown, 'deleted');
    const { resourceVersion: revision } = found.metadata;
    this.#proven.set(uid, { revision, at });
    // The cache may have come to know more while the answer was on its way.
    if (compareRevisions(revision, resourceVersion) > 0) {
      throw new UnshownChangeError(this.#type, shown, 'changed');
    }
  }

  /** Notes that a write of the resource `uid` was stored, which named the version that the cache shows. */
  written(uid: string, { over, revision, sentAt }: VersionedWrite): void {
    this.#proven.set(uid, { revision, over, at: sentAt });
  }

  /** Forgets what was known of it: it is gone. */
  forget(uid: string): void {
    this.#proven.delete(uid);
  }
}
