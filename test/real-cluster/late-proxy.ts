/**
 * A proxy between one operator and its API server. It passes everything on as it is, but holds some writes for a moment,
 * and gives each that it may hold an id, by which the audit log can be asked for it;
 * when the operator is killed, what it had sent is on its way still, and arrives when a successor has begun (D-57).
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock, Timer } from '#base/clock.ts';
import { type Instant, type Millis, millis, seconds } from '#base/units.ts';
import type { SeededRandom } from '#cluster/seeded-random.ts';
import { Forwarder, passBack, wholeBody } from './forwarder.ts';

/** What a {@link LateProxy} is made of. */
export interface LateProxyOptions {
  /** The API server. */
  readonly server: URL;
  /** PEM text of what its certificate is trusted by; unused over plain HTTP. */
  readonly ca: string;
  readonly clock: Clock;
  readonly random: Pick<SeededRandom, 'fraction' | 'below'>;
  /**
   * How long after the kill what was held arrives at most.
   * @default 5 s: before the successor's wait of {@link predecessorHorizon} ends
   */
  readonly longestDelay?: Millis;
  /**
   * Told of each write that may be held, and of each of a ledger or a Lease, when it has come from the operator, and when
   * the API server has answered it.
   */
  readonly onWrite?: OnWrite | undefined;
}

/** Where a write is. */
export type WriteMoment = 'sent' | 'answered';

/** Takes the method and path of a write, where it is, and its body. */
export type OnWrite = (line: string, moment: WriteMoment, body: string) => void;

/** A write of a killed operator that was on its way still. */
export interface LateWrite {
  readonly method: string;
  readonly path: string;
  /** When the operator had sent it, and when it arrived at the API server. */
  readonly sentAt: Instant;
  readonly arrivedAt: Instant;
  /** Status of the answer; `lost` when there was none, as the API server was down. */
  readonly outcome: number | 'lost';
}

/** How often a write of an operator that lives is held, and how long at most. */
const heldChance = 1 / 3;
const longestHold = seconds(2);
/** How long operators of the real lane wait for what a predecessor may have sent, instead of 120 s. */
export const predecessorHorizon: Millis = seconds(6);

/** The writes that take something away, or that decide what is taken away next. */
const heldWrites: readonly RegExp[] = [
  /^DELETE \/api\/v1\/namespaces\/[^/]+\/pods\/[^/]+$/,
  /^(?:PATCH|PUT) \/apis\/apps\/v1\/namespaces\/[^/]+\/statefulsets\/[^/]+(?:\/status|\/scale)?$/,
];

/** Writes that are reported, and never held. */
const toldWrites: readonly RegExp[] = [
  /^(?:POST|PUT|PATCH) \/api\/v1\/namespaces\/[^/]+\/configmaps(?:\/|$)/,
  /^PUT \/apis\/coordination\.k8s\.io\/v1\/namespaces\/[^/]+\/leases\//,
];

interface Held {
  timer: Timer;
  readonly goOn: () => void;
}

/** See the head of the file. */
export class LateProxy {
  /** What arrived late, in order of arrival. */
  readonly late: LateWrite[] = [];
  /** When each write that may be held was sent, by the id under which the audit log has it. */
  readonly sentAt = new Map<string, Instant>();
  readonly #options: LateProxyOptions;
  readonly #longestDelay: Millis;
  readonly #server: Server;
  readonly #forwarder: Forwarder;
  readonly #held = new Set<Held>();
  readonly #underWay = new Set<Promise<void>>();
  #isOrphaned = false;

  constructor(options: LateProxyOptions) {
    this.#options = options;
    this.#longestDelay = options.longestDelay ?? seconds(5);
    this.#forwarder = new Forwarder(options);
    this.#server = createServer((request, response) => this.#serve(request, response));
    // An API server keeps idle connections open; to end one earlier would be a fault of ours.
    this.#server.keepAliveTimeout = 0;
  }

  /** Starts listening. @returns the address that stands for the API server's */
  async listen(): Promise<URL> {
    this.#server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    return new URL(`http://127.0.0.1:${address.port}`);
  }

  /** The operator was killed just now: what is held, and what still comes out of its sockets, arrives late. */
  orphan(): void {
    this.#isOrphaned = true;
    for (const held of this.#held) {
      held.timer.cancel();
      held.timer = this.#timer(this.#longestDelay, held.goOn);
    }
  }

  /** What is held arrives now. */
  release(): void {
    for (const { timer, goOn } of this.#held) {
      timer.cancel();
      goOn();
    }
  }

  /** Resolves when nothing is held and every write was answered. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Ends all connections; what is held is dropped. */
  async close(): Promise<void> {
    for (const { timer } of this.#held) timer.cancel();
    this.#forwarder.close();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    // A killed client reads no answers; the other end hears of it here.
    request.on('error', () => response.destroy());
    if (!isAmong(heldWrites, request)) {
      if (isAmong(toldWrites, request)) void this.#tellOf(request, response);
      else this.#forwarder.passOn(request, response);
      return;
    }
    const writing = this.#write(request, response).finally(() => this.#underWay.delete(writing));
    this.#underWay.add(writing);
  }

  async #tellOf(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await wholeBody(request);
    if (body === undefined) return;
    this.#tell(request, 'sent', body);
    const answer = await this.#forwarder.answerTo(request, { body, headers: {} });
    this.#tell(request, 'answered', body);
    passBack(answer, response);
  }

  async #write(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock, random } = this.#options;
    const body = await wholeBody(request);
    // Cut off in the middle: nobody can have acted on it.
    if (body === undefined) return;
    const sentAt = clock.now();
    const auditId = randomUUID();
    this.sentAt.set(auditId, sentAt);
    this.#tell(request, 'sent', body);
    const longest = this.#isOrphaned ? this.#longestDelay : longestHold;
    if (this.#isOrphaned || random.fraction() < heldChance) await this.#hold(longest);
    const isLate = this.#isOrphaned;
    const arrivedAt = clock.now();
    const answer = await this.#forwarder.answerTo(request, {
      body,
      headers: { 'audit-id': auditId },
    });
    this.#tell(request, 'answered', body);
    if (isLate) {
      const { method = '', url: path = '' } = request;
      this.late.push({ method, path, sentAt, arrivedAt, outcome: answer?.status ?? 'lost' });
    } else passBack(answer, response);
  }

  #tell(request: IncomingMessage, moment: WriteMoment, body: Buffer): void {
    this.#options.onWrite?.(lineOf(request), moment, body.toString());
  }

  #hold(longest: Millis): Promise<void> {
    return new Promise((resolve) => {
      const goOn = (): void => {
        this.#held.delete(held);
        resolve();
      };
      const held: Held = { timer: this.#timer(longest, goOn), goOn };
      this.#held.add(held);
    });
  }

  #timer(longest: Millis, fire: () => void): Timer {
    const { clock, random } = this.#options;
    return clock.timer(millis(random.below(longest + 1)), fire);
  }
}

function isAmong(writes: readonly RegExp[], request: IncomingMessage): boolean {
  const line = lineOf(request);
  return writes.some((pattern) => pattern.test(line));
}

function lineOf({ method = '', url = '' }: IncomingMessage): string {
  return `${method} ${url.replace(/\?.*/, '')}`;
}

/** What arrived late, in one line: how many of each kind with which outcome. */
export function lateText(late: readonly LateWrite[]): string {
  const counts = new Map<string, number>();
  for (const { method, path, outcome } of late) {
    const [, kind = path] = /\/(pods|statefulsets)\//.exec(path) ?? [];
    const key = `${method} ${kind}${path.endsWith('/status') ? '/status' : ''} ${outcome}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const parts = Array.from(counts, ([key, count]) => `${key}: ${count}`).sort();
  return `${late.length} late requests (${parts.join(', ')})`;
}
