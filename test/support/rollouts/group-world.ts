import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Millis } from '#base/units.ts';
import { podIndexers, statefulSetIndexers } from '#control/watch/group-sets.ts';
import type { CallOptions, Client, ListResult, Patch, Write } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError, type Call } from '#kubernetes/transport/api-error.ts';
import { referenceIndexers } from '#replica-coordination/references/references.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { FakeInformer } from '../api-server/fake-informer.ts';
import { unlessAborted } from '../api-server/unless-aborted.ts';
import { FakeClock } from '../clocks/fake-clock.ts';
import { textAt } from '../objects/json-path.ts';
import type { Group } from '../objects/objects.ts';
import { T0 } from '../objects/views.ts';

/** One request as the server of a {@link GroupWorld} got it. */
export interface WorldRequest {
  readonly verb: 'get' | 'list' | 'patch' | 'replace' | 'delete';
  readonly plural: string;
  /** The object's name; of a list, the label selector, and the resourceVersion if it asks for one. */
  readonly name: string;
}

type Event = { readonly type: 'shown' | 'gone'; readonly object: KubernetesObject };

/** Returns an answer of the API server that refuses a request. */
export function refusal(status: number, retryAfter?: Millis): ApiError {
  const call: Call = { verb: 'delete', kind: 'Pod', namespace: 'test', name: 'a-pod' };
  const reason = status === 409 ? 'Conflict' : 'Refused';
  return new ApiError(call, { status, reason, message: 'no', details: {}, retryAfter });
}

const denial = { status: { allowed: false, reason: 'a test says so' } };

function unmetTest(): ApiError {
  const call: Call = { verb: 'patch', kind: 'StatefulSet', namespace: 'test', name: 'a-set' };
  const cause = {
    reason: 'UnexpectedServerResponse',
    message: 'testing value /spec/replicas failed',
  };
  const details = { causes: [cause] };
  return new ApiError(call, { status: 422, reason: 'Invalid', message: 'no', details });
}

/**
 * StatefulSets and pods on a tiny API server, and caches that show its changes only when a test says so. All
 * revisions come from one counter, which starts at 100.
 */
export class GroupWorld {
  readonly clock = new FakeClock(T0);
  readonly pods: FakeInformer<PodView>;
  readonly statefulSets: FakeInformer<StatefulSetView>;
  /** What was asked of the server, such as `delete ingester-zone-a-0` or `list pods name=…`. */
  readonly requests: string[] = [];
  /** Called before a request leaves; when that takes time, it waits as for a limiter. */
  atSend: (request: WorldRequest) => void | Promise<void> = () => undefined;
  /** Called before a request has an effect; throws to refuse it. */
  before: (request: WorldRequest) => void | Promise<void> = () => undefined;
  /** Called after it has; throws to lose the answer. */
  after: (request: WorldRequest) => void | Promise<void> = () => undefined;
  /** What discovery and scale subresources answer, by path. */
  readonly documents = new Map<string, JsonValue>();
  /** Every patch that arrived. */
  readonly patches: {
    readonly name: string;
    readonly body: Patch;
    readonly subresource: string;
  }[] = [];
  readonly client: Client;
  #revision = 100;
  readonly #objects = new Map<string, KubernetesObject>();
  readonly #events: Record<string, Event[]> = { pods: [], statefulsets: [] };

  constructor(group: Group) {
    const { clock } = this;
    const pods = { clock, type: resourceTypes.pods, project: parsePod, indexers: podIndexers };
    this.pods = new FakeInformer(pods);
    this.statefulSets = new FakeInformer({
      clock,
      type: resourceTypes.statefulSets,
      project: parseStatefulSet,
      indexers: { ...statefulSetIndexers, ...referenceIndexers },
    });
    this.client = this.#createClient();
    this.add(group);
    this.show();
    this.prove();
  }

  /** Puts the objects of `group` on the server. */
  add(group: Group): void {
    for (const set of group.sets) this.put('statefulsets', set);
    for (const pod of group.pods) this.put('pods', pod);
  }

  /** Returns the stored object. @throws when there is none */
  object(plural: string, name: string): KubernetesObject {
    const found = this.#objects.get(`${plural} ${name}`);
    if (found === undefined) throw new Error(`Cannot find ${plural} "${name}"`);
    return found;
  }

  /** Stores `object` as another client would. */
  put(plural: string, object: JsonObject): KubernetesObject {
    const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
    const name = textAt(object, 'metadata', 'name') ?? '';
    this.#revision += 1;
    const resourceVersion = String(this.#revision);
    const uid = textAt(object, 'metadata', 'uid') ?? '';
    const stored = { ...object, metadata: { ...metadata, name, uid, resourceVersion } };
    this.#objects.set(`${plural} ${name}`, stored);
    this.#events[plural]?.push({ type: 'shown', object: stored });
    return stored;
  }

  /** Changes members of the metadata of a stored object. */
  annotate(plural: string, name: string, members: JsonObject): KubernetesObject {
    const object = this.object(plural, name);
    return this.put(plural, { ...object, metadata: { ...object.metadata, ...members } });
  }

  /** Removes an object. */
  drop(plural: string, name: string): void {
    const object = this.object(plural, name);
    this.#revision += 1;
    this.#objects.delete(`${plural} ${name}`);
    const resourceVersion = String(this.#revision);
    const gone = { ...object, metadata: { ...object.metadata, resourceVersion } };
    this.#events[plural]?.push({ type: 'gone', object: gone });
  }

  /** Lets both caches see all that happened, or `count` events of one. */
  show(plural?: 'pods' | 'statefulsets', count = Infinity): void {
    if (plural !== 'statefulsets') showOn(this.pods, this.#events['pods'] ?? [], count);
    if (plural !== 'pods') showOn(this.statefulSets, this.#events['statefulsets'] ?? [], count);
  }

  /** Notifies both caches that they have been shown everything. */
  bookmark(): void {
    for (const { freshness } of [this.pods, this.statefulSets]) {
      freshness.delivered(String(this.#revision));
    }
  }

  /** Proves both caches, as they are, now. */
  prove(): void {
    const now = this.clock.monotonic();
    for (const { freshness } of [this.pods, this.statefulSets]) {
      freshness.consistentRead(freshness.seen ?? '1', now);
    }
  }

  /** Returns the requests since the last call of this. */
  taken(): readonly string[] {
    return this.requests.splice(0);
  }

  #ask<T>(request: WorldRequest, options: CallOptions | undefined, effect: () => T): Promise<T> {
    return unlessAborted(this.#answer(request, options, effect), options?.signal);
  }

  async #answer<T>(
    request: WorldRequest,
    options: CallOptions | undefined,
    effect: () => T,
  ): Promise<T> {
    await Promise.resolve();
    await this.atSend(request);
    options?.beforeSend?.();
    const { verb, plural, name } = request;
    this.requests.push(verb === 'list' ? `list ${plural} ${name}` : `${verb} ${name}`);
    await this.before(request);
    const answer = effect();
    await this.after(request);
    return answer;
  }

  #createClient(): Client {
    const never = (): Promise<never> => Promise.reject(new Error('this world has no such call'));
    return {
      get: ({ plural }, { name }, options) =>
        this.#ask({ verb: 'get', plural, name }, options, () => this.#present(plural, name)),
      list: ({ plural }, { labelSelector = '', resourceVersion }, options) => {
        const name =
          resourceVersion === undefined ? labelSelector : `${labelSelector} at ${resourceVersion}`;
        return this.#ask({ verb: 'list', plural, name }, options, () =>
          this.#list(plural, labelSelector),
        );
      },
      replace: ({ plural }, { name }, write) =>
        this.#ask({ verb: 'replace', plural, name }, write, () =>
          this.#replace(plural, name, write.body),
        ),
      patch: ({ plural }, { name }, write) =>
        this.#ask({ verb: 'patch', plural, name }, write, () => this.#patch(plural, name, write)),
      delete: (type, { name }, options) =>
        this.#ask({ verb: 'delete', plural: type.plural, name }, options, () =>
          this.#delete(type, name, options.preconditions),
        ),
      watch: never,
      create: never,
      raw: ({ method, path, body }) =>
        this.#ask({ verb: 'get', plural: 'raw', name: path }, undefined, () =>
          method === 'POST' ? denial : this.#document(path, body),
        ),
    };
  }

  #present(plural: string, name: string): KubernetesObject {
    const found = this.#objects.get(`${plural} ${name}`);
    if (found === undefined) throw refusal(404);
    return found;
  }

  #list(plural: string, labelSelector: string): ListResult {
    const [key = '', value = ''] = labelSelector.split('=');
    const items = [...this.#objects]
      .filter(([id, { metadata }]) => id.startsWith(plural) && metadata.labels?.[key] === value)
      .map(([, object]) => object);
    return { resourceVersion: String(this.#revision), items };
  }

  /** Replaces it as the API server does: without a resourceVersion, what is there is overwritten. */
  #replace(plural: string, name: string, body: JsonObject): KubernetesObject {
    const { metadata } = this.#present(plural, name);
    const sent = isJsonObject(body['metadata']) ? body['metadata'] : {};
    const { resourceVersion = metadata.resourceVersion } = sent;
    if (resourceVersion !== metadata.resourceVersion) throw refusal(409);
    return this.put(plural, body);
  }

  #document(path: string, _body: unknown): JsonValue {
    const found = this.documents.get(path);
    if (found === undefined) throw refusal(404);
    return found;
  }

  /** Patches it as the API server does: a patch that changes nothing moves no revision, another uid is a conflict. */
  #patch(plural: string, name: string, { body, subresource }: Write<Patch>): KubernetesObject {
    const object = this.#present(plural, name);
    this.patches.push({ name, body, subresource: subresource ?? '' });
    if (body.kind === 'json') return this.#scale(plural, name, body.operations);
    if (subresource === 'status') return object;
    const { document } = body;
    const wanted = isJsonObject(document['metadata']) ? document['metadata'] : {};
    if (wanted['uid'] !== undefined && wanted['uid'] !== object.metadata.uid) throw refusal(409);
    const patched = isJsonObject(wanted['annotations']) ? wanted['annotations'] : {};
    const annotations = { ...object.metadata.annotations, ...patched };
    const isSame = JSON.stringify(annotations) === JSON.stringify(object.metadata.annotations);
    return isSame ? object : this.annotate(plural, name, { annotations });
  }

  /** Scales it as the API server does: an unmet test is 422, and nothing is changed. */
  #scale(plural: string, name: string, operations: readonly JsonObject[]): KubernetesObject {
    const object = this.#present(plural, name);
    const spec = isJsonObject(object['spec']) ? object['spec'] : {};
    const seen = new Map<JsonValue, JsonValue | undefined>([
      ['/metadata/uid', object.metadata.uid],
      ['/spec/replicas', spec['replicas']],
    ]);
    for (const { op, path = '', value } of operations) {
      if (op === 'test' && seen.get(path) !== value) throw unmetTest();
    }
    const replicas = operations.find(({ op }) => op === 'replace')?.['value'];
    return this.put(plural, { ...object, spec: { ...spec, replicas } });
  }

  #delete(
    { plural }: ResourceType,
    name: string,
    wanted: { readonly uid?: string; readonly resourceVersion?: string },
  ): KubernetesObject {
    const { metadata } = this.#present(plural, name);
    const { uid, resourceVersion } = { ...metadata, ...wanted };
    const isOther = uid !== metadata.uid || resourceVersion !== metadata.resourceVersion;
    if (isOther) throw refusal(409);
    return this.annotate(plural, name, { deletionTimestamp: '2026-01-01T00:00:00Z' });
  }
}

function showOn<T extends PodView | StatefulSetView>(
  informer: FakeInformer<T>,
  events: Event[],
  count: number,
): void {
  for (const { type, object } of events.splice(0, count)) {
    if (type === 'shown') informer.show(object);
    else informer.remove(object);
  }
}
