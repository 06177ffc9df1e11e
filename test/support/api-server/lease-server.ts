/** An API server that knows Leases only: compare-and-swap, and whatever a test does to each request. */
import type { JsonObject } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import type {
  CallOptions,
  Client,
  ListQuery,
  ListResult,
  ObjectKey,
  Write,
} from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { ApiError, type Call } from '#kubernetes/transport/api-error.ts';
import type { FakeClock } from '../clocks/fake-clock.ts';
import type { PausableClock } from '../clocks/pausable-clock.ts';
import { unlessAborted } from './unless-aborted.ts';

/** What happens to one request; all times in milliseconds. */
export interface RequestFate {
  /** The process stops just before it hands the request over. */
  readonly pauseBefore?: number;
  /** The process stops just after. */
  readonly pauseAfter?: number;
  /** Until it arrives. */
  readonly transit?: number;
  /** Until its answer arrives. */
  readonly back?: number;
  /** @default ok */
  readonly outcome?: 'ok' | 'unapplied-409' | 'unapplied-500' | 'applied-500' | 'answer-lost';
}

/** One request that arrived. */
export interface ArrivedRequest {
  readonly by: string;
  readonly verb: 'get' | 'list' | 'create' | 'update';
  /** When it was sent, in milliseconds. */
  readonly sentAt: number;
}

/** Leases by name, and what each process asked. */
export class LeaseServer {
  readonly requests: ArrivedRequest[] = [];
  /** Verbs that the Role does not permit. */
  readonly forbidden = new Set<ArrivedRequest['verb']>();
  /** Verbs that are answered 403 although the Role permits them, as by a quota or a policy. */
  readonly refused = new Set<ArrivedRequest['verb']>();
  /** Whether it is unknown what the Role permits. */
  hasNoReviews = false;
  readonly #clock: FakeClock;
  readonly #stored = new Map<string, KubernetesObject>();
  #revision = 100;
  #uids = 0;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  /** Returns a Lease as it is stored; undefined where there is none. */
  stored(name = 'rollout-operator'): KubernetesObject | undefined {
    return this.#stored.get(name);
  }

  /** Changes the spec and the annotations of the Lease by hand. @throws when there is none */
  edit(spec: JsonObject, annotations: JsonObject = {}): void {
    const object = this.stored();
    if (object === undefined) throw new Error('Cannot edit the Lease as there is none');
    const { metadata } = object;
    const old = isJsonObject(object['spec']) ? object['spec'] : {};
    this.#put({
      ...object,
      metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
      spec: { ...old, ...spec },
    } as KubernetesObject);
  }

  /** Deletes the Lease. */
  remove(name = 'rollout-operator'): void {
    this.#stored.delete(name);
  }

  /** Stores `object` as a new Lease. */
  add(name: string, object: JsonObject): KubernetesObject {
    this.#uids += 1;
    const given = isJsonObject(object['metadata']) ? object['metadata'] : {};
    const metadata = { ...given, name, namespace: 'x', uid: `uid-${this.#uids}` };
    return this.#put({ ...object, metadata } as unknown as KubernetesObject);
  }

  /** Returns what one process of the clock `clock` talks through; `fate` is asked at each request. */
  client(by: string, clock: PausableClock, fate: () => RequestFate): Client {
    const asked = (verb: ArrivedRequest['verb'], act: Act): Promise<KubernetesObject> =>
      this.#ask({ by, verb, act, clock, fate: fate() });
    return {
      get: (_type: ResourceType, { name }: ObjectKey, options?: CallOptions) =>
        asked(
          'get',
          act(options, () => this.#get(name)),
        ),
      create: (_type: ResourceType, _key: unknown, write: Write<JsonObject>) =>
        asked(
          'create',
          act(write, () => this.#create(write.body)),
        ),
      replace: (_type: ResourceType, { name }: ObjectKey, write: Write<JsonObject>) =>
        asked(
          'update',
          act(write, () => this.#replace(name, write.body)),
        ),
      list: async (_type: ResourceType, query: ListQuery, options?: CallOptions) =>
        (await asked(
          'list',
          act(options, () => this.#list(query)),
        )) as unknown as ListResult,
      watch: () => refuse('watch'),
      patch: () => refuse('patch'),
      delete: () => refuse('delete'),
      raw: ({ body }) => this.#review(body),
    };
  }

  /** Returns what the Role says of the verb that a SelfSubjectAccessReview asks about. */
  async #review(body: JsonObject | undefined): Promise<JsonObject> {
    if (this.hasNoReviews) throw failure('create', 500, 'InternalError');
    const { spec } = body as { readonly spec?: AskedAccess };
    const verb = spec?.resourceAttributes.verb;
    return { status: { allowed: verb === undefined || !this.forbidden.has(verb) } };
  }

  async #ask(asked: Asked): Promise<KubernetesObject> {
    const { by, verb, clock, fate, act } = asked;
    const { options } = act;
    if (fate.pauseBefore !== undefined) clock.pause(millis(fate.pauseBefore));
    await clock.running();
    options.signal?.throwIfAborted();
    options.beforeSend?.();
    const sentAt = this.#clock.monotonic();
    this.requests.push({ by, verb, sentAt });
    if (fate.pauseAfter !== undefined) clock.pause(millis(fate.pauseAfter));
    const answer = this.#answer(asked);
    // The client that gives up hears so; the request goes its way.
    answer.catch(() => undefined);
    return unlessAborted(answer, options.signal);
  }

  async #answer({ verb, clock, fate, act }: Asked): Promise<KubernetesObject> {
    const { transit = 1, back = 1, outcome = 'ok' } = fate;
    await this.#clock.sleep(millis(transit));
    const result = this.#outcome(verb, outcome, act);
    await this.#clock.sleep(millis(back));
    await clock.running();
    if (outcome === 'answer-lost') return new Promise(() => undefined);
    if (result instanceof Error) throw result;
    return result;
  }

  #outcome(
    verb: ArrivedRequest['verb'],
    outcome: NonNullable<RequestFate['outcome']>,
    { perform }: Act,
  ): KubernetesObject | Error {
    if (this.forbidden.has(verb) || this.refused.has(verb)) return failure(verb, 403, 'Forbidden');
    const isWrite = verb === 'create' || verb === 'update';
    if (outcome === 'unapplied-409' && isWrite) return failure(verb, 409, 'Conflict');
    if (outcome === 'unapplied-500') return failure(verb, 500, 'InternalError');
    try {
      const object = perform();
      return outcome === 'applied-500' ? failure(verb, 500, 'InternalError') : object;
    } catch (error) {
      return error as Error;
    }
  }

  #get(name: string): KubernetesObject {
    const object = this.#stored.get(name);
    if (object === undefined) throw failure('get', 404, 'NotFound');
    return object;
  }

  #list({ labelSelector = '' }: ListQuery): KubernetesObject {
    const [key = '', value] = labelSelector.split('=');
    const items = [...this.#stored.values()].filter(
      (each) => each.metadata.labels?.[key] === value,
    );
    return { resourceVersion: String(this.#revision), items } as unknown as KubernetesObject;
  }

  #create(body: JsonObject): KubernetesObject {
    const { metadata } = body as KubernetesObject;
    const { name } = metadata;
    if (this.#stored.has(name)) throw failure('create', 409, 'AlreadyExists');
    return this.add(name, body);
  }

  #replace(name: string, body: JsonObject): KubernetesObject {
    const { uid, resourceVersion } = this.#get(name).metadata;
    const { metadata } = body;
    const isMet =
      isJsonObject(metadata) &&
      metadata['uid'] === uid &&
      metadata['resourceVersion'] === resourceVersion;
    if (!isMet) throw failure('replace', 409, 'Conflict');
    return this.#put(body as KubernetesObject);
  }

  #put(object: KubernetesObject): KubernetesObject {
    this.#revision += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#revision) };
    const stored = Object.freeze({ ...object, metadata });
    this.#stored.set(metadata.name, stored);
    return stored;
  }
}

interface AskedAccess {
  readonly resourceAttributes: { readonly verb: ArrivedRequest['verb'] };
}

interface Act {
  readonly options: CallOptions;
  readonly perform: () => KubernetesObject;
}

interface Asked {
  readonly by: string;
  readonly verb: ArrivedRequest['verb'];
  readonly act: Act;
  readonly clock: PausableClock;
  readonly fate: RequestFate;
}

function act(options: CallOptions | undefined, perform: () => KubernetesObject): Act {
  return { options: options ?? {}, perform };
}

function failure(verb: string, status: number, reason: string): ApiError {
  const call = { verb: verb === 'update' ? 'replace' : verb, kind: 'Lease' } as Call;
  return new ApiError(call, { status, reason, message: `leases: ${reason}`, details: {} });
}

function refuse(verb: string): Promise<never> {
  return Promise.reject(new Error(`Cannot ${verb} as only Leases are served`));
}
