import { type Instant, minutes } from '#base/units.ts';
import type { Call } from '#embedded-cluster/event-log.ts';
import { isCountedWrite } from './effort.ts';
import { Findings, type Invariant, type Violation } from './invariant.ts';

const span = minutes(1);
/** Far above what any rollout needs of one object, far below what two writers at odds come to. */
const most = 60;

/**
 * QUIE-2: we send at most 60 writes a minute to one object, whatever somebody else does to it. Events and Leases do not
 * count. Told once an object.
 */
export class Pace implements Invariant {
  readonly #ours: (user: string) => boolean;
  readonly #findings = new Findings();
  /** When the last writes were sent, by object. */
  readonly #sent = new Map<string, Instant[]>();
  readonly #told = new Set<string>();

  constructor(ours: (user: string) => boolean) {
    this.#ours = ours;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onCall(call: Call): void {
    if (!this.#ours(call.user) || !isCountedWrite(call) || call.name === '') return;
    const object = `${call.resource} ${call.namespace}/${call.name}`;
    const times = this.#sent.get(object) ?? [];
    this.#sent.set(object, times);
    times.push(call.startedAt);
    if (times.length > most + 1) times.shift();
    const first = times[0] ?? call.startedAt;
    if (times.length <= most || call.startedAt - first >= span || this.#told.has(object)) return;
    this.#told.add(object);
    const message = `We sent ${times.length} writes on ${object} within ${call.startedAt - first} ms; ${most} a minute are fair`;
    this.#findings.add('QUIE-2', { at: call.startedAt, revision: 0 }, message);
  }
}
