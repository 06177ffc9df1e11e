import { type Instant, minutes } from '#base/units.ts';
import type { Call } from '#cluster/event-log.ts';
import { ledgerName } from '#disruption-budget/api.ts';
import { Findings, type Invariant, type Violation } from '../invariant.ts';
import { isCountedWrite } from './effort.ts';

const span = minutes(1);
/** Far above what any rollout needs of one object, far below what two writers at odds come to. */
const most = 60;

/** What the names of all ledgers begin with: each pod that goes is written there before it goes. */
const ledgers = ledgerName('');

/**
 * QUIE-2: we send at most 60 writes a minute to one object, whatever another client does to it; to a ledger one more for each
 * pod that any client takes away in that minute. Events and Leases do not count. Reported once for each object.
 */
export class Pace implements Invariant {
  readonly #ours: (user: string) => boolean;
  readonly #findings = new Findings();
  /** When the writes of the last minute were sent, by object. */
  readonly #sent = new Map<string, Instant[]>();
  /** When pods were taken away in the last minute. */
  #removed: readonly Instant[] = [];
  readonly #told = new Set<string>();

  constructor(ours: (user: string) => boolean) {
    this.#ours = ours;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onCall(call: Call): void {
    const isLate = (at: Instant): boolean => call.startedAt - at < span;
    if (isRemoval(call)) this.#removed = [...this.#removed.filter(isLate), call.startedAt];
    if (!this.#ours(call.user) || !isCountedWrite(call) || call.name === '') return;
    const object = `${call.resource} ${call.namespace}/${call.name}`;
    const times = [...(this.#sent.get(object) ?? []).filter(isLate), call.startedAt];
    this.#sent.set(object, times);
    const isLedger = call.resource === 'configmaps' && call.name.startsWith(ledgers);
    const fair = most + (isLedger ? this.#removed.filter(isLate).length : 0);
    if (times.length <= fair || this.#told.has(object)) return;
    this.#told.add(object);
    const message = `We sent ${times.length} writes on ${object} within a minute; ${fair} are fair`;
    this.#findings.add('QUIE-2', { at: call.startedAt, revision: 0 }, message);
  }
}

function isRemoval({ resource, subresource, verb, outcome }: Call): boolean {
  if (resource !== 'pods' || typeof outcome !== 'number' || outcome >= 300) return false;
  return (verb === 'delete' && subresource === '') || subresource === 'eviction';
}
