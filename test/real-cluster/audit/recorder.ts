/**
 * What the API server committed, read from etcd itself: every version, in order of revision, whatever the API server
 * does meanwhile (E2E-2). Who asked for it, and how, is read from the audit log when the history is wanted.
 */
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { CommitLog, recordedCustomTypes, recordedTypes, type StoredKey } from './commit-log.ts';

/** Fills a {@link CommitLog}. */
export interface Recorder {
  readonly log: CommitLog;
  close(): void;
}

/** Follows etcd from its first revision on; resolves when etcd has taken the watch. */
export async function followEtcd(etcd: URL, now: () => Instant): Promise<Recorder> {
  const recorder = new EtcdRecorder(etcd, new CommitLog(now));
  await recorder.open();
  return recorder;
}

class EtcdRecorder implements Recorder {
  readonly log: CommitLog;
  readonly #request: ClientRequest;
  #isClosed = false;

  constructor(etcd: URL, log: CommitLog) {
    this.log = log;
    this.#request = httpRequest(new URL('/v3/watch', etcd), { method: 'POST' });
  }

  close(): void {
    this.#isClosed = true;
    this.#request.destroy();
  }

  async open(): Promise<void> {
    const key = Buffer.from('/registry/').toString('base64');
    const rangeEnd = Buffer.from('/registry0').toString('base64');
    const body = { create_request: { key, range_end: rangeEnd, start_revision: '1' } };
    this.#request.on('error', (error) => this.#broke(error));
    this.#request.end(JSON.stringify(body));
    const [response] = (await once(this.#request, 'response')) as [IncomingMessage];
    let rest = '';
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') this.#take(JSON.parse(line));
    });
    response.on('close', () => this.#broke(new Error('etcd ended the watch')));
  }

  #broke(cause: Error): void {
    if (!this.#isClosed) this.log.fail(new Error('The recording of etcd broke off', { cause }));
  }

  #take(message: JsonValue): void {
    const result = isJsonObject(message) ? message['result'] : undefined;
    if (!isJsonObject(result)) {
      this.#broke(new Error(`etcd answered ${JSON.stringify(message)}`));
      return;
    }
    const { events } = result as { events?: readonly EtcdEvent[] };
    for (const { type, kv } of events ?? []) {
      const key = keyOf(Buffer.from(kv.key, 'base64').toString());
      if (key === undefined) continue;
      const revision = Number(kv.mod_revision);
      this.log.take({ key, revision, ...(type !== 'DELETE' && { after: objectOf(kv) }) });
    }
  }
}

interface EtcdEvent {
  /** Absent for a put. */
  readonly type?: 'DELETE';
  readonly kv: { readonly key: string; readonly value?: string; readonly mod_revision: string };
}

function keyOf(text: string): StoredKey | undefined {
  const [, , first = '', second = '', third, fourth] = text.split('/');
  const custom = recordedCustomTypes[`${first}/${second}`];
  const [namespace, name] = custom === undefined ? [second, third] : [third, fourth];
  const resource = custom ?? recordedTypes[first];
  if (resource === undefined || namespace === undefined || name === undefined) return undefined;
  return { resource, namespace, name };
}

/** The object as a client sees it: etcd keeps it without its resourceVersion. */
function objectOf(kv: EtcdEvent['kv']): JsonObject {
  const object = JSON.parse(Buffer.from(kv.value ?? '', 'base64').toString()) as JsonObject;
  const metadata = { ...(object['metadata'] as JsonObject), resourceVersion: kv.mod_revision };
  return Object.freeze({ ...object, metadata });
}
