import type { ListQuery, ListResult, WatchQuery } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import {
  type ListWatchScript,
  lineOf,
  RefusedError,
  type ScriptedWatch,
} from './scripted-client.ts';

/** One committed change of a {@link WatchServer}. */
interface Commit {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubernetesObject;
}

/**
 * The smallest server that keeps the promises of list and watch: revisions, history, compaction, bookmarks,
 * pages and streaming lists. Faults are what a test does to its watches and flags.
 */
export class WatchServer implements ListWatchScript {
  readonly objects = new Map<string, KubernetesObject>();
  revision = 1;
  /** How streaming lists are answered. */
  streaming: 'marked' | 'refused' | 'unmarked' | 'unmarked-bookmark' | 'silent' = 'marked';
  pageSize = 500;
  /** What the next calls fail with. */
  refusals: (Error | undefined)[] = [];
  #history: Commit[] = [];
  #compacted = 0;
  #watches: ScriptedWatch[] = [];
  #uids = 0;

  /** Creates or changes the object called `name`. */
  put(name: string, note = ''): KubernetesObject {
    const old = this.objects.get(name);
    this.#uids += old === undefined ? 1 : 0;
    const uid = old?.metadata.uid ?? `u${this.#uids}`;
    const object = this.#object(name, uid, note);
    this.objects.set(name, object);
    this.#commit({
      revision: this.revision,
      type: old === undefined ? 'ADDED' : 'MODIFIED',
      object,
    });
    return object;
  }

  /** Deletes the object called `name`, if there is one. */
  remove(name: string): void {
    const old = this.objects.get(name);
    if (old === undefined) return;
    this.objects.delete(name);
    const object = this.#object(name, old.metadata.uid, 'deleted');
    this.#commit({ revision: this.revision, type: 'DELETED', object });
  }

  /** Forgets the history: watches from before now are refused with 410. */
  compact(): void {
    this.#compacted = this.revision;
    this.#history = [];
  }

  /** Returns the watches that are open. */
  get open(): readonly ScriptedWatch[] {
    this.#watches = this.#watches.filter((watch) => !watch.isOver);
    return this.#watches;
  }

  list(query: ListQuery): ListResult {
    this.#refuse();
    const [at = String(this.revision), start = '0'] = query.continue?.split(':') ?? [];
    if (Number(at) < this.#compacted) throw new RefusedError(410);
    const all = this.#stateAt(Number(at));
    const end = Number(start) + Math.min(query.limit ?? all.length, this.pageSize);
    const items = all.slice(Number(start), end);
    const more = end < all.length ? { continue: `${at}:${end}` } : {};
    return { resourceVersion: at, items, ...more };
  }

  watch(query: WatchQuery, stream: ScriptedWatch): void {
    this.#refuse();
    if (query.sendInitialEvents === true) this.#streamList(stream);
    else this.#resume(query.resourceVersion ?? '0', stream);
  }

  #streamList(stream: ScriptedWatch): void {
    if (this.streaming === 'refused') throw new RefusedError(422);
    for (const object of this.objects.values()) stream.send('ADDED', object);
    if (this.streaming === 'unmarked') stream.end();
    if (this.streaming === 'unmarked-bookmark') stream.bookmark(this.revision);
    if (this.streaming === 'marked') stream.bookmark(this.revision, true);
    this.#watches.push(stream);
  }

  #resume(from: string, stream: ScriptedWatch): void {
    if (Number(from) < this.#compacted) {
      stream.send('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' });
      stream.end();
      return;
    }
    for (const commit of this.#history) {
      if (commit.revision > Number(from)) stream.send(commit.type, commit.object);
    }
    this.#watches.push(stream);
  }

  #object(name: string, uid: string, note: string): KubernetesObject {
    this.revision += 1;
    const metadata = { name, namespace: 'demo', uid, resourceVersion: String(this.revision) };
    return { metadata, note };
  }

  #commit(commit: Commit): void {
    this.#history.push(commit);
    for (const watch of this.open) watch.sendBytes(Buffer.from(lineOf(commit.type, commit.object)));
  }

  #stateAt(revision: number): readonly KubernetesObject[] {
    if (revision === this.revision) return [...this.objects.values()];
    const state = new Map<string, KubernetesObject>();
    for (const { revision: at, type, object } of this.#history) {
      if (at > revision) break;
      if (type === 'DELETED') state.delete(object.metadata.name);
      else state.set(object.metadata.name, object);
    }
    return [...state.values()];
  }

  #refuse(): void {
    const refusal = this.refusals.shift();
    if (refusal !== undefined) throw refusal;
  }
}
