import type { Clock, Timer } from '#base/clock.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import type { CallOptions, Client, ObjectKey } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourcePath } from '#kubernetes/resource-path.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';

/** A read that hangs is waited for so long; then the next one is sent in parallel. */
const patience = seconds(1);

/**
 * Returns `client` whose equal reads share a request, so that a flood of equal reviews costs two requests and not one each.
 *
 * Who asks joins only a read that has **not been sent yet**: one that is under way may be answered by what was before the
 * review that asks had begun. So of each object at most one read is under way and one waits for its end, or for the second
 * after which nothing waits for a read that hangs. For callers whose signal aborts when their timeout passes.
 */
export function sharedReads(client: Client, clock: Clock): Client {
  const reads = new SharedReads(client, clock);
  return {
    get: (type, key, options = {}) => {
      const isPlain = options.beforeSend === undefined && options.answerWithin === undefined;
      return isPlain ? reads.get(type, key, options) : client.get(type, key, options);
    },
    list: (type, query, options) => client.list(type, query, options),
    watch: (type, query, options) => client.watch(type, query, options),
    create: (type, key, write) => client.create(type, key, write),
    replace: (type, key, write) => client.replace(type, key, write),
    patch: (type, key, write) => client.patch(type, key, write),
    delete: (type, key, options) => client.delete(type, key, options),
    raw: (request, options) => client.raw(request, options),
  };
}

/** The reads of one object. */
interface Lane {
  underWay: number;
  next: SharedRead | undefined;
  timer: Timer | undefined;
}

class SharedReads {
  readonly #client: Client;
  readonly #clock: Clock;
  /** Keyed by path; only those that are being read. */
  readonly #lanes = new Map<string, Lane>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async get(type: ResourceType, key: ObjectKey, options: CallOptions): Promise<KubernetesObject> {
    options.signal?.throwIfAborted();
    const path = resourcePath(type, key);
    const lane = this.#lanes.get(path) ?? { underWay: 0, next: undefined, timer: undefined };
    this.#lanes.set(path, lane);
    lane.next ??= new SharedRead(this.#clock, (shared) => this.#client.get(type, key, shared));
    const read = lane.next;
    const answer = read.join(options);
    if (lane.underWay === 0) this.#send(path, lane);
    else lane.timer ??= this.#soon(path, lane);
    return answer;
  }

  #soon(path: string, lane: Lane): Timer {
    const options = { owner: 'read in parallel to one that hangs', background: true };
    return this.#clock.timer(patience, () => this.#send(path, lane), options);
  }

  #send(path: string, lane: Lane): void {
    const { next, timer } = lane;
    timer?.cancel();
    lane.timer = undefined;
    lane.next = undefined;
    if (next !== undefined && next.isWanted) {
      lane.underWay += 1;
      void next.send().then(() => {
        lane.underWay -= 1;
        this.#send(path, lane);
      });
    } else if (lane.underWay === 0) this.#lanes.delete(path);
  }
}

/** One request, and those who wait for its answer. */
class SharedRead {
  readonly #clock: Clock;
  readonly #request: (options: CallOptions) => Promise<KubernetesObject>;
  readonly #answer = Promise.withResolvers<KubernetesObject>();
  /** Aborts when no caller waits any more. */
  readonly #unwanted = new AbortController();
  #waiting = 0;
  #isSent = false;
  /** When the last of those who wait gives up. */
  #until = 0;

  constructor(clock: Clock, request: (options: CallOptions) => Promise<KubernetesObject>) {
    this.#clock = clock;
    this.#request = request;
    // Everybody may have left when it fails.
    this.#answer.promise.catch(() => undefined);
  }

  get isWanted(): boolean {
    return this.#waiting > 0;
  }

  /** Waits for the answer. @throws what the client throws; the reason of the signal where others wait on */
  async join({ signal, timeout }: CallOptions): Promise<KubernetesObject> {
    const now = this.#clock.monotonic();
    this.#until = Math.max(this.#until, timeout === undefined ? Infinity : now + timeout);
    this.#waiting += 1;
    const left = Promise.withResolvers<never>();
    const leave = (): void => {
      this.#waiting -= 1;
      // The last one hears from the client itself how its request ended.
      if (this.#isSent && this.#waiting === 0) this.#unwanted.abort(signal?.reason);
      else left.reject(signal?.reason);
    };
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([this.#answer.promise, left.promise]);
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  /** Sends the request; resolves when it has ended, however. */
  async send(): Promise<void> {
    this.#isSent = true;
    const { signal } = this.#unwanted;
    const timeout = this.#until - this.#clock.monotonic();
    const bound: { readonly timeout?: Millis } = Number.isFinite(timeout)
      ? { timeout: millis(Math.max(1, timeout)) }
      : {};
    try {
      this.#answer.resolve(await this.#request({ signal, ...bound }));
    } catch (error) {
      this.#answer.reject(error);
    }
  }
}
