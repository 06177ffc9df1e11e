import { isJsonObject, type JsonObject } from '#base/json.ts';
import { after, type Instant, type Millis } from '#base/units.ts';
import type { Call, Commit, Delivery } from '#cluster/event-log.ts';
import { podFacts } from '../history/facts.ts';
import type { DisruptionStatement, ScaleStatement } from '../history/statement.ts';
import { textAt, valueAt } from '../objects/json-path.ts';
import type { Group, RawPodOptions } from '../objects/objects.ts';
import { rawPod } from '../objects/objects.ts';
import { T0 } from '../objects/views.ts';
import {
  operatorUser,
  type RemovalOptions,
  removalCall,
  type ScaleOptions,
  scaleStatementOf,
  statementOf,
} from './story-operator.ts';

/**
 * Writes a history by hand: a group of StatefulSets, one event a line, no rule of any kind. What the operator's
 * watch had delivered is always everything.
 */
export class Story {
  readonly commits: Commit[] = [];
  readonly calls: Call[] = [];
  readonly deliveries: Delivery[] = [];
  readonly statements: DisruptionStatement[] = [];
  readonly scaleStatements: ScaleStatement[] = [];
  now: Instant = T0;
  #revision = 0;
  #callId = 0;
  #incarnation = 1;
  readonly #objects = new Map<string, JsonObject>();

  constructor(group: Group) {
    for (const set of group.sets) this.#store('statefulsets.apps', set, author('admin'));
    for (const pod of group.pods) this.#store('pods', pod, author('statefulset-controller'));
  }

  /** Returns the revision of the last commit. */
  get revision(): number {
    return this.#revision;
  }

  /** Returns the stored pod. @throws {Error} when there is none */
  pod(name: string): JsonObject {
    return this.#stored('pods', name);
  }

  /** Returns the stored pod, if any. */
  findPod(name: string): JsonObject | undefined {
    return this.#objects.get(`pods/${name}`);
  }

  /** Returns the stored set. @throws {Error} when there is none */
  set(name: string): JsonObject {
    return this.#stored('statefulsets.apps', name);
  }

  /** Lets `span` pass. */
  wait(span: Millis): this {
    this.now = after(this.now, span);
    return this;
  }

  /** Writes parts of a set: members of metadata, spec and status are replaced one by one. */
  changeSet(
    name: string,
    change: {
      readonly metadata?: JsonObject;
      readonly spec?: JsonObject;
      readonly status?: JsonObject;
    },
    user = 'statefulset-controller',
  ): this {
    const set = this.set(name);
    const merged = (part: 'metadata' | 'spec' | 'status'): JsonObject => {
      const old = valueAt(set, part);
      return { ...(isJsonObject(old) ? old : {}), ...change[part] };
    };
    const next = {
      ...set,
      metadata: merged('metadata'),
      spec: merged('spec'),
      status: merged('status'),
    };
    const callId = this.#call({ user, verb: 'update', resource: 'statefulsets.apps', name });
    this.#store('statefulsets.apps', next, { user, callId });
    return this;
  }

  /** Removes a pod with the preconditions and the statement of proof that are right, unless `options` say otherwise. */
  remove(name: string, options: RemovalOptions = {}): this {
    const pod = this.pod(name);
    const { user = operatorUser } = options;
    if (options.isSilent !== true && user === operatorUser) {
      this.statements.push(statementOf(pod, options, this));
    }
    const callId = this.#call({
      user,
      ...removalCall(pod, options, this.now),
      resource: 'pods',
      name,
    });
    if (options.outcome === 409 || options.isUnheard === true) return this;
    if (options.isFinal === true) return this.#end(name, { user, callId });
    const metadata = { ...metadataOf(pod), deletionTimestamp: '2026-01-01T00:00:00Z' };
    this.#store('pods', { ...pod, metadata }, { user, callId });
    return this;
  }

  /** Scales a set: the operator writes the replicas of a set, with a statement of what that rests on. */
  scale(name: string, to: number, options: ScaleOptions = {}): this {
    if (options.isSilent !== true) {
      this.scaleStatements.push(scaleStatementOf(this.set(name), { ...options, to }, this));
    }
    return this.changeSet(name, { spec: { replicas: to } }, operatorUser);
  }

  /** Stores, as a user, an object of any other type, whole; a call says how, where that matters. */
  put(resource: string, object: JsonObject, by: string | (Partial<Call> & { user: string })): this {
    if (typeof by === 'string') this.#store(resource, object, author(by));
    else {
      const name = textAt(object, 'metadata', 'name') ?? '';
      const callId = this.#call({ verb: 'update', resource, name, ...by });
      this.#store(resource, object, { user: by.user, callId });
    }
    return this;
  }

  /** Deletes, as a user, an object of any other type. */
  drop(resource: string, name: string, user: string): this {
    return this.#end(name, author(user), resource);
  }

  /** Has the operator write an Event about a set, or write it again. */
  event(set: string): this {
    const metadata = { name: `${set}.event`, namespace: 'test' };
    const involvedObject = { kind: 'StatefulSet', namespace: 'test', name: set };
    return this.put('events', { metadata, involvedObject }, operatorUser);
  }

  /** Ends the pod, as the kubelet does: it is deleted for good. */
  gone(name: string, user = 'kubelet'): this {
    return this.#end(name, author(user));
  }

  /** Deletes the set; its pods stay. */
  setGone(name: string): this {
    const before = this.set(name);
    this.#objects.delete(`statefulsets.apps/${name}`);
    this.#commit({ verb: 'delete', resource: 'statefulsets.apps', before, ...author('user') });
    return this;
  }

  /** Creates the pod again, as the StatefulSet controller does, not ready, with a uid of its own. */
  create(name: string, options: RawPodOptions = {}): this {
    const cut = name.lastIndexOf('-');
    this.#incarnation += 1;
    const pod = rawPod({
      set: name.slice(0, cut),
      ordinal: Number(name.slice(cut + 1)),
      uid: `${name}-uid-${this.#incarnation}`,
      ready: false,
      createdAt: this.now,
      ...options,
    });
    this.#store('pods', pod, author('statefulset-controller'));
    return this;
  }

  /** Lets the pod's containers wait for `reason` from now on; it is not ready. */
  fails(name: string, reason = 'CrashLoopBackOff'): this {
    const { ready, readyChangedAt = this.now } = podFacts(this.pod(name));
    const unreadySince = ready === 'True' ? this.now : readyChangedAt;
    return this.turn(name, { ready: false, unreadySince, waiting: reason });
  }

  /** Makes the pod ready now, or not ready. */
  ready(name: string, isReady = true): this {
    return this.turn(
      name,
      isReady ? { ready: this.now } : { ready: false, unreadySince: this.now },
    );
  }

  /** Writes, as the kubelet, the status of a pod that `options` describe. */
  turn(name: string, options: RawPodOptions): this {
    const pod = this.pod(name);
    const createdAt = podFacts(pod).createdAt ?? this.now;
    const { status, spec } = rawPod({ createdAt, ...options });
    const parts = { ...(status !== undefined && { status }), ...(spec !== undefined && { spec }) };
    this.#store('pods', { ...pod, ...parts }, author('kubelet'));
    return this;
  }

  /** Makes several pods not ready at once, such as in a hiccup of their probes, or ready again. */
  allReady(names: readonly string[], isReady: boolean): this {
    for (const name of names) this.ready(name, isReady);
    return this;
  }

  /** Replaces the pod: gone, made again on `revision` and ready, in that order and at once. */
  replaced(name: string, revision = 'last-hash'): this {
    return this.gone(name).create(name, { revision }).ready(name);
  }

  /** Changes an annotation of the pod. */
  touch(name: string, user = operatorUser): this {
    const pod = this.pod(name);
    const annotations = { touched: String(this.#revision) };
    const callId = this.#call({ user, verb: 'patch', resource: 'pods', name });
    const metadata = { ...metadataOf(pod), annotations };
    this.#store('pods', { ...pod, metadata }, { user, callId });
    return this;
  }

  /** Calls the API server for us, and stores nothing. */
  call(call: Partial<Call>): this {
    this.#call({ user: operatorUser, verb: 'get', resource: 'pods', name: '', ...call });
    return this;
  }

  #end(name: string, by: Author, resource = 'pods'): this {
    const before = this.#stored(resource, name);
    this.#objects.delete(`${resource}/${name}`);
    this.#commit({ verb: 'delete', resource, before, ...by });
    return this;
  }

  #stored(resource: string, name: string): JsonObject {
    const object = this.#objects.get(`${resource}/${name}`);
    if (object === undefined) throw new Error(`Cannot find ${resource} "${name}" in this story`);
    return object;
  }

  #store(resource: string, object: JsonObject, by: Author): void {
    const key = `${resource}/${textAt(object, 'metadata', 'name') ?? ''}`;
    const before = this.#objects.get(key);
    const metadata = { ...metadataOf(object), resourceVersion: String(this.#revision + 1) };
    const after = Object.freeze({ ...object, metadata });
    this.#objects.set(key, after);
    const verb = before === undefined ? 'create' : 'update';
    const versions = before === undefined ? { after } : { before, after };
    this.#commit({ verb, resource, ...by, ...versions });
  }

  #commit(
    commit: Pick<Commit, 'verb' | 'resource' | 'user' | 'callId'> & {
      readonly before?: JsonObject;
      readonly after?: JsonObject;
    },
  ): void {
    this.#revision += 1;
    const object = commit.after ?? commit.before ?? {};
    const at = this.now;
    this.commits.push({
      at,
      revision: this.#revision,
      namespace: 'test',
      name: textAt(object, 'metadata', 'name') ?? '',
      uid: textAt(object, 'metadata', 'uid') ?? '',
      ...commit,
    });
    for (const resource of ['pods', 'statefulsets.apps']) {
      this.deliveries.push({ at, client: 'operator-1', resource, revision: this.#revision });
    }
  }

  #call(call: Partial<Call> & Pick<Call, 'user' | 'verb' | 'resource' | 'name'>): number {
    this.#callId += 1;
    this.calls.push({
      callId: this.#callId,
      client: call.user === operatorUser ? 'operator-1' : call.user,
      subresource: '',
      namespace: 'test',
      startedAt: this.now,
      endedAt: this.now,
      outcome: 200,
      ...call,
    });
    return this.#callId;
  }
}

interface Author {
  readonly user: string;
  readonly callId: number;
}

/** Returns `user` as the author by a call that the story does not have. */
function author(user: string): Author {
  return { user, callId: 0 };
}

function metadataOf(object: JsonObject): JsonObject {
  const metadata = valueAt(object, 'metadata');
  return isJsonObject(metadata) ? metadata : {};
}
