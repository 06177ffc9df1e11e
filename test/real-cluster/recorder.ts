/**
 * What the API server committed, read from etcd itself: every version, in order of revision, whatever the API server
 * does meanwhile (E2E-2). Who asked for it, and how, is read from the audit log when the history is wanted.
 */
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import type { Commit } from '#embedded-cluster/event-log.ts';

/** A commit whose author is not known yet. */
export type StoredCommit = Omit<Commit, 'user' | 'callId'>;

/** Where a stored object is. */
interface StoredKey {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** How the keys of the recorded types begin, and what the history calls the types. */
const recorded: Readonly<Record<string, string>> = {
  pods: 'pods',
  serviceaccounts: 'serviceaccounts',
  statefulsets: 'statefulsets.apps',
};

/** Custom resources among them; their keys name the group, too. */
const recordedCustom: Readonly<Record<string, string>> = {
  'rollout-operator.grafana.com/replicatemplates': 'replicatemplates.rollout-operator.grafana.com',
};

/** Follows etcd from its first revision on. */
export class Recorder {
  readonly commits: StoredCommit[] = [];
  readonly #objects = new Map<string, JsonObject>();
  readonly #listeners = new Set<(commit: StoredCommit) => void>();
  readonly #now: () => Instant;
  readonly #request: ClientRequest;
  #failure: Error | undefined;
  #isClosed = false;

  private constructor(etcd: URL, now: () => Instant) {
    this.#now = now;
    this.#request = httpRequest(new URL('/v3/watch', etcd), { method: 'POST' });
  }

  /** Starts to follow; resolves when etcd has taken the watch. */
  static async follow(etcd: URL, now: () => Instant): Promise<Recorder> {
    const recorder = new Recorder(etcd, now);
    await recorder.#open();
    return recorder;
  }

  /** The newest stored version of an object. @throws {Error} when the recording broke off */
  stored(resource: string, namespace: string, name: string): JsonObject | undefined {
    if (this.#failure !== undefined) throw this.#failure;
    return this.#objects.get(`${resource}/${namespace}/${name}`);
  }

  /** Names of all stored objects of `resource` in `namespace`. */
  names(resource: string, namespace: string): readonly string[] {
    const prefix = `${resource}/${namespace}/`;
    return [...this.#objects.keys()]
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.slice(prefix.length));
  }

  /** Calls `listener` after each commit. @returns a function that ends that */
  onCommit(listener: (commit: StoredCommit) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#request.destroy();
  }

  async #open(): Promise<void> {
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
    if (this.#isClosed) return;
    this.#failure ??= new Error('The recording of etcd broke off', { cause });
  }

  #take(message: JsonValue): void {
    const result = isJsonObject(message) ? message['result'] : undefined;
    if (!isJsonObject(result)) {
      this.#broke(new Error(`etcd answered ${JSON.stringify(message)}`));
      return;
    }
    const { events } = result as { events?: readonly EtcdEvent[] };
    for (const event of events ?? []) this.#event(event);
  }

  #event({ type, kv }: EtcdEvent): void {
    const key = keyOf(Buffer.from(kv.key, 'base64').toString());
    if (key === undefined) return;
    const id = `${key.resource}/${key.namespace}/${key.name}`;
    const before = this.#objects.get(id);
    const isDeleted = type === 'DELETE';
    const after = isDeleted ? undefined : objectOf(kv);
    const uid = uidOf(after ?? before);
    if (after === undefined) this.#objects.delete(id);
    else this.#objects.set(id, after);
    const commit: StoredCommit = Object.freeze({
      at: this.#now(),
      revision: Number(kv.mod_revision),
      verb: isDeleted ? 'delete' : before === undefined ? 'create' : 'update',
      ...key,
      uid,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    });
    this.commits.push(commit);
    for (const listener of this.#listeners) listener(commit);
  }
}

interface EtcdEvent {
  /** Absent for a put. */
  readonly type?: 'DELETE';
  readonly kv: { readonly key: string; readonly value?: string; readonly mod_revision: string };
}

function keyOf(text: string): StoredKey | undefined {
  const [, , first = '', second = '', third, fourth] = text.split('/');
  const custom = recordedCustom[`${first}/${second}`];
  const [namespace, name] = custom === undefined ? [second, third] : [third, fourth];
  const resource = custom ?? recorded[first];
  if (resource === undefined || namespace === undefined || name === undefined) return undefined;
  return { resource, namespace, name };
}

/** The object as a client sees it: etcd keeps it without its resourceVersion. */
function objectOf(kv: EtcdEvent['kv']): JsonObject {
  const object = JSON.parse(Buffer.from(kv.value ?? '', 'base64').toString()) as JsonObject;
  const metadata = { ...(object['metadata'] as JsonObject), resourceVersion: kv.mod_revision };
  return Object.freeze({ ...object, metadata });
}

function uidOf(object: JsonObject | undefined): string {
  const metadata = object?.['metadata'];
  const uid = isJsonObject(metadata) ? metadata['uid'] : undefined;
  return typeof uid === 'string' ? uid : '';
}
