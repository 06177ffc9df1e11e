import { after, type Instant, type Millis, millis, minutes, seconds } from '#base/units.ts';
import type { Call } from '#cluster/event-log.ts';
import { ordinalIn, type PodFacts, type SetFacts } from '../history/facts.ts';
import { domainOf, type History, type View } from '../history/history.ts';
import type { OwnDisruptions } from '../history/own-disruptions.ts';
import {
  type DisruptionStatement,
  type ScaleStatement,
  type StatementBook,
  viewOf,
} from '../history/statement.ts';
import {
  isOutdated,
  isWhollyBroken,
  type Seen,
  slotsUnderWay,
  stuckness,
} from '../history/stuck.ts';
import { Findings, type Invariant, type Point, type Violation } from './invariant.ts';
import type { Receipts } from './proof.ts';
import { groundsText, type Room, requestText } from './room.ts';
import { type Sent, sentOf, slotsAskedFor } from './sent.ts';

/** What a client had been shown is judged by. */
export interface ShownOptions {
  readonly history: History;
  readonly disruptions: OwnDisruptions;
  readonly statements: StatementBook;
  readonly scaleStatements: readonly ScaleStatement[];
  readonly ours: (user: string) => boolean;
  /** What watches delivered; or, where that is unknown, after how long a commit counts as shown. */
  readonly by: Receipts | Millis;
  readonly stuckAfter?: Millis;
}

/** How long a client may take until what it was shown counts in what it sends (D-57). */
const tolerance = seconds(1);
/** How long a request without an answer may still have an effect (D-7). */
const horizon = seconds(120);
const podOf = (sent: Sent): string => `${sent.call.namespace}/${sent.call.name}`;

/**
 * SHOWN (D-57): a deletion of a pod, or a lowering of replicas, still follows from what its client had been shown a
 * second before it was sent. Refused requests count: what was wrong to send was wrong, no matter who stopped it.
 */
export class ShownState implements Invariant {
  readonly #options: ShownOptions;
  readonly #findings = new Findings();
  readonly #calls: Call[] = [];

  constructor(options: ShownOptions) {
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onCall(call: Call): void {
    if (!this.#options.ours(call.user) || call.resource !== 'pods') return;
    if (call.verb !== 'delete' || call.subresource !== '') return;
    this.#calls.push(call);
  }

  onEnd(end: Point): void {
    const all = sentOf(this.#calls, this.#options.statements);
    for (const [index, sent] of all.entries()) {
      const complaint = this.#complaint(sent, all.slice(0, index));
      if (complaint === undefined) continue;
      const deed = `We sent a deletion of pod ${podOf(sent)}`;
      this.#add(sent.statement.sentAt, end, `${deed} although ${this.#since()} ${complaint}`);
    }
    for (const scale of this.#options.scaleStatements) {
      const complaint = scale.to < scale.from ? this.#scaleComplaint(scale) : undefined;
      if (complaint === undefined) continue;
      const deed = `We sent ${scale.setName} from ${scale.from} to ${scale.to} replicas`;
      this.#add(scale.sentAt, end, `${deed} although ${this.#since()} ${complaint}`);
    }
  }

  #add(at: Instant, end: Point, message: string): void {
    const revision = Math.min(end.revision, this.#options.history.revisionAt(at));
    this.#findings.add('SHOWN', { at, revision }, message);
  }

  #since(): string {
    const { by } = this.#options;
    return typeof by === 'number'
      ? `for at least ${by} ms`
      : `its client had been shown ${tolerance} ms before`;
  }

  /** Returns the view of `statement`, with all that its client had been shown in time. */
  #shown(statement: Omit<DisruptionStatement, 'podUid'>, client: string): View {
    const { by, history } = this.#options;
    const view = viewOf(statement);
    const until = (wait: number): Instant => after(statement.sentAt, millis(0 - wait));
    const reached = (resource: string): number =>
      typeof by === 'number'
        ? history.revisionAt(until(by))
        : by.shown(client, resource, until(tolerance));
    const [pods, sets] = [reached('pods'), reached('statefulsets.apps')];
    return {
      pods: (set, pod) => Math.max(pods, view.pods(set, pod)),
      sets: (set) => Math.max(sets, view.sets(set)),
      now: statement.sentAt,
    };
  }

  #complaint(sent: Sent, earlier: readonly Sent[]): string | undefined {
    const { call, statement } = sent;
    const view = this.#shown(statement, call.client);
    const complaint = this.#complaintIn(view, sent, earlier);
    if (complaint === undefined || !hadEffect(call)) return complaint;
    // What its own view forbids, the rules of what had an effect name already.
    return this.#complaintIn(viewOf(statement), sent, []) === undefined ? complaint : undefined;
  }

  #complaintIn(view: View, sent: Sent, earlier: readonly Sent[]): string | undefined {
    const { statement } = sent;
    const { history } = this.#options;
    const pod = this.#podIn(view, sent.call);
    if (pod === undefined || pod.uid !== sent.uid) return 'that it was gone';
    const moved = podComplaint(pod, sent.call);
    if (moved !== undefined) return moved;
    const set = history.setByUid(pod.controllerUid ?? '', view);
    if (set === undefined) return 'that its StatefulSet was gone';
    const group = history.setByUid(set.uid, viewOf(statement))?.group ?? set.group;
    if (group !== set.group) return `that ${set.name} had left the group`;
    return (
      this.#holdComplaint(pod, set, view) ?? this.#roomComplaint(sent, { set, pod, view, earlier })
    );
  }

  #holdComplaint(pod: PodFacts, set: SetFacts, view: View): string | undefined {
    if (set.isPaused) return `that ${set.name} was paused`;
    if (!isOutdated(pod, set)) return 'that it need not be replaced';
    const other = this.#options.history
      .members(domainOf(set), view)
      .find(({ updateStrategy }) => updateStrategy !== 'OnDelete');
    return other === undefined ? undefined : `that ${other.name} was not OnDelete`;
  }

  #roomComplaint(
    sent: Sent,
    at: {
      readonly set: SetFacts;
      readonly pod: PodFacts;
      readonly view: View;
      readonly earlier: readonly Sent[];
    },
  ): string | undefined {
    const { history, stuckAfter } = this.#options;
    const { set, pod, view } = at;
    const seen: Seen = { history, view, ...(stuckAfter !== undefined && { stuckAfter }) };
    const isStuck = stuckness(pod, seen) !== undefined;
    if (isStuck && isWhollyBroken(set, seen)) return undefined;
    const open = at.earlier.filter((each) => this.#isOpen(each, sent, view));
    const room: Room = { history, sent, view, open };
    const elsewhere = isStuck ? undefined : this.#otherZone(set, room);
    if (elsewhere !== undefined) return elsewhere;
    const spent = isStuck ? slotsUnderWay(set, seen) : history.unavailableSlots(set, view);
    const slots = new Set([...spent, ...slotsAskedFor(set, [...open, sent])]);
    if (slots.size <= set.limit) return undefined;
    return `that there was no room: with it ${slots.size} slots of ${set.name} are unavailable or going, its limit is ${set.limit}${groundsText(set, slots, room)}`;
  }

  #otherZone(set: SetFacts, room: Room): string | undefined {
    const { history } = this.#options;
    const { view, open } = room;
    for (const other of history.members(domainOf(set), view)) {
      if (other.uid === set.uid) continue;
      const missing = history.unavailableSlots(other, view);
      if (missing.length > 0) {
        return `that slots ${missing.join(', ')} of ${other.name} were unavailable${groundsText(other, missing, room)}`;
      }
      const going = open.find(({ call }) => ordinalIn(call.name, other.name) !== undefined);
      if (going !== undefined)
        return `nothing yet that ended our request for pod ${going.call.name}: ${requestText(going, room)}`;
    }
    return undefined;
  }

  /** Reports whether the request `each` of the same client may still take its pod, as far as `view` shows (D-52). */
  #isOpen(each: Sent, sent: Sent, view: View): boolean {
    const { call, uid, statement } = each;
    const { sentAt } = sent.statement;
    if (call.client !== sent.call.client || sentAt - statement.sentAt > horizon) return false;
    // What was answered is over, one way or the other: what had an effect the other rules count by its commit.
    const isAnswered = typeof call.outcome === 'number' && call.outcome < 500;
    if (isAnswered && call.endedAt <= sentAt) return false;
    const pod = this.#podIn(view, call);
    if (pod?.uid !== uid) return false;
    // Only a newer revision than the one that it names voids it: another one may just be older.
    return Number(pod.resourceVersion) <= Number(call.preconditions?.resourceVersion);
  }

  #podIn(view: View, { namespace, name }: Call): PodFacts | undefined {
    const set = name.slice(0, Math.max(0, name.lastIndexOf('-')));
    return this.#options.history.pod(namespace, name, view.pods(set, name));
  }

  #scaleComplaint(scale: ScaleStatement): string | undefined {
    const { history, disruptions } = this.#options;
    const view = this.#shown(scale, scale.client ?? '');
    const set = history.set(scale.namespace, scale.setName, view);
    if (set === undefined || set.uid !== scale.setUid) return 'that it was gone';
    if (set.replicas !== scale.from) return `that it had ${set.replicas} replicas`;
    const open = disruptions.in(domainOf(set)).find((own) => {
      if (own.setUid === set.uid || own.kind === 'replacement') return false;
      if (scale.sentAt - own.at > minutes(60)) return false;
      return disruptions.wasOpenAt(own, view);
    });
    if (open === undefined) return undefined;
    return `that our disruption of ${open.setName}-${open.ordinal} was open`;
  }
}

function hadEffect({ outcome }: Call): boolean {
  return typeof outcome === 'number' && outcome < 300;
}

function podComplaint(pod: PodFacts, { preconditions }: Call): string | undefined {
  if (pod.isTerminating) return 'that it was going already';
  const named = preconditions?.resourceVersion;
  // A newer one than was shown in time is no fault: it came within the last second.
  return Number(named) < Number(pod.resourceVersion) ? 'that it had changed' : undefined;
}
