import { isJsonArray, isJsonObject, type JsonObject, jsonIn } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { objectsAt, textAt } from '../objects/json-path.ts';
import { parseRfc3339 } from '../oracles/rfc3339.ts';
import type { Asker } from './budget-facts.ts';

/** What the names of ConfigMaps with a ledger begin with; the name of the budget follows. */
export const ledgerPrefix = 'rollout-operator-ledger-';

/** One permission in a ledger. */
export interface ClaimFacts {
  readonly by: Asker;
  readonly at: Instant;
  /** Empty for evictions. */
  readonly term: string;
}

/** What a ledger says of one pod. */
export interface ReservationFacts {
  readonly uid: string;
  readonly pod: string;
  readonly claims: readonly ClaimFacts[];
}

const known = new WeakMap<JsonObject, readonly ReservationFacts[]>();

/**
 * Returns the reservations in the ConfigMap `object`, in order, each as it is there: doubles stay. Empty where there is
 * no ledger, or none that can be read: what cannot be read is no stored intent.
 */
export function reservationsIn(object: JsonObject | undefined): readonly ReservationFacts[] {
  if (object === undefined) return [];
  const read = known.get(object) ?? readReservations(object);
  known.set(object, read);
  return read;
}

function readReservations(object: JsonObject): readonly ReservationFacts[] {
  const list = jsonIn(textAt(object, 'data', 'reservations') ?? '');
  if (!isJsonArray(list) || textAt(object, 'data', 'version') !== '1') return [];
  return list.flatMap((entry): readonly ReservationFacts[] => {
    if (!isJsonObject(entry)) return [];
    const [uid, pod] = [textAt(entry, 'uid'), textAt(entry, 'pod')];
    if (uid === undefined || pod === undefined) return [];
    return [{ uid, pod, claims: objectsAt(entry, 'claims').flatMap(claimIn) }];
  });
}

function claimIn(claim: JsonObject): readonly ClaimFacts[] {
  const at = parseRfc3339(textAt(claim, 'at') ?? '');
  const by = textAt(claim, 'by');
  if (at === undefined) return [];
  if (by !== 'rollout' && by !== 'scale-down' && by !== 'eviction') return [];
  return [{ by, at, term: textAt(claim, 'term') ?? '' }];
}
