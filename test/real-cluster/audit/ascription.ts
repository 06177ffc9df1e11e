/** Whose doing each commit was: what etcd stored, joined with what the API server wrote down of its requests (E2E-2). */
import type { Call, Commit } from '#cluster/event-log.ts';
import { type AuditEntry, type AuditedCall, auditedCalls } from './audit.ts';
import type { StoredCommit } from './commit-log.ts';

/** A history, except for what watches delivered. */
export interface Ascription {
  readonly commits: readonly Commit[];
  readonly calls: readonly Call[];
  /** Of `commits`, the deletions whose request died with its API server: nobody knows under which preconditions. */
  readonly unread: readonly Commit[];
}

/** A request lives no longer: the API server's own limit is 60 s, and the recorder hears a moment later. */
const LONGEST_REQUEST_MS = 65_000;

const writes: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);

/**
 * `commits` with their authors. A write is known by the revision that it was answered; one that was received by a
 * server that never told what became of it, by the first deletion of that object soon after, if nobody else explains
 * that one. Each such request explains one deletion.
 */
export function ascribe(
  commits: readonly StoredCommit[],
  entries: readonly AuditEntry[],
): Ascription {
  const audited = auditedCalls(entries);
  const answered = new AnsweredCalls(audited, commits);
  const lost = new LostCalls(audited);
  const unread: Commit[] = [];
  const ascribed = commits.map((commit): Commit => {
    const call = answered.of(commit) ?? lost.take(commit);
    const known = { ...commit, user: call?.user ?? '', callId: call?.callId ?? 0 };
    if (call?.outcome === 'dropped' && call.preconditions === undefined) unread.push(known);
    return known;
  });
  return { commits: ascribed, calls: audited.map(({ call }) => call), unread };
}

/** Returns the uids of all objects that `user` removed, or began to. */
export function removedBy(
  user: string,
  commits: readonly StoredCommit[],
  entries: readonly AuditEntry[],
): ReadonlySet<string> {
  const removals = ascribe(commits, entries).commits.filter(
    (commit) => commit.user === user && (commit.verb === 'delete' || beginsDeletion(commit)),
  );
  return new Set(removals.map(({ uid }) => uid));
}

/** The key of one stored version, as far as the audit log can tell. */
function versionKey(
  object: Pick<Call, 'resource' | 'namespace' | 'name'>,
  revision: string,
): string {
  return `${object.resource}/${object.namespace}/${object.name}@${revision}`;
}

class AnsweredCalls {
  readonly #byVersion = new Map<string, Call>();
  /** By resource and uid. */
  readonly #removals = new Map<string, Call>();

  constructor(audited: readonly AuditedCall[], commits: readonly StoredCommit[]) {
    for (const { call, revision } of audited) {
      if (revision === undefined || !writes.has(call.verb)) continue;
      const key = versionKey(call, revision);
      // A write that changed nothing is answered with the revision of an earlier one.
      if (!this.#byVersion.has(key)) this.#byVersion.set(key, call);
    }
    for (const commit of commits) {
      const call = commit.verb === 'delete' ? this.#own(commit) : undefined;
      if (call !== undefined) this.#removals.set(`${commit.resource}/${commit.uid}`, call);
    }
  }

  of(commit: StoredCommit): Call | undefined {
    const own = this.#own(commit);
    if (own !== undefined || !isWithoutGrace(commit.after)) return own;
    // A deletion at once is two commits, and only the second is answered.
    return this.#removals.get(`${commit.resource}/${commit.uid}`);
  }

  #own(commit: StoredCommit): Call | undefined {
    return this.#byVersion.get(versionKey(commit, `${commit.revision}`));
  }
}

/** Deletions of which nobody was told what became; the write may have been stored. */
class LostCalls {
  readonly #byObject = new Map<string, Call[]>();

  constructor(audited: readonly AuditedCall[]) {
    for (const { call, isLost } of audited) {
      if (!isLost || call.verb !== 'delete') continue;
      const key = objectKey(call);
      this.#byObject.set(key, [...(this.#byObject.get(key) ?? []), call]);
    }
  }

  /** The request that `commit` came of, which explains no other. */
  take(commit: StoredCommit): Call | undefined {
    if (!beginsDeletion(commit)) return undefined;
    const calls = this.#byObject.get(objectKey(commit)) ?? [];
    const at = calls.findIndex((call) => mayExplain(call, commit));
    return at < 0 ? undefined : calls.splice(at, 1)[0];
  }
}

function mayExplain({ startedAt, preconditions }: Call, commit: StoredCommit): boolean {
  const age = commit.at - startedAt;
  const wanted = preconditions?.uid;
  return age >= 0 && age <= LONGEST_REQUEST_MS && (wanted === undefined || wanted === commit.uid);
}

function objectKey({ resource, namespace, name }: StoredCommit | Call): string {
  return `${resource}/${namespace}/${name}`;
}

function isWithoutGrace(object: StoredCommit['after']): boolean {
  const { metadata } = (object ?? {}) as { metadata?: { deletionGracePeriodSeconds?: number } };
  return metadata?.deletionGracePeriodSeconds === 0;
}

/** Whether `commit` is the first to show its object as being deleted. */
function beginsDeletion({ before, after }: StoredCommit): boolean {
  const isDeleted = (object: StoredCommit['after']): boolean =>
    (object as { metadata?: { deletionTimestamp?: string } } | undefined)?.metadata
      ?.deletionTimestamp !== undefined;
  return isDeleted(after) && !isDeleted(before);
}
