import { after, type Instant, instant, type Millis, minutes, seconds } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { type Domain, type History, latestView } from '../../history/history.ts';
import { textAt } from '../../objects/json-path.ts';
import { Findings, type Invariant, type Point, type Violation } from '../invariant.ts';
import { incompleteness } from './completion.ts';
import { domainMovedBy } from './movement.ts';
import type { StallStatement } from './reasons.ts';

/** One time that the operator said something of a set in its log. */
export interface Telling {
  readonly at: Instant;
  readonly namespace: string;
  readonly set: string;
}

/** What is judged of telling again. */
export interface RetoldOptions {
  readonly history: History;
  readonly ours: (user: string) => boolean;
  /** What the operator said it waits for; holds that a user asked for are reported once. */
  readonly said: readonly StallStatement[];
  /** What it logged, in order of time. Undefined: only Events are judged. */
  readonly logged?: readonly Telling[];
  /** Whether Events are judged; not where the Role forbids them. @default true */
  readonly areEventsJudged?: boolean;
}

/** How long a stall is movement's own matter (LIVE-2). */
const patience = seconds(60);
/** How old what was said last may be while a stall lasts (D-54), with the time that an Event takes to be written. */
const longest: Millis = minutes(10);
const delivery: Millis = seconds(15);
/** Holds that a user asked for: reported once. */
const askedFor: ReadonlySet<string> = new Set(['Paused', 'Suspended', 'DryRun']);

type Channel = 'Event' | 'log line';

/**
 * LIVE-2, D-54: while a group stands still, what was said of it last, as Event and as log line, is at most 10 minutes
 * old. An Event that is written again (its count or its time grows) is said again.
 */
export class RetoldStall implements Invariant {
  readonly #options: RetoldOptions;
  readonly #findings = new Findings();
  readonly #movedAt = new Map<Domain, Instant>();
  /** Keyed by channel and group. */
  readonly #toldAt = new Map<string, Instant>();
  readonly #channels: readonly Channel[];
  #logIndex = 0;
  #revision = 0;

  constructor(options: RetoldOptions) {
    this.#options = options;
    this.#channels = [
      ...(options.areEventsJudged === false ? [] : (['Event'] as const)),
      ...(options.logged === undefined ? [] : (['log line'] as const)),
    ];
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onCommit(commit: Commit): void {
    this.#judgeAll(commit.at);
    this.#revision = commit.revision;
    const domain = domainMovedBy(commit, this.#options);
    if (domain !== undefined) this.#movedAt.set(domain, commit.at);
    this.#takeEvent(commit);
  }

  onEnd(end: Point): void {
    this.#judgeAll(end.at);
  }

  #takeEvent({ resource, after: event, user, at, namespace }: Commit): void {
    if (!/^events(\.events\.k8s\.io)?$/.test(resource) || event === undefined) return;
    if (!this.#options.ours(user)) return;
    const about = ['involvedObject', 'regarding'].map((member) => ({
      kind: textAt(event, member, 'kind'),
      name: textAt(event, member, 'name'),
    }));
    for (const { kind, name } of about) {
      if (kind === 'StatefulSet' && name !== undefined) {
        this.#tell('Event', { at, namespace, set: name });
      }
    }
  }

  #tell(channel: Channel, { at, namespace, set }: Telling): void {
    const found = this.#options.history.set(namespace, set, latestView(at));
    if (found?.group === undefined) return;
    this.#toldAt.set(`${channel} group ${namespace}/${found.group}`, at);
  }

  #judgeAll(now: Instant): void {
    const { logged = [] } = this.#options;
    // Each line is a moment of its own: what was said in time before it may have been late after it.
    for (let line = logged[this.#logIndex]; line !== undefined; line = logged[this.#logIndex]) {
      if (line.at > now) break;
      this.#judge(line.at);
      this.#tell('log line', line);
      this.#logIndex += 1;
    }
    this.#judge(now);
  }

  #judge(now: Instant): void {
    for (const [domain, movedAt] of this.#movedAt) {
      for (const channel of this.#channels) {
        const key = `${channel} ${domain}`;
        const begun = after(movedAt, patience);
        const told = this.#toldAt.get(key) ?? begun;
        const due = instant(Math.max(begun, told) + longest + delivery);
        if (now <= due || !this.#standsStill(domain, due)) continue;
        this.#movedAt.delete(domain);
        const message = `The ${domain} stood still, and the last ${channel} about it was ${now - told} ms old; ${longest} ms are allowed`;
        this.#findings.add('LIVE-2', { at: due, revision: this.#revision }, message);
        break;
      }
    }
  }

  #standsStill(domain: Domain, at: Instant): boolean {
    const { history, said } = this.#options;
    const last = said.findLast(
      (each) => each.at <= at && `group ${each.namespace}/${each.group}` === domain,
    );
    if (last !== undefined && askedFor.has(last.reason)) return false;
    const view = latestView(at);
    return history
      .members(domain, view)
      .some((set) => incompleteness(set, history, view) !== undefined);
  }
}
