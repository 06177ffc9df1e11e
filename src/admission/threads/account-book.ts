import type { Clock } from '#base/clock.ts';
import { millis } from '#base/units.ts';
import type {
  HttpServerMetrics,
  MisdirectedRequest,
  ServedRequest,
} from '#telemetry/http-server-metrics.ts';
import type { Account, InflightChange } from './messages.ts';

/** How long is gathered: a message for each line would cost as much as the review that it tells of. */
const gathering = millis(10);

/** Gathers what a thread logs and counts, for the thread that has the log and the metrics. */
export class AccountBook implements HttpServerMetrics {
  readonly #clock: Clock;
  readonly #send: (account: Account) => void;
  #lines: string[] = [];
  #served: ServedRequest[] = [];
  #misdirected: MisdirectedRequest[] = [];
  #inflight = new Map<string, InflightChange>();
  #isDue = false;

  constructor(clock: Clock, send: (account: Account) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Takes one line of the log. */
  readonly write = (line: string): void => {
    this.#lines.push(line);
    this.#becomeDue();
  };

  changeInflight(method: string, route: string, change: number): void {
    const key = `${method} ${route}`;
    const sum = (this.#inflight.get(key)?.change ?? 0) + change;
    this.#inflight.set(key, { method, route, change: sum });
    this.#becomeDue();
  }

  observeServed(request: ServedRequest): void {
    this.#served.push(request);
    this.#becomeDue();
  }

  countMisdirected(request: MisdirectedRequest): void {
    this.#misdirected.push(request);
    this.#becomeDue();
  }

  /** Sends what is gathered. */
  readonly flush = (): void => {
    this.#isDue = false;
    const inflight = [...this.#inflight.values()].filter(({ change }) => change !== 0);
    this.#send({
      lines: this.#lines,
      served: this.#served,
      misdirected: this.#misdirected,
      inflight,
    });
    this.#lines = [];
    this.#served = [];
    this.#misdirected = [];
    this.#inflight = new Map();
  };

  #becomeDue(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#clock.timer(gathering, this.flush, { owner: 'account of a thread' });
  }
}

/** Enters what a thread gathered where it belongs. */
export function enter(
  { lines, served, misdirected, inflight }: Account,
  metrics: HttpServerMetrics,
  write: (line: string) => void,
): void {
  for (const line of lines) write(line);
  for (const { method, route, change } of inflight) metrics.changeInflight(method, route, change);
  for (const request of served) metrics.observeServed(request);
  for (const request of misdirected) metrics.countMisdirected(request);
}
