import type { Instant } from '#base/units.ts';
import type { Call } from '#cluster/event-log.ts';
import type { Removal } from '../../history/removal.ts';
import type { FleetCall } from '../../pods/pod-fleet.ts';
import { Findings, type Invariant, type Point, type Violation } from '../invariant.ts';

const writeVerbs = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
/** Events and Lease renewals never count; reviews store nothing. */
const freeResources =
  /^(events(\.events\.k8s\.io)?|leases\.coordination\.k8s\.io|.*\.authorization\.k8s\.io)$/;

/**
 * Reports whether `call` is a write that QUIE-1 and D-16 count; whatever its outcome. One of a ledger is: while nothing is
 * asked for and nothing has ended, none is due. It is no delete of a pod, so that `others` of {@link EffortOptions} has room
 * for it.
 */
export function isCountedWrite(call: Call): boolean {
  return writeVerbs.has(call.verb) && !freeResources.test(call.resource);
}

/** When there is nothing to do. */
export interface QuietOptions {
  readonly from: Instant;
  /** @default the end of the history */
  readonly until?: Instant;
}

/**
 * QUIE-1: between two instants we send no write, refused ones included; Events and Lease renewals excepted. Neither do
 * we call a pod (KW-25).
 */
export class Quiescence implements Invariant {
  readonly #ours: (user: string) => boolean;
  readonly #quiet: QuietOptions;
  readonly #findings = new Findings();

  readonly #podCalls: readonly FleetCall[];

  /** @param podCalls all calls that reached pods, in order of arrival */
  constructor(
    ours: (user: string) => boolean,
    quiet: QuietOptions,
    podCalls: readonly FleetCall[] = [],
  ) {
    this.#ours = ours;
    this.#quiet = quiet;
    this.#podCalls = podCalls;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onEnd(): void {
    for (const { at, method, pod } of this.#podCalls) {
      if (!this.#isQuiet(at)) continue;
      const message = `We sent ${method} to pod ${pod} although there was nothing to do`;
      this.#findings.add('QUIE-1', { at, revision: 0 }, message);
    }
  }

  #isQuiet(at: Instant): boolean {
    const { from, until } = this.#quiet;
    return at >= from && (until === undefined || at <= until);
  }

  onCall(call: Call): void {
    if (!this.#isQuiet(call.startedAt)) return;
    if (!this.#ours(call.user) || !isCountedWrite(call)) return;
    const object = `${call.resource} ${call.namespace}/${call.name}`;
    const message = `We sent ${call.verb} ${object} (call ${call.callId}) although there was nothing to do`;
    this.#findings.add('QUIE-1', { at: call.startedAt, revision: 0 }, message);
  }
}

/** How many writes are fair. */
export interface EffortOptions {
  /** Writes on each StatefulSet of a group over the whole history, such as its `/status`. */
  readonly perSet: number;
  /** All other writes, such as a ConfigMap, over the whole history. @default 0 */
  readonly others?: number;
}

/** WRITES (D-16): one delete a removed pod, and a constant for each zone. Meant for runs without faults. */
export class Effort implements Invariant {
  readonly #ours: (user: string) => boolean;
  readonly #limits: EffortOptions;
  readonly #findings = new Findings();
  readonly #bySet = new Map<string, number>();
  #removals = 0;
  #deletes = 0;
  #others = 0;

  constructor(ours: (user: string) => boolean, limits: EffortOptions) {
    this.#ours = ours;
    this.#limits = limits;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onRemoval(_removal: Removal): void {
    this.#removals += 1;
  }

  onCall(call: Call): void {
    if (!this.#ours(call.user) || !isCountedWrite(call)) return;
    if (call.resource === 'pods' && call.verb === 'delete') {
      this.#deletes += 1;
    } else if (call.resource === 'statefulsets.apps') {
      const key = `${call.namespace}/${call.name}`;
      this.#bySet.set(key, (this.#bySet.get(key) ?? 0) + 1);
    } else {
      this.#others += 1;
    }
  }

  onEnd(end: Point): void {
    const others = this.#limits.others ?? 0;
    this.#compare(end, { sent: this.#deletes, fair: this.#removals, what: 'deletes of pods' });
    this.#compare(end, { sent: this.#others, fair: others, what: 'other writes' });
    for (const [set, sent] of this.#bySet) {
      this.#compare(end, { sent, fair: this.#limits.perSet, what: `writes on StatefulSet ${set}` });
    }
  }

  #compare(end: Point, count: { sent: number; fair: number; what: string }): void {
    if (count.sent <= count.fair) return;
    this.#findings.add(
      'WRITES',
      end,
      `We sent ${count.sent} ${count.what}; ${count.fair} are fair`,
    );
  }
}
