import { isJsonArray, isJsonObject, type JsonArray, type JsonObject, jsonIn } from '#base/json.ts';
import { invalid, type Parsed, type Problem, valid } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import { parseTimestamp } from '#base/time/timestamp.ts';
import { stringAt } from '#statefulset/parse-fields.ts';
import type { BudgetRef } from './budget.ts';
import { digestOf, LEDGER_VERSION } from './format-ledger.ts';
import type { Ledger } from './ledger.ts';
import type { Claim, Reservation } from './reservation.ts';

/** What was found in the `data` of the ConfigMap of a budget. Whatever is no ledger says nothing of what is given away. */
export type StoredLedger =
  | {
      readonly kind: 'ledger';
      readonly ledger: Ledger;
      /** The binding of the budget when it was written; undefined where that had no bearing. */
      readonly binding?: string;
    }
  /**
   * It belongs to a budget with another uid, such as one of the same name that was deleted. `ledger` has what that one had
   * given away: pods are on their way whatever becomes of the budget that let them go.
   */
  | {
      readonly kind: 'of-another-budget';
      readonly ledger: Ledger;
      readonly problem: Problem;
    }
  | Unreadable;

/** What says nothing. */
interface Unreadable {
  readonly kind: /** A part of it is missing. */
    | 'truncated'
    /** A newer program wrote it. */
    | 'from-the-future'
    /** It is not as any program wrote it. */
    | 'edited';
  /** Where, what is required, and what was seen. */
  readonly problem: Problem;
}

/**
 * Reads the ledger of `budget` from the `data` of a ConfigMap. Total.
 *
 * @param object which ConfigMap it is, for the problem, such as `ConfigMap ops/ledger-ingester`
 */
export function parseLedger(data: JsonObject, budget: BudgetRef, object: string): StoredLedger {
  const path = (key: string): string => `${object} data["${key}"]`;
  const unknown = versionProblem(data, path);
  if (unknown !== undefined) return unknown;
  const owner = ownerOf(data, budget, path);
  if (owner.kind === 'unreadable') return owner.why;
  const text = stringAt(data, 'reservations');
  if (text === undefined) return missing(path('reservations'));
  const list = jsonIn(text);
  if (!isJsonArray(list)) {
    const isCut = list === undefined && !text.trimEnd().endsWith(']');
    const why = `must be a JSON array: got ${text.length} characters that end in ${quoted(text.slice(-40))}`;
    return unreadable(isCut ? 'truncated' : 'edited', path('reservations'), why);
  }
  const damage = damageOf(data, path);
  if (damage !== undefined) return damage;
  const reservations = parseReservations(list, path('reservations'));
  if (reservations.kind === 'invalid') return { kind: 'edited', problem: reservations.problem };
  const ledger = { budget, reservations: reservations.value };
  if (owner.kind === 'this') return { kind: 'ledger', ledger, ...bindingIn(data) };
  return { kind: 'of-another-budget', ledger, problem: owner.problem };
}

function bindingIn(data: JsonObject): { readonly binding?: string } {
  const binding = stringAt(data, 'binding');
  return binding === undefined ? {} : { binding };
}

type Path = (key: string) => string;

/** Returns why the ledger is not one that this program can read. */
function versionProblem(data: JsonObject, path: Path): Unreadable | undefined {
  const version = stringAt(data, 'version');
  if (version === undefined) return missing(path('version'));
  const wanted = `must be "${LEDGER_VERSION}", the version that this program writes`;
  if (!/^[1-9]\d{0,8}$/.test(version)) {
    return unreadable('edited', path('version'), `${wanted}: got ${quoted(version)}`);
  }
  if (Number(version) > LEDGER_VERSION) {
    const why = `${wanted}: got ${quoted(version)}, which a newer program wrote`;
    return unreadable('from-the-future', path('version'), why);
  }
  return undefined;
}

type Owner =
  | { readonly kind: 'this' }
  | { readonly kind: 'another'; readonly problem: Problem }
  | { readonly kind: 'unreadable'; readonly why: Unreadable };

/** Returns whose ledger it is. */
function ownerOf(data: JsonObject, budget: BudgetRef, path: Path): Owner {
  const text = stringAt(data, 'budget');
  if (text === undefined) return { kind: 'unreadable', why: missing(path('budget')) };
  const owner = jsonIn(text);
  const uid = isJsonObject(owner) ? stringAt(owner, 'uid') : undefined;
  if (uid === budget.uid) return { kind: 'this' };
  const { namespace, name } = budget;
  const message = `must name the ${budget.kind} ${namespace}/${name} with uid ${quoted(budget.uid)}: got ${quoted(text)}`;
  const problem = { path: path('budget'), message };
  if (uid !== undefined) return { kind: 'another', problem };
  return { kind: 'unreadable', why: { kind: 'edited', problem } };
}

function damageOf(data: JsonObject, path: Path): Unreadable | undefined {
  const digest = stringAt(data, 'digest');
  if (digest === undefined) return missing(path('digest'));
  const member = (key: string): string => stringAt(data, key) ?? '';
  const wanted = digestOf({
    version: member('version'),
    budget: member('budget'),
    reservations: member('reservations'),
    ...bindingIn(data),
  });
  if (digest === wanted) return undefined;
  const why = `must be "${wanted}", as computed from the other members: got ${quoted(digest)}; was it edited by hand?`;
  return unreadable('edited', path('digest'), why);
}

function missing(path: string): Unreadable {
  return unreadable('truncated', path, 'must be a text: there is none');
}

function unreadable(kind: Unreadable['kind'], path: string, message: string): Unreadable {
  return { kind, problem: { path, message } };
}

function parseReservations(
  list: JsonArray,
  path: string,
): Parsed<ReadonlyMap<string, Reservation>> {
  const reservations = new Map<string, Reservation>();
  for (const [index, entry] of list.entries()) {
    const at = `${path}[${index}]`;
    if (!isJsonObject(entry)) return invalid(at, 'must be an object');
    const parsed = parseReservation(entry, at);
    if (parsed.kind === 'invalid') return parsed;
    const { uid } = parsed.value;
    if (reservations.has(uid)) {
      return invalid(
        `${at}.uid`,
        `must be of a pod that no other reservation is for: got ${quoted(uid)}`,
      );
    }
    reservations.set(uid, parsed.value);
  }
  return valid(reservations);
}

function parseReservation(entry: JsonObject, at: string): Parsed<Reservation> {
  const [uid, pod] = [stringAt(entry, 'uid') ?? '', stringAt(entry, 'pod') ?? ''];
  if (uid === '')
    return invalid(`${at}.uid`, `must be the uid of a pod: got ${shown(entry, 'uid')}`);
  if (pod === '')
    return invalid(`${at}.pod`, `must be the name of a pod: got ${shown(entry, 'pod')}`);
  for (const key of ['set', 'zone']) {
    if (entry[key] !== undefined && typeof entry[key] !== 'string') {
      return invalid(`${at}.${key}`, `must be a name, or absent: got ${shown(entry, key)}`);
    }
  }
  const claims = parseClaims(entry, `${at}.claims`);
  if (claims.kind === 'invalid') return claims;
  const slot = { pod, set: stringAt(entry, 'set'), zone: stringAt(entry, 'zone') };
  return valid({ uid, slot, claims: claims.value });
}

function parseClaims(entry: JsonObject, at: string): Parsed<readonly Claim[]> {
  const list = entry['claims'];
  if (!isJsonArray(list) || list.length === 0) {
    return invalid(at, `must be an array with at least one claim: got ${shown(entry, 'claims')}`);
  }
  const claims: Claim[] = [];
  for (const [index, each] of list.entries()) {
    const claim = parseClaim(isJsonObject(each) ? each : {}, `${at}[${index}]`);
    if (claim.kind === 'invalid') return claim;
    if (claims.some(({ by }) => by === claim.value.by)) {
      return invalid(`${at}[${index}].by`, `must be said once: got "${claim.value.by}" again`);
    }
    claims.push(claim.value);
  }
  return valid(claims);
}

function parseClaim(claim: JsonObject, path: string): Parsed<Claim> {
  const parsed = parseTimestamp(stringAt(claim, 'at') ?? '', `${path}.at`);
  if (parsed.kind === 'invalid') return parsed;
  const at = parsed.value;
  const by = stringAt(claim, 'by');
  if (by === 'eviction') return valid({ by, at });
  if (by !== 'rollout' && by !== 'scale-down') {
    const why = `must be "eviction", "rollout" or "scale-down": got ${shown(claim, 'by')}`;
    return invalid(`${path}.by`, why);
  }
  const term = stringAt(claim, 'term') ?? '';
  if (term === '') {
    const why = `must be the term in which it was made: got ${shown(claim, 'term')}`;
    return invalid(`${path}.term`, why);
  }
  return valid({ by, at, term });
}

function shown(parent: JsonObject, key: string): string {
  const value = parent[key];
  return value === undefined ? 'none' : quoted(JSON.stringify(value));
}
