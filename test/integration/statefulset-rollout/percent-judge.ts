/** Holds the history of a StatefulsetRollout over the set `db` against what was promised, by what the store saw and nothing else. */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Call, Commit } from '#cluster/event-log.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';

/** What a judgement is made on. */
export interface PercentHistory {
  readonly commits: readonly Commit[];
  readonly calls: readonly Call[];
}

/**
 * Returns what is wrong, one sentence each: a pod that our program took twice on one version, without its record in the status
 * (BUDG-1), beyond the percentage, or in a pause (GATE-2), and a field that it changed although others own it (LOST-1, LOST-2).
 */
export function percentFaults({ commits, calls }: PercentHistory): readonly string[] {
  const sentAt = new Map(calls.map(({ callId, startedAt }) => [callId, startedAt]));
  const book = new Book();
  const own = commits.flatMap((commit) => {
    const faults = isOurs(commit) ? book.judge(commit, sentAt.get(commit.callId)) : [];
    book.note(commit);
    return faults.map((fault) => `at ${commit.at} ${commit.name} ${fault}`);
  });
  return [...own, ...messageFaults(commits, sentAt)];
}

/** What the user wants, from when on. */
interface Wish {
  readonly at: number;
  readonly percent: number;
  readonly isPaused: boolean;
}

/** All that the judgement of the next commit rests on. */
class Book {
  /** uids of all pods that were ever in a stored batch. */
  readonly #recorded = new Set<string>();
  /** Pods by name and revision that our program took. */
  readonly #taken = new Set<string>();
  readonly #wishes: Wish[] = [];
  #set: JsonObject | undefined;
  /** Since the set has its present template: the pods that were taken. */
  readonly #released = new Set<string>();

  note(commit: Commit): void {
    const { resource, after, before } = commit;
    if (resource.startsWith('statefulsetrollouts')) this.#noteRollout(after, commit.at);
    if (resource !== 'statefulsets.apps' || commit.name !== 'db') return;
    if (templateOf(before) !== templateOf(after)) this.#released.clear();
    this.#set = after;
  }

  #noteRollout(after: JsonObject | undefined, at: number): void {
    for (const pod of objectsAt(after, 'status', 'rollout', 'batch')) {
      this.#recorded.add(textAt(pod, 'uid'));
    }
    const isPaused = objectAt(after, 'spec')['pauseRequested'] === true;
    const percent = numberAt(after, 'spec', 'percent') ?? 0;
    const last = this.#wishes.at(-1);
    if (last?.percent === percent && last.isPaused === isPaused) return;
    this.#wishes.push({ at, percent, isPaused });
  }

  /** @param sentAt when the request left that made the commit */
  judge(commit: Commit, sentAt: number = commit.at): readonly string[] {
    const faults = fieldFaults(commit);
    return isTaken(commit) ? [...faults, ...this.#judgeTaken(commit, sentAt)] : faults;
  }

  #judgeTaken({ name, uid, before }: Commit, sentAt: number): readonly string[] {
    const revision = textAt(before, 'metadata', 'labels', 'controller-revision-hash');
    const isStale = revision !== textAt(this.#set, 'status', 'updateRevision');
    const version = `${name} on ${revision}`;
    const isSecond = this.#taken.has(version);
    this.#taken.add(version);
    if (isStale) this.#released.add(name);
    const most = this.#mostAt(sentAt);
    return [
      ...(isSecond ? ['was taken twice on one version'] : []),
      ...(this.#recorded.has(uid) ? [] : ['was taken before that was recorded']),
      ...(isStale && this.#released.size > most
        ? [`was taken as number ${this.#released.size} of ${most}`]
        : []),
    ];
  }

  /** So many pods may have gone by a request that left at `sentAt`; it may not have been shown the last moment. */
  #mostAt(sentAt: number): number {
    const wishes = [this.#wishAt(sentAt - 1_000), this.#wishAt(sentAt)];
    const replicas = numberAt(this.#set, 'spec', 'replicas') ?? 0;
    return Math.max(
      ...wishes.map(({ isPaused, percent }) => (isPaused ? 0 : targetOf(replicas, percent))),
    );
  }

  #wishAt(time: number): Wish {
    const nothing = { at: 0, percent: 0, isPaused: false };
    return this.#wishes.findLast(({ at }) => at <= time) ?? this.#wishes[0] ?? nothing;
  }
}

/** As the specification rounds: up, but an old pod is left short of all. */
function targetOf(replicas: number, percent: number): number {
  const target = Math.ceil((replicas * percent) / 100);
  return percent < 100 && replicas >= 2 ? Math.min(target, replicas - 1) : target;
}

/** Fields that this program may change, of each kind; all others are another owner's. */
const ours: Readonly<Record<string, RegExp>> = {
  'statefulsets.apps':
    /^(?:spec\.(?:template|updateStrategy|replicas)\b|metadata\.(?:annotations(?:\.bedrock\.operator\.slack\.com\/.*)?|labels\.app\.kubernetes\.io\/managed-by|ownerReferences|finalizers)$)/,
  'statefulsetrollouts.bedrock.operator.slack.com': /^(?:status\b|metadata\.finalizers$)/,
  // What the API server does by an eviction.
  pods: /^status\.conditions$/,
  'poddisruptionbudgets.policy': /^status\b/,
};
/** What the API server keeps. */
const servers =
  /^metadata\.(?:managedFields|resourceVersion|generation|deletionTimestamp|deletionGracePeriodSeconds)\b/;

function fieldFaults({ resource, before, after }: Commit): readonly string[] {
  const own = ours[resource];
  if (own === undefined || before === undefined || after === undefined) return [];
  return changedPaths(before, after)
    .filter((path) => !servers.test(path) && !own.test(path))
    .map((path) => `of ${resource}: ${path} was changed, which others own`);
}

function changedPaths(before: JsonObject, after: JsonObject, parent = ''): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    const [one, other]: readonly (JsonValue | undefined)[] = [before[key], after[key]];
    if (isDeepStrictEqual(one, other)) return [];
    const path = `${parent}${key}`;
    return isJsonObject(one) && isJsonObject(other) ? changedPaths(one, other, `${path}.`) : [path];
  });
}

/** What arrives later than that was sent by a process that is dead: no server answers for its order. */
const longestWay = 10_000;

/** A place of a message that was replaced is never there again: a client that writes it back has overwritten a newer one. */
function messageFaults(
  commits: readonly Commit[],
  sentAt: ReadonlyMap<number, number>,
): readonly string[] {
  let isLate = false;
  const places = commits
    .filter(({ resource, after }) => resource.startsWith('statefulsetrollouts') && after)
    .filter(({ callId, at, before, after }) => {
      const [was, is] = [before, after].map((each) => textAt(each, 'status', 'slackMessage', 'ts'));
      // It is there until the next one is stored.
      if (was !== is) isLate = at - (sentAt.get(callId) ?? at) > longestWay;
      return !isLate;
    })
    .map(({ after }) => textAt(after, 'status', 'slackMessage', 'ts'))
    // Empty where the first call of a message was refused.
    .filter((ts) => ts !== '')
    .filter((ts, at, all) => ts !== all[at - 1]);
  return places.length === new Set(places).size
    ? []
    : [`where the message of Slack stands was written back: ${places.join(', ')}`];
}

function isOurs({ user }: Commit): boolean {
  return user.startsWith('operator-');
}

function isTaken({ resource, name, before, after }: Commit): boolean {
  return resource === 'pods' && name.startsWith('db-') && !isGoing(before) && isGoing(after);
}

function isGoing(pod: JsonObject | undefined): boolean {
  return pod === undefined || textAt(pod, 'metadata', 'deletionTimestamp') !== '';
}

function templateOf(set: JsonObject | undefined): string {
  return JSON.stringify(objectAt(set, 'spec', 'template'));
}
