import type { Clock } from '#base/clock.ts';
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { Millis } from '#base/units.ts';
import type {
  CallOptions,
  Client,
  DeleteOptions,
  ListQuery,
  ListResult,
  ObjectKey,
  Patch,
  WatchQuery,
  Write,
  WriteOptions,
} from './client.ts';
import { earlier } from './middleware/answer-deadline.ts';
import type { KubernetesObject } from './object.ts';
import {
  parseCreated,
  parseJson,
  parseList,
  parseObject,
  parseObjectOrStatus,
  parseRefusal,
  parseUnstored,
  type WholeAnswer,
} from './parse-answer.ts';
import { readRefusal } from './read-refusal.ts';
import {
  goDuration,
  listQuery,
  resourcePath,
  type Target,
  watchQuery,
  withQuery,
} from './resource-path.ts';
import type { ResourceType } from './resource-type.ts';
import type { Call } from './transport/api-error.ts';
import type {
  Method,
  Transport,
  TransportRequest,
  TransportStream,
} from './transport/transport.ts';

/** Settings of {@link createClient}. */
export interface ClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Deadline of every call, also sent to the server (FL-15); 0 means none. */
  readonly timeout: Millis;
  /** Identifies the product (K8-26). */
  readonly userAgent: string;
}

/** Returns the typed client over any transport. Nothing is retried here: each error says what the key needs. */
export function createClient(options: ClientOptions): Client {
  return new HttpClient(options);
}

/** A request before headers, deadline and signal are put on. */
interface Outline {
  readonly call: Call;
  readonly method: Method;
  readonly path: string;
  readonly params?: URLSearchParams;
  readonly body?: JsonValue;
  readonly contentType?: string;
}

class HttpClient implements Client {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #timeout: Millis;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: ClientOptions) {
    this.#transport = options.transport;
    this.#clock = options.clock;
    this.#timeout = options.timeout;
    this.#headers = { accept: 'application/json', 'user-agent': options.userAgent };
  }

  async get(type: ResourceType, key: ObjectKey, options?: CallOptions): Promise<KubernetesObject> {
    const call = callOf('get', type, key);
    return parseObject(
      await this.#ask({ call, method: 'GET', path: resourcePath(type, key) }, options),
    );
  }

  async list(type: ResourceType, query: ListQuery, options?: CallOptions): Promise<ListResult> {
    const call = callOf('list', type, query);
    const path = resourcePath(type, { namespace: query.namespace });
    return parseList(
      await this.#ask({ call, method: 'GET', path, params: listQuery(query) }, options),
    );
  }

  async watch(
    type: ResourceType,
    query: WatchQuery,
    options?: CallOptions,
  ): Promise<TransportStream> {
    const call = callOf('watch', type, query);
    const path = resourcePath(type, { namespace: query.namespace });
    const timeout = this.#timeoutOf(options);
    // The time of a request bounds the life of a watch as well (FL-15): the server ends it, cleanly.
    const timeoutSeconds =
      query.timeoutSeconds ?? (timeout === undefined ? undefined : Math.ceil(timeout / 1_000));
    const params = watchQuery(timeoutSeconds === undefined ? query : { ...query, timeoutSeconds });
    const patience = new AbortController();
    const signal =
      options?.signal === undefined
        ? patience.signal
        : AbortSignal.any([options.signal, patience.signal]);
    const request = this.#request({ call, method: 'GET', path, params }, { ...options, signal });
    const stream = await this.#transport.stream(request);
    if (stream.status === 200) return stream;
    throw await readRefusal({ call, stream, patience }, this.#clock);
  }

  async create(
    type: ResourceType,
    key: { readonly namespace?: string; readonly name?: string },
    write: Write<JsonObject>,
  ): Promise<KubernetesObject> {
    const { subresource } = write;
    const target: Target =
      subresource === undefined ? { namespace: key.namespace } : { ...key, subresource };
    const answer = await this.#ask(
      {
        call: { ...callOf('create', type, key), subresource },
        method: 'POST',
        path: resourcePath(type, target),
        body: write.body,
        ...paramsOf(write),
      },
      write,
    );
    if (write.isDryRun === true) return parseUnstored(answer, key);
    return subresource === undefined ? parseObject(answer) : parseCreated(answer, key);
  }

  async replace(
    type: ResourceType,
    key: ObjectKey,
    write: Write<JsonObject>,
  ): Promise<KubernetesObject> {
    const call = callOf('replace', type, key);
    const path = resourcePath(type, { ...key, subresource: write.subresource });
    return parseObject(await this.#ask({ call, method: 'PUT', path, body: write.body }, write));
  }

  async patch(type: ResourceType, key: ObjectKey, write: Write<Patch>): Promise<KubernetesObject> {
    const { kind } = write.body;
    const body = write.body.kind === 'json' ? write.body.operations : write.body.document;
    const call = callOf('patch', type, key);
    const path = resourcePath(type, { ...key, subresource: write.subresource });
    const contentType = patchTypes[kind];
    const outline: Outline = { call, method: 'PATCH', path, body, contentType, ...paramsOf(write) };
    return parseObject(await this.#ask(outline, write));
  }

  async delete(
    type: ResourceType,
    key: ObjectKey,
    options: DeleteOptions,
  ): Promise<KubernetesObject | undefined> {
    const { preconditions, gracePeriodSeconds, propagationPolicy } = options;
    const body: JsonObject = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { ...preconditions },
      gracePeriodSeconds,
      propagationPolicy,
    };
    const call = callOf('delete', type, key);
    const path = resourcePath(type, key);
    return parseObjectOrStatus(await this.#ask({ call, method: 'DELETE', path, body }, options));
  }

  async raw(
    request: {
      readonly method: 'GET' | 'POST';
      readonly path: string;
      readonly body?: JsonObject;
    },
    options?: CallOptions,
  ): Promise<JsonValue> {
    const { method, path, body } = request;
    const call: Call = { verb: method === 'GET' ? 'get' : 'post', kind: path };
    const outline = { call, method, path };
    return parseJson(await this.#ask(body === undefined ? outline : { ...outline, body }, options));
  }

  async #ask(outline: Outline, options: CallOptions | undefined): Promise<WholeAnswer> {
    const response = await this.#transport.request(this.#request(outline, options));
    const answer = { call: outline.call, ...response };
    if (answer.status < 200 || answer.status > 299) throw parseRefusal(answer, this.#clock.now());
    return answer;
  }

  #request(outline: Outline, options: CallOptions | undefined): TransportRequest {
    const timeout = this.#timeoutOf(options);
    const answerWithin = positive(options?.answerWithin);
    const params = outline.params ?? new URLSearchParams();
    const told = earlier(timeout, answerWithin);
    if (told !== undefined) params.set('timeout', goDuration(told));
    return {
      method: outline.method,
      path: withQuery(outline.path, params),
      ...this.#content(outline),
      ...(options?.signal !== undefined && { signal: options.signal }),
      ...(options?.beforeSend !== undefined && { beforeSend: options.beforeSend }),
      ...(timeout !== undefined && { timeout }),
      ...(answerWithin !== undefined && { answerWithin }),
    };
  }

  #content(outline: Outline): Pick<TransportRequest, 'headers' | 'body'> {
    const { body, contentType = 'application/json' } = outline;
    if (body === undefined) return { headers: this.#headers };
    const headers = { ...this.#headers, 'content-type': contentType };
    return { headers, body: JSON.stringify(body) };
  }

  #timeoutOf(options: CallOptions | undefined): Millis | undefined {
    return positive(options?.timeout ?? this.#timeout);
  }
}

const patchTypes: Readonly<Record<Patch['kind'], string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  // JSON is YAML.
  apply: 'application/apply-patch+yaml',
};

function paramsOf({
  isDryRun = false,
  fieldManager,
  isForced = false,
}: WriteOptions): Pick<Outline, 'params'> {
  const params = new URLSearchParams({
    ...(isDryRun && { dryRun: 'All' }),
    ...(fieldManager !== undefined && { fieldManager }),
    ...(isForced && { force: 'true' }),
  });
  return { params };
}

/** Returns `span`; undefined for 0 or less, which means none. */
function positive(span: Millis | undefined): Millis | undefined {
  return span !== undefined && span > 0 ? span : undefined;
}

function callOf(
  verb: Call['verb'],
  type: ResourceType,
  target: { readonly namespace?: string; readonly name?: string },
): Call {
  return { verb, kind: type.kind, namespace: target.namespace, name: target.name };
}
