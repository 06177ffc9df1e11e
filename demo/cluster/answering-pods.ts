import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock } from '#base/clock.ts';
import { type Instant, type Millis, millis } from '#base/units.ts';

/** How one pod differs from the others. */
export interface PodMood {
  /** How many times it says that it cannot prepare yet. */
  readonly refusals: number;
  /** How long it takes to answer. */
  readonly after: Millis;
}

/** One call of a pod that was answered. */
export interface PodCall {
  readonly pod: string;
  readonly method: string;
  /** When the call arrived. */
  readonly at: Instant;
  /** From its arrival to its answer. */
  readonly took: Millis;
  readonly status: number;
  /** Since when the pod is prepared to go, to the millisecond; undefined while it is not. */
  readonly preparedAt: Instant | undefined;
}

/** Ports of {@link AnsweringPods}. */
export interface AnsweringPodsOptions {
  readonly clock: Clock;
  /** Called with each answer. */
  readonly onCall: (call: PodCall) => void;
}

interface Pod {
  mood: PodMood;
  preparedAt: Instant | undefined;
}

const calm: PodMood = { refusals: 0, after: millis(0) };

/**
 * The pods of the demo as an HTTP server: the operator calls them by their names, through a proxy that routes by Host.
 * POST prepares a pod to go and answers since when it is, DELETE takes that back (DD-26).
 */
export class AnsweringPods {
  readonly #options: AnsweringPodsOptions;
  readonly #server: Server;
  readonly #pods = new Map<string, Pod>();

  constructor(options: AnsweringPodsOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => this.#serve(request, response));
  }

  /** Starts to listen. @returns the value for `HTTP_PROXY` */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') {
      throw new Error('Cannot answer for the pods: the server has no TCP address');
    }
    return `http://127.0.0.1:${address.port}`;
  }

  /** Has `pod` answer like this from now on. */
  behave(pod: string, mood: PodMood): void {
    this.#podOf(pod).mood = mood;
  }

  /** Returns the time from which `pod` has been prepared to go; undefined while it is not. */
  preparedAt(pod: string): Instant | undefined {
    return this.#pods.get(pod)?.preparedAt;
  }

  /** Forgets `pod`, which is gone: its successor knows nothing. */
  forget(pod: string): void {
    this.#pods.delete(pod);
  }

  /** Ends all connections, and stops listening. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #podOf(name: string): Pod {
    const known = this.#pods.get(name);
    if (known !== undefined) return known;
    const pod: Pod = { mood: calm, preparedAt: undefined };
    this.#pods.set(name, pod);
    return pod;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    const { clock } = this.#options;
    const at = clock.now();
    const { method = '' } = request;
    const [name = ''] = (request.headers.host ?? '').split('.');
    const pod = this.#podOf(name);
    const status = this.#statusOf(pod, method, at);
    const answer = (): void => {
      const { preparedAt } = pod;
      const took = millis(clock.now() - at);
      response.writeHead(status, { 'content-type': 'application/json' }).end(bodyOf(pod, status));
      this.#options.onCall({ pod: name, method, at, took, status, preparedAt });
    };
    if (pod.mood.after <= 0) return answer();
    const timer = clock.timer(pod.mood.after, answer, { background: true });
    response.on('close', () => timer.cancel());
  }

  #statusOf(pod: Pod, method: string, at: Instant): number {
    if (method === 'DELETE') pod.preparedAt = undefined;
    if (method !== 'POST') return 200;
    const { refusals } = pod.mood;
    if (refusals > 0) {
      pod.mood = { ...pod.mood, refusals: refusals - 1 };
      return 503;
    }
    pod.preparedAt ??= at;
    return 200;
  }
}

/** Whole seconds are rounded up: a pod never claims to be prepared for longer than it is. */
function bodyOf({ preparedAt }: Pod, status: number): string {
  if (status !== 200) return 'not yet: blocks are being uploaded';
  const timestamp = preparedAt === undefined ? 0 : Math.ceil(preparedAt / 1_000);
  return JSON.stringify({ timestamp });
}
