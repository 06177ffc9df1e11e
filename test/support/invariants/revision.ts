import type { Millis } from '#base/units.ts';
import type { Call, Commit } from '#cluster/event-log.ts';
import { type PodFacts, podFacts } from '../history/facts.ts';
import { type History, viewAt } from '../history/history.ts';
import type { Removal } from '../history/removal.ts';
import { type StatementBook, viewOf } from '../history/statement.ts';
import { decisionAge } from './exclusion.ts';
import { Findings, type Invariant, type Point, type Violation } from './invariant.ts';

/** What shows which pod was meant, and what revision it ran (REV-1, REV-2). */
export interface RevisionOptions {
  readonly history: History;
  readonly statements: StatementBook;
  readonly ours: (user: string) => boolean;
  /** `A` of docs/rules/words.md. */
  readonly maxDecisionAge: Millis;
}

/**
 * REV-1: each of our deletes and evictions of a pod names the uid that it was decided on (deletes the
 * resourceVersion too), whatever is answered; and nothing with another uid is ever removed by it. Strict.
 */
export class Incarnation implements Invariant {
  readonly #options: RevisionOptions;
  readonly #findings = new Findings();
  readonly #unanswered = new Map<number, Removal>();
  #lastRevision = 0;

  constructor(options: RevisionOptions) {
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onCommit(commit: Commit): void {
    this.#lastRevision = commit.revision;
  }

  onCall(call: Call): void {
    if (!isPodRemoval(call) || !this.#options.ours(call.user) || !isRead(call)) return;
    const point = { at: call.endedAt, revision: this.#lastRevision };
    const pod = `${call.namespace}/${call.name}`;
    const { uid, resourceVersion } = call.preconditions ?? {};
    if (uid === undefined) {
      this.#findings.add('REV-1', point, `We sent a removal of pod ${pod} without a uid`);
    } else if (resourceVersion === undefined && call.subresource !== 'eviction') {
      const message = `We sent a delete of pod ${pod} (uid ${uid}) without a resourceVersion`;
      this.#findings.add('REV-1', point, message);
    } else {
      this.#judgeUid(call, uid, point);
    }
  }

  onRemoval(removal: Removal): void {
    this.#unanswered.set(removal.commit.revision, removal);
  }

  onAnswered(removal: Removal, call: Call): void {
    this.#unanswered.delete(removal.commit.revision);
    const wanted = call.preconditions?.uid;
    const { namespace, name, uid } = removal.commit;
    // Without a uid `onCall` has said so, unless the call looks as if it had been refused unread.
    if (wanted === uid || (wanted === undefined && isRead(call))) return;
    this.#findings.add(
      'REV-1',
      removal.commit,
      `We removed pod ${namespace}/${name} with uid ${uid} by a request for uid ${wanted ?? '(none)'}`,
    );
  }

  onEnd(): void {
    for (const { commit } of this.#unanswered.values()) {
      const message = `We removed pod ${commit.namespace}/${commit.name}, and no call is recorded for it`;
      this.#findings.add('REV-1', commit, message);
    }
  }

  #judgeUid(call: Call, uid: string, point: Point): void {
    const statement = this.#options.statements.find(uid, call.startedAt);
    if (statement === undefined) return;
    const view = viewOf(statement);
    const set = call.name.slice(0, Math.max(0, call.name.lastIndexOf('-')));
    const seen = this.#options.history.pod(call.namespace, call.name, view.pods(set, call.name));
    if (seen?.uid === uid) return;
    this.#findings.add(
      'REV-1',
      point,
      `We sent a removal of pod ${call.namespace}/${call.name} for uid ${uid}; our view showed ${seen?.uid ?? 'no such pod'}`,
    );
  }
}

/** REV-2: what we delete ran another revision than its set's known target at r(d), and r(d) was young. Fresh. */
export class TargetRevision implements Invariant {
  readonly #options: RevisionOptions;
  readonly #findings = new Findings();

  constructor(options: RevisionOptions) {
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onAnswered(removal: Removal, call: Call): void {
    if (call.subresource === 'eviction') return;
    const complaint = this.#complaint(removal);
    if (complaint === undefined) return;
    const { namespace, name } = removal.commit;
    this.#findings.add('REV-2', removal.commit, `We deleted pod ${namespace}/${name}${complaint}`);
  }

  #complaint(removal: Removal): string | undefined {
    const { set, view, commit } = removal;
    if (set === undefined) return ', which no known StatefulSet owns';
    const seen = this.#options.history.pod(
      commit.namespace,
      commit.name,
      view.pods(set.name, commit.name),
    );
    const pod: PodFacts = seen?.uid === commit.uid ? seen : removal.pod;
    if (set.target === undefined) return `, while the target revision of ${set.name} was unknown`;
    if (pod.revision === set.target) return `, which ran the target revision ${set.target}`;
    return this.#ageComplaint(removal);
  }

  // The age of a removal that costs a slot is judged by EXCL-2; the free ones are left to this rule.
  #ageComplaint(removal: Removal): string | undefined {
    const { statement, costs } = removal;
    if (statement === undefined || costs) return undefined;
    const age = decisionAge(statement, this.#options.history);
    if (age <= this.#options.maxDecisionAge) return undefined;
    return ` on a view that was outdated for ${age} ms; ${this.#options.maxDecisionAge} ms are allowed`;
  }
}

interface SlotCount {
  deletions: number;
  /** Pods of another revision that came to the slot after our first deletion. */
  arrivals: number;
}

/**
 * REV-3: per slot and target we delete once, and once more for each pod of another revision that came to the slot
 * since. Strict.
 */
export class OneKillPerSlot implements Invariant {
  readonly #history: History;
  readonly #findings = new Findings();
  readonly #counts = new Map<string, Map<string, SlotCount>>();

  constructor(history: History) {
    this.#history = history;
  }

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onCommit(commit: Commit): void {
    if (commit.resource !== 'pods' || commit.after === undefined) return;
    const pod = podFacts(commit.after);
    const before = commit.before === undefined ? undefined : podFacts(commit.before);
    if (before !== undefined && before.revision === pod.revision) return;
    for (const [target, count] of this.#counts.get(slotKey(pod)) ?? []) {
      if (pod.revision !== target) count.arrivals += 1;
    }
  }

  onRemoval(removal: Removal): void {
    this.#countOf(removal).deletions += 1;
  }

  onAnswered(removal: Removal, call: Call): void {
    const count = this.#countOf(removal);
    if (call.subresource === 'eviction') {
      count.deletions -= 1;
      return;
    }
    if (count.deletions <= 1 + count.arrivals) return;
    const { commit } = removal;
    this.#findings.add(
      'REV-3',
      commit,
      `We deleted in slot ${commit.namespace}/${commit.name} ${count.deletions} times for one target; ${1 + count.arrivals} are explained`,
    );
  }

  #countOf(removal: Removal): SlotCount {
    const { commit, pod } = removal;
    const before = viewAt(commit.revision - 1, commit.at);
    const set = removal.set ?? this.#history.setByUid(pod.controllerUid ?? '', before);
    return this.#count(slotKey(pod), set?.target ?? '');
  }

  #count(slot: string, target: string): SlotCount {
    const targets = this.#counts.get(slot) ?? new Map<string, SlotCount>();
    this.#counts.set(slot, targets);
    const count = targets.get(target) ?? { deletions: 0, arrivals: 0 };
    targets.set(target, count);
    return count;
  }
}

function slotKey(pod: PodFacts): string {
  return `${pod.controllerUid ?? ''}/${pod.namespace}/${pod.name}`;
}

/**
 * Reports whether the record says what the body of `call` said: a request that is refused before its body is read (403,
 * 429, an injected fault) is recorded without preconditions, whether it had any or not.
 */
function isRead(call: Call): boolean {
  const isSuccess = typeof call.outcome === 'number' && call.outcome < 300;
  return isSuccess || call.preconditions !== undefined || call.verb === 'deletecollection';
}

/** Reports whether `call` asks to delete or evict a pod, or pods by the collection. */
function isPodRemoval(call: Call): boolean {
  if (call.resource !== 'pods') return false;
  if (call.subresource === 'eviction') return call.verb === 'create';
  return call.subresource === '' && (call.verb === 'delete' || call.verb === 'deletecollection');
}
