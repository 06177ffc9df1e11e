import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerOptions } from 'node:https';
import { bodyOf, LocalServer } from './local-server.ts';

/** What answers one question in place of the server. */
export type ConsulObstacle = (response: ServerResponse) => void;

/** One question about a service, as the server saw it. */
export interface ReceivedQuestion {
  /** Path and query. */
  readonly target: string;
  readonly token: string | undefined;
}

/** How a stand-in behaves. */
export interface ConsulServerOptions {
  /** Who has it may see everything; who has another one is refused, and who has none sees nothing. @default every client sees all */
  readonly token?: string;
  /** Key, certificate, and whose certificates are asked for. @default http */
  readonly tls?: ServerOptions;
}

interface Check {
  readonly CheckID: string;
  Status: string;
}

/** A service as it is registered with an agent. */
export interface Registration {
  readonly ID: string;
  readonly Name: string;
  readonly Address?: string;
  readonly Meta?: Readonly<Record<string, string>>;
  readonly Check?: Check;
}

interface AskedHealth {
  readonly service: string;
  readonly url: URL;
  readonly token: string | undefined;
}

interface Waiting {
  readonly index: number;
  readonly answer: () => void;
}

/**
 * Stands in for an agent of Consul on an address of this host, as far as its documents say how health is asked for: blocking
 * queries, ACLs, maintenance, datacenters. Services are registered with it as with an agent.
 */
export class ConsulServer {
  readonly received: ReceivedQuestion[] = [];
  /** Answer the next questions, one each, before anything is looked at. */
  readonly obstacles: ConsulObstacle[] = [];
  /** Headers of all answers, over the usual ones. */
  headers: Readonly<Record<string, string>> = {};
  readonly #token: string | undefined;
  readonly #server: LocalServer;
  readonly #services = new Map<string, Registration>();
  /** Ids of services in maintenance; empty for the node. */
  readonly #maintained = new Set<string>();
  readonly #waiting = new Set<Waiting>();
  #index = 10;

  constructor({ token, tls }: ConsulServerOptions = {}) {
    this.#token = token;
    const listener = (request: IncomingMessage, response: ServerResponse): void =>
      void this.#serve(request, response);
    this.#server = new LocalServer(listener, tls);
  }

  /** Starts listening. @returns the port */
  listen(): Promise<number> {
    return this.#server.listen();
  }

  /** Returns how many questions wait for a change. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Restores the state from an older one: the index goes backwards, and all questions that wait are answered. */
  restore(index: number): void {
    this.#index = index;
    this.#wake(() => true);
  }

  /** Changes something that concerns no service. */
  touch(): void {
    this.#index += 1;
    this.#wake(({ index }) => index < this.#index);
  }

  /** Ends all connections and stops listening. */
  close(): Promise<void> {
    return this.#server.close();
  }

  #wake(isConcerned: (each: Waiting) => boolean): void {
    for (const each of this.#waiting) if (isConcerned(each)) each.answer();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const url = new URL(request.url ?? '', 'http://consul');
    const given = request.headers['x-consul-token'];
    const token = typeof given === 'string' ? given : undefined;
    const service = /^\/v1\/health\/service\/([^/]+)$/.exec(url.pathname)?.[1];
    const refusal = refusalOf(request.method ?? '', url, service !== undefined);
    if (refusal !== undefined) {
      fail(response, ...refusal);
      return;
    }
    if (service === undefined) {
      this.#change(url, body);
      response.writeHead(200).end();
      return;
    }
    this.received.push({ target: request.url ?? '', token });
    this.#ask(response, { service: decodeURIComponent(service), url, token });
  }

  #ask(response: ServerResponse, asked: AskedHealth): void {
    const obstacle = this.obstacles.shift();
    if (obstacle !== undefined) obstacle(response);
    else if (asked.url.searchParams.get('dc') === 'nowhere')
      fail(response, 500, 'No path to datacenter');
    else if (this.#isRefused(asked.token)) fail(response, 403, 'rpc error: ACL not found');
    else this.#answer(response, asked);
  }

  #isRefused(token: string | undefined): boolean {
    return this.#token !== undefined && token !== undefined && token !== this.#token;
  }

  #answer(response: ServerResponse, asked: AskedHealth): void {
    const index = Number(asked.url.searchParams.get('index') ?? '0');
    const answer = (): void => {
      const isHidden = this.#token !== undefined && asked.token === undefined;
      const found = isHidden ? [] : this.#instancesOf(asked.service);
      response.writeHead(200, {
        'content-type': 'application/json',
        'x-consul-index': `${this.#index}`,
        'x-consul-lastcontact': '0',
        'x-consul-knownleader': 'true',
        ...(isHidden && { 'x-consul-results-filtered-by-acls': 'true' }),
        ...this.headers,
      });
      response.end(JSON.stringify(found));
    };
    if (index < this.#index) answer();
    else this.#wait(index, { answer, response, wait: asked.url.searchParams.get('wait') ?? '' });
  }

  #wait(
    index: number,
    how: { readonly answer: () => void; readonly response: ServerResponse; readonly wait: string },
  ): void {
    const [, count = '300', unit = 's'] = /^(\d+)(ms|s)$/.exec(how.wait) ?? [];
    const waiting: Waiting = {
      index,
      answer: () => {
        leave();
        how.answer();
      },
    };
    const span = Number(count) * (unit === 's' ? 1_000 : 1);
    const timer = setTimeout(waiting.answer, span);
    const leave = (): void => {
      clearTimeout(timer);
      this.#waiting.delete(waiting);
    };
    how.response.on('close', leave);
    this.#waiting.add(waiting);
  }

  #instancesOf(name: string): readonly unknown[] {
    const Node = { ID: 'n', Node: 'node-1', Address: '127.0.0.1', Datacenter: 'dc1' };
    return [...this.#services.values()]
      .filter((each) => each.Name === name)
      .map(({ ID, Name, Address = '', Meta = {}, Check }) => ({
        Node,
        Service: { ID, Service: Name, Tags: [], Address, Meta, Port: 0 },
        Checks: [
          { Node: 'node-1', CheckID: 'serfHealth', Status: 'passing' },
          ...(Check === undefined ? [] : [{ ...Check, ServiceID: ID }]),
          ...maintenance('_node_maintenance', this.#maintained.has('')),
          ...maintenance(`_service_maintenance:${ID}`, this.#maintained.has(ID)),
        ],
      }));
  }

  #change({ pathname, searchParams }: URL, body: string): void {
    const [, action = '', id = ''] = /^\/v1\/agent\/(.+?)(?:\/([^/]+))?$/.exec(pathname) ?? [];
    const name = decodeURIComponent(id);
    const isOn = searchParams.get('enable') === 'true';
    if (pathname === '/v1/agent/service/register') {
      const registration = JSON.parse(body) as Registration;
      this.#services.set(registration.ID, registration);
    } else if (action === 'service/deregister') this.#services.delete(name);
    else if (action === 'check/update') this.#setCheck(name, body);
    else if (action === 'service/maintenance') this.#maintain(name, isOn);
    else if (pathname === '/v1/agent/maintenance') this.#maintain('', isOn);
    this.touch();
  }

  #setCheck(id: string, body: string): void {
    const { Status } = JSON.parse(body) as { readonly Status: string };
    for (const { Check } of this.#services.values()) {
      if (Check?.CheckID === id) Check.Status = Status;
    }
  }

  #maintain(id: string, isOn: boolean): void {
    if (isOn) this.#maintained.add(id);
    else this.#maintained.delete(id);
  }
}

/** What may be asked about health, and how; a real Consul knows more, which no caller here is to ask for. */
const parameters: Readonly<Record<string, RegExp>> = {
  dc: /./,
  ns: /./,
  partition: /./,
  index: /^\d+$/,
  wait: /^\d+(?:ms|s|m)$/,
  stale: /^$/,
};

/** As an agent refuses what it does not serve, or cannot read; parameters that it would pass over are refused, too. */
function refusalOf(
  method: string,
  { pathname, searchParams }: URL,
  isQuestion: boolean,
): readonly [status: number, text: string] | undefined {
  if (!isQuestion && !pathname.startsWith('/v1/agent/')) return [404, 'no such path'];
  if (method !== (isQuestion ? 'GET' : 'PUT')) return [405, `method ${method} not allowed`];
  if (!isQuestion) return undefined;
  const wrong = [...searchParams].find(([name, value]) => parameters[name]?.test(value) !== true);
  return wrong && [400, `Invalid ${wrong.join(' ')}`];
}

function maintenance(CheckID: string, isOn: boolean): readonly unknown[] {
  return isOn ? [{ CheckID, Name: 'Maintenance Mode', Status: 'critical' }] : [];
}

function fail(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status).end(text);
}

/** Answers with `status` and `text`. */
export function refusing(status: number, text: string): ConsulObstacle {
  return (response) => fail(response, status, text);
}

/** Answers 200 with `body`. */
export function saying(body: string): ConsulObstacle {
  return (response) => response.writeHead(200, { 'x-consul-index': '11' }).end(body);
}
