/** The API server's audit log as the calls of a history (E2E-2). */
import { readFile } from 'node:fs/promises';
import { instant } from '#base/units.ts';
import type { Call, Commit } from '#embedded-cluster/event-log.ts';
import type { StoredCommit } from './commit-log.ts';

/** One line of the audit log, as far as it is read. */
export interface AuditEntry {
  readonly auditID: string;
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly requestURI: string;
  readonly requestObject?: {
    readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  };
  readonly responseObject?: {
    readonly kind?: string;
    readonly metadata?: { readonly resourceVersion?: string };
  };
  readonly responseStatus?: {
    readonly code?: number;
    readonly reason?: string;
    readonly message?: string;
  };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** All entries so far, in the order of the log. */
export async function readAudit(path: string): Promise<readonly AuditEntry[]> {
  const text = await readFile(path, 'utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as AuditEntry);
}

/** The answered calls, numbered from 1; watches, which never end, are left out. */
export function callsOf(entries: readonly AuditEntry[]): readonly Call[] {
  const answered = entries.filter(
    ({ stage, verb, objectRef }) =>
      stage !== 'RequestReceived' && verb !== 'watch' && objectRef !== undefined,
  );
  return answered.map((entry, index) => callOf(entry, index + 1));
}

function callOf(entry: AuditEntry, callId: number): Call {
  const preconditions = entry.requestObject?.preconditions;
  return {
    callId,
    user: entry.user.username,
    client: entry.user.username,
    verb: entry.verb,
    ...objectOf(entry),
    ...(preconditions !== undefined && { preconditions }),
    startedAt: instant(Date.parse(entry.requestReceivedTimestamp)),
    endedAt: instant(Date.parse(entry.stageTimestamp)),
    // Written when the answer never got out: the client did not wait, or the server stopped.
    outcome: entry.stage === 'ResponseComplete' ? (entry.responseStatus?.code ?? 0) : 'dropped',
  };
}

function objectOf(
  entry: AuditEntry,
): Pick<Call, 'resource' | 'subresource' | 'namespace' | 'name'> {
  const { subresource = '', namespace = '', name = '' } = entry.objectRef ?? {};
  return { resource: resourceOf(entry), subresource, namespace, name };
}

function resourceOf({ objectRef }: AuditEntry): string {
  const group = objectRef?.apiGroup ?? '';
  return group === '' ? (objectRef?.resource ?? '') : `${objectRef?.resource}.${group}`;
}

/**
 * `commits` with their authors. A write is known by the revision that it was answered; one that was received by a
 * server that was killed before it answered, by the first change of that object after it that nobody else explains.
 */
export function attributed(
  commits: readonly StoredCommit[],
  entries: readonly AuditEntry[],
): readonly Commit[] {
  const calls = callsOf(entries);
  const byRevision = new Map<string, Call>();
  const answered = entries.filter(
    ({ stage, verb, objectRef }) =>
      stage !== 'RequestReceived' && verb !== 'watch' && objectRef !== undefined,
  );
  answered.forEach((entry, index) => {
    const revision = entry.responseObject?.metadata?.resourceVersion;
    const call = calls[index];
    if (revision === undefined || call === undefined || !isWrite(entry.verb)) return;
    const key = `${call.resource}/${call.namespace}/${call.name}@${revision}`;
    // A write that changed nothing is answered with the revision of an earlier one.
    if (!byRevision.has(key)) byRevision.set(key, call);
  });
  const lost = new LostCalls(entries);
  const callOfCommit = (commit: StoredCommit): Call | undefined =>
    byRevision.get(`${commit.resource}/${commit.namespace}/${commit.name}@${commit.revision}`);
  const removals = new Map<string, Call>();
  for (const commit of commits) {
    const call = commit.verb === 'delete' ? callOfCommit(commit) : undefined;
    if (call !== undefined) removals.set(`${commit.resource}/${commit.uid}`, call);
  }
  return commits.map((commit) => {
    const own = callOfCommit(commit);
    // A deletion at once is two commits, and only the second is answered.
    const isFirstHalf = own === undefined && isWithoutGrace(commit.after);
    const call = isFirstHalf ? removals.get(`${commit.resource}/${commit.uid}`) : own;
    const user = call?.user ?? lost.authorOf(commit) ?? '';
    return { ...commit, user, callId: call?.callId ?? 0 };
  });
}

function isAnswered({ responseStatus }: AuditEntry): boolean {
  const code = responseStatus?.code ?? 0;
  return code > 0 && code < 500;
}

function isWrite(verb: string): boolean {
  return ['create', 'update', 'patch', 'delete'].includes(verb);
}

/**
 * Deletions that were received and of which nobody was told what became: never answered, as the server was killed, or
 * answered with a failure of its own, as the client had gone or etcd was late; the write may have been stored.
 */
class LostCalls {
  readonly #byObject = new Map<string, AuditEntry[]>();

  constructor(entries: readonly AuditEntry[]) {
    const answered = new Set(entries.filter(isAnswered).map(({ auditID }) => auditID));
    const lost = entries.filter(
      ({ verb, objectRef, auditID }) =>
        verb === 'delete' && objectRef !== undefined && !answered.has(auditID),
    );
    for (const entry of lost) {
      const { resource, namespace, name } = objectOf(entry);
      const key = `${resource}/${namespace}/${name}`;
      this.#byObject.set(key, [...(this.#byObject.get(key) ?? []), entry]);
    }
  }

  authorOf(commit: StoredCommit): string | undefined {
    if (!beginsDeletion(commit)) return undefined;
    const key = `${commit.resource}/${commit.namespace}/${commit.name}`;
    const found = this.#byObject
      .get(key)
      ?.find((entry) => Date.parse(entry.requestReceivedTimestamp) <= commit.at);
    return found?.user.username;
  }
}

function isWithoutGrace(object: StoredCommit['after']): boolean {
  const { metadata } = (object ?? {}) as { metadata?: { deletionGracePeriodSeconds?: number } };
  return metadata?.deletionGracePeriodSeconds === 0;
}

/** Whether `commit` is the first to show its object as being deleted. */
export function beginsDeletion({ before, after }: StoredCommit): boolean {
  const isDeleted = (object: StoredCommit['after']): boolean =>
    (object as { metadata?: { deletionTimestamp?: string } } | undefined)?.metadata
      ?.deletionTimestamp !== undefined;
  return isDeleted(after) && !isDeleted(before);
}
