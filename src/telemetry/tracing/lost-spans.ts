import { type Counter, createNoopMeter, type Meter, type MeterProvider } from '@opentelemetry/api';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { SparseLog } from '#base/sparse-log.ts';

/** Why spans are lost: too many waited to be sent, or the collector did not take them. */
export type SpanLoss = 'QueueFull' | 'NotSent';

/** What {@link lostSpans} works with. */
export interface LostSpansPorts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Counts `spans` that were lost. */
  readonly count: (why: SpanLoss, spans: number) => void;
}

/** Where the SDK counts what became of each span, by its `error.type`, and what that is where its queue is full. */
const processed = 'otel.sdk.processor.span.processed';
const errorType = 'error.type';
const queueFull = 'queue_full';

/**
 * Takes the measurements that the SDK makes of itself, and counts what was lost: it reports no others of the spans that
 * it drops. That batches could not be sent is reported by the exporter; that the queue is full is one line a minute here.
 */
export function lostSpans({ clock, log, count }: LostSpansPorts): MeterProvider {
  const drops = new SparseLog(log, clock);
  let dropped = 0;
  const losses: Counter = {
    add: (spans, attributes) => {
      const error = attributes?.[errorType];
      if (error === undefined) return;
      if (error !== queueFull) {
        count('NotSent', spans);
        return;
      }
      dropped += spans;
      count('QueueFull', spans);
      drops.warn('', 'spans dropped, as too many wait to be sent', {
        dropped_since_start: dropped,
      });
    },
  };
  return { getMeter: () => meterWith(losses) };
}

/** Returns a meter of which only the counter of spans measures anything. */
function meterWith(counter: Counter): Meter {
  const none = createNoopMeter();
  return {
    createCounter: (name, options) =>
      name === processed ? counter : none.createCounter(name, options),
    createGauge: (name, options) => none.createGauge(name, options),
    createHistogram: (name, options) => none.createHistogram(name, options),
    createUpDownCounter: (name, options) => none.createUpDownCounter(name, options),
    createObservableGauge: (name, options) => none.createObservableGauge(name, options),
    createObservableCounter: (name, options) => none.createObservableCounter(name, options),
    createObservableUpDownCounter: (name, options) =>
      none.createObservableUpDownCounter(name, options),
    addBatchObservableCallback: () => undefined,
    removeBatchObservableCallback: () => undefined,
  };
}
