/** The API server's audit log as the calls of a history (E2E-2). */
import { readFile } from 'node:fs/promises';
import { instant } from '#base/units.ts';
import type { Call } from '#cluster/event-log.ts';

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

/** All entries so far, in the order of the log; one that is just being written is none yet. */
export async function readAudit(path: string): Promise<readonly AuditEntry[]> {
  const text = await readFile(path, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const lines = whole.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as AuditEntry);
}

/**
 * What no Role permitted, as `verb URI`; what a webhook denied with 403 is something else. Whether there may be a Lease by
 * now is tried again and again where the Role is the peer's, which `mayLackLeases` leaves out.
 */
export function refusedCalls(
  entries: readonly AuditEntry[],
  { mayLackLeases }: { readonly mayLackLeases: boolean },
): readonly string[] {
  return entries
    .filter(({ responseStatus }) => responseStatus?.code === 403)
    .filter(({ responseStatus }) => !isDenial(responseStatus?.message))
    .filter(({ objectRef }) => !mayLackLeases || objectRef?.resource !== 'leases')
    .map(({ verb, requestURI }) => `${verb} ${requestURI}`);
}

function isDenial(message = ''): boolean {
  return /^admission webhook "[^"]*" denied the request: /.test(message);
}

/** One request, as the audit log shows it. */
export interface AuditedCall {
  readonly call: Call;
  /** The revision that it was answered with; absent where the log has none. */
  readonly revision: string | undefined;
  /** Whether nobody was told what became of it: the server was killed, or failed to say. */
  readonly isLost: boolean;
}

/**
 * The calls, numbered from 1; watches, which never end, are left out. Of the requests that were received by a server
 * that was killed before it answered, only deletions are reported: what they asked for was never written down.
 */
export function auditedCalls(entries: readonly AuditEntry[]): readonly AuditedCall[] {
  const ended = new Set(entries.filter(hasEnded).map(({ auditID }) => auditID));
  return entries
    .filter((entry) => hasEnded(entry) || (entry.verb === 'delete' && !ended.has(entry.auditID)))
    .filter(({ verb, objectRef }) => verb !== 'watch' && objectRef !== undefined)
    .map((entry, index) => ({
      call: callOf(entry, index + 1),
      revision: entry.responseObject?.metadata?.resourceVersion,
      isLost: !isAnswered(entry),
    }));
}

function hasEnded({ stage }: AuditEntry): boolean {
  return stage !== 'RequestReceived';
}

/** Whether the answer tells what was done: a failure of the server's own does not. */
function isAnswered(entry: AuditEntry): boolean {
  const code = entry.responseStatus?.code ?? 0;
  return hasEnded(entry) && code > 0 && code < 500;
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
