import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Client } from '../client.ts';

/** Which Lease is meant, and by what it is read. */
export interface LeasePlace {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where the Lease is. */
  readonly namespace: string;
  /** What our own Lease is called. */
  readonly name: string;
  /** The namespace that is served, or `ALL_NAMESPACES`; the Lease is labelled with it. */
  readonly scope: string;
}
