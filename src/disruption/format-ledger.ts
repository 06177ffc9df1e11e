import type { JsonObject } from '#base/json.ts';
import type { BudgetRef } from './budget.ts';
import type { Ledger } from './ledger.ts';
import type { Claim, Reservation } from './reservation.ts';

/** The version of the form that this program writes, and the last one that it reads. */
export const LEDGER_VERSION = 1;

/** How much the reservations may take, written down: half of what a ConfigMap holds, so that claims can still be added. */
export const mostBytes = 512 * 1_024;

/** What a ledger looks like in the `data` of its ConfigMap; people may read it, and should not edit it. */
export interface LedgerData {
  readonly version: string;
  /** The budget that it belongs to, as JSON. */
  readonly budget: string;
  /** A JSON array, a line for each reservation. */
  readonly reservations: string;
  /** Which pods it binds, and whether: absent where that has no bearing on what is given away. */
  readonly binding?: string;
  /** The digest of the other members: an edit of them by hand, and not of this, is noticed. */
  readonly digest: string;
}

/** Returns `ledger` as the `data` of a ConfigMap. @param binding of the budget as it is now */
export function formatLedger({ budget, reservations }: Ledger, binding?: string): LedgerData {
  const lines = [...reservations.values()].map(textOf);
  const data = {
    version: String(LEDGER_VERSION),
    budget: JSON.stringify(plainBudget(budget)),
    reservations: lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n]`,
    ...(binding !== undefined && { binding }),
  };
  return { ...data, digest: digestOf(data) };
}

function plainBudget({ kind, namespace, name, uid }: BudgetRef): JsonObject {
  return { kind, namespace, name, uid };
}

// Reservations never change, and a ledger is measured at each grant.
const texts = new WeakMap<Reservation, string>();

function textOf(reservation: Reservation): string {
  const known = texts.get(reservation);
  if (known !== undefined) return known;
  const { uid, slot, claims } = reservation;
  const text = JSON.stringify({
    uid,
    pod: slot.pod,
    set: slot.set,
    zone: slot.zone,
    claims: claims.map(plainClaim),
  });
  texts.set(reservation, text);
  return text;
}

function plainClaim(claim: Claim): JsonObject {
  const at = new Date(claim.at).toISOString();
  return claim.by === 'eviction' ? { by: claim.by, at } : { by: claim.by, at, term: claim.term };
}

const encoder = new TextEncoder();

/** Returns how many bytes `reservation` takes, written down, with what separates it from the next. */
export function bytesOf(reservation: Reservation): number {
  return encoder.encode(textOf(reservation)).length + 2;
}

/**
 * Returns a digest of the members of a ledger (FNV-1a, 32 bits). It shows a slip of the hand, and keeps no client out.
 *
 * @see https://datatracker.ietf.org/doc/html/draft-eastlake-fnv
 */
export function digestOf({
  version,
  budget,
  reservations,
  binding,
}: Omit<LedgerData, 'digest'>): string {
  let hash = 0x81_1c_9d_c5;
  const bound = binding === undefined ? [] : ['\n', binding];
  for (const text of [version, '\n', budget, '\n', reservations, ...bound]) {
    for (let at = 0; at < text.length; at += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01_00_01_93);
    }
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}
