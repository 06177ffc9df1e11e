import type { Client } from '#kubernetes/client.ts';
import {
  SharedConfigMap,
  type SharedTexts,
  type TextChanges,
} from '#kubernetes/shared-config-map.ts';
import { callOf, type Deadline } from '../review/deadline.ts';
import { CLAIMS_NAME } from './claim.ts';

/** Where claims are stored. */
export interface ClaimStore {
  /** Reads the map, which may be absent. @throws what the client throws */
  read(deadline: Deadline): Promise<SharedTexts>;
  /** Writes `changes` on top of `map`; keeps all else. @throws what the client throws, a conflict too */
  write(map: SharedTexts, changes: TextChanges, deadline: Deadline): Promise<SharedTexts>;
}

/** Returns the claims that all replicas share, in a ConfigMap of `namespace`, the operator's. */
export function sharedClaims(client: Client, namespace: string): ClaimStore {
  const map = new SharedConfigMap(client, { namespace, name: CLAIMS_NAME });
  return {
    read: (deadline) => map.read(callOf(deadline)),
    write: (read, changes, deadline) => map.write(read, changes, callOf(deadline)),
  };
}
