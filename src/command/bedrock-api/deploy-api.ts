/**
 * A small deploy API, for trying out the flow with its callbacks. It keeps nothing but what is in the cluster, and is
 * no part of the operator.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import type { Client } from '#kubernetes/client.ts';
import { ApiError, isInvalid } from '#kubernetes/transport/api-error.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';
import { type ApiAnswer, type ApiRequest, headerOf, refusal } from './api-answer.ts';
import { Callbacks } from './callbacks.ts';
import { type AllowedNamespaces, BusyError, DeployStore } from './deploy-store.ts';
import { type DeployAction, Deploys } from './deploys.ts';

/** Settings of {@link DeployApi}. */
export interface DeployApiOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** What requests must bear, but for callbacks. Not empty. */
  readonly token: string;
  /** What callbacks must be signed by. Not empty. */
  readonly signingKey: Uint8Array;
  /** Address by which the operator reaches this API. */
  readonly publicUrl: string;
  readonly randomIdentity: () => string;
  /** Where it deploys. */
  readonly namespaces: AllowedNamespaces;
}

/** What a path leads to. */
export type Route =
  | { readonly kind: 'create' }
  | { readonly kind: 'get'; readonly id: string }
  | { readonly kind: 'act'; readonly id: string; readonly action: DeployAction }
  | { readonly kind: 'callback'; readonly stageId: string };

const actions: readonly DeployAction[] = ['pause', 'resume', 'retry', 'advance'];

/** Returns where a request goes; a number for the status that says that it goes nowhere. */
export function routeOf({ method, path }: Pick<ApiRequest, 'method' | 'path'>): Route | 404 | 405 {
  const route = routeAt(path);
  if (route === undefined) return 404;
  return method === (route.kind === 'get' ? 'GET' : 'POST') ? route : 405;
}

function routeAt(path: string): Route | undefined {
  if (path === '/v1/deploys') return { kind: 'create' };
  const stageId = /^\/v1\/stages\/([^/]+)\/callback$/.exec(path)?.[1];
  if (stageId !== undefined) return { kind: 'callback', stageId };
  const [, id, name] = /^\/v1\/deploys\/([a-z0-9]{20})(?:\/([a-z]+))?$/.exec(path) ?? [];
  if (id === undefined) return undefined;
  if (name === undefined) return { kind: 'get', id };
  const action = actions.find((each) => each === name);
  return action === undefined ? undefined : { kind: 'act', id, action };
}

/** The reference deploy API (H-21). Remembers nothing: what it knows is stored in the cluster. */
export class DeployApi {
  readonly #deploys: Deploys;
  readonly #callbacks: Callbacks;
  readonly #token: Uint8Array;

  constructor(options: DeployApiOptions) {
    const store = new DeployStore(options.client, options.namespaces);
    this.#deploys = new Deploys({ ...options, store });
    this.#callbacks = new Callbacks({ ...options, store });
    this.#token = digestOf(options.token);
  }

  /** Returns the answer to a request whose headers alone show that it is not let in, before any of its body is read. */
  refused(request: Pick<ApiRequest, 'headers'>, route: Route): ApiAnswer | undefined {
    if (route.kind === 'callback') return this.#callbacks.refused(request);
    return this.#bearsToken(request) ? undefined : refusal(401, 'A bearer token is needed');
  }

  #bearsToken(request: Pick<ApiRequest, 'headers'>): boolean {
    const [, given = ''] = /^Bearer (\S+)$/i.exec(headerOf(request, 'authorization') ?? '') ?? [];
    return timingSafeEqual(digestOf(given), this.#token);
  }

  /** Answers a request that was let in; never rejects for what the cluster answers. */
  async answer(request: ApiRequest, route: Route): Promise<ApiAnswer> {
    try {
      return await this.#carryOut(request, route);
    } catch (error) {
      if (isInvalid(error)) return refusal(422, error.message);
      if (
        error instanceof ApiError ||
        error instanceof TransportError ||
        error instanceof BusyError
      )
        return refusal(503, error.message);
      throw error;
    }
  }

  #carryOut(request: ApiRequest, route: Route): Promise<ApiAnswer> {
    switch (route.kind) {
      case 'create':
        return this.#deploys.create(request.body);
      case 'get':
        return this.#deploys.get(route.id);
      case 'act':
        return this.#deploys.act(route.id, route.action);
      default:
        return this.#callbacks.take(route.stageId, request);
    }
  }
}

/** Digests are of one length, whatever was given. */
function digestOf(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}
