import type { Clock } from '#base/clock.ts';
import { type Millis, type Monotonic, millis } from '#base/units.ts';
import type { Prometheus, PrometheusQuestion } from '#check/prometheus/prometheus.ts';
import type { QueryReading } from '#check/prometheus/reading.ts';

/** A reading that passes without bounds. */
export const someData: QueryReading = {
  kind: 'vector',
  samples: [{ value: 1, text: '1' }],
  warnings: [],
};

/** A reading that finds nothing. */
export const noData: QueryReading = { kind: 'no-data', warnings: [] };

/** A question, and what became of it. */
export interface AskedOnce {
  readonly question: PrometheusQuestion;
  readonly at: Monotonic;
  /** Absent while it is not answered, or where nothing waited for that. */
  answered?: QueryReading;
}

/** Prometheus on the clock of a test. */
export class FakePrometheus implements Prometheus {
  readonly #clock: Clock;
  /** What it was asked, and when. */
  readonly asked: AskedOnce[] = [];
  /** What it answers. */
  answer: (question: PrometheusQuestion) => QueryReading = () => someData;
  /** How long an answer takes. */
  latencyOf: (question: PrometheusQuestion) => Millis = () => millis(5);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async read(
    question: PrometheusQuestion,
    { signal, sent }: Parameters<Prometheus['read']>[1],
  ): Promise<QueryReading> {
    const asked: AskedOnce = { question, at: this.#clock.monotonic() };
    this.asked.push(asked);
    sent?.();
    await this.#clock.sleep(this.latencyOf(question), { signal }).catch(() => undefined);
    if (signal.aborted) {
      return { kind: 'error', reason: 'GivenUp', message: 'the question was given up' };
    }
    asked.answered = this.answer(question);
    return asked.answered;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** A Prometheus that is not to be queried. */
export const silentPrometheus: Prometheus = Object.freeze({
  read: () => Promise.reject(new Error('Nobody is to ask')),
  close: () => Promise.resolve(),
});
