/**
 * What people and programs see of a running process: metrics, log lines, traces, and the plain server that shows them.
 * Rooms above say what happened, in words of their own; how that is named and counted is decided here.
 */
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';

/** The value of each label of one series. */
export type LabelValues<Label extends string> = Readonly<Record<Label, string>>;

/** Name, help and labels of a metric. */
export interface MetricOptions<Label extends string> {
  readonly name: string;
  /** One sentence without a line break. */
  readonly help: string;
  readonly labels: readonly Label[];
}

/** Name, help, labels and upper bounds of a histogram. */
export interface HistogramOptions<Label extends string> extends MetricOptions<Label> {
  /** Upper bounds of the buckets, ascending, without infinity. */
  readonly buckets: readonly number[];
}

/** Name, help and labels of a gauge. */
export interface GaugeOptions<Label extends string> extends MetricOptions<Label> {
  /** Called before each exposition, for what changes by itself, such as an age. @default nothing does */
  readonly beforeExposed?: () => void;
}

/** Counts that only grow. */
export interface CounterMetric<Label extends string> {
  /** Adds `amount`, which may be 0 to make the series appear. @default 1 */
  add(labels: LabelValues<Label>, amount?: number): void;
  remove(labels: LabelValues<Label>): void;
}

/** Values that go up and down. */
export interface GaugeMetric<Label extends string> {
  set(labels: LabelValues<Label>, value: number): void;
  /** Adds `amount`, which may be negative. */
  add(labels: LabelValues<Label>, amount: number): void;
  remove(labels: LabelValues<Label>): void;
}

/** Distributions of values. */
export interface HistogramMetric<Label extends string> {
  observe(labels: LabelValues<Label>, value: number): void;
  remove(labels: LabelValues<Label>): void;
}

/** All metrics of one process, or of one test: there is no global one. */
export interface MetricsRegistry {
  /** Declares a counter. The three constructors throw when the name is taken, which is a bug. */
  counter<Label extends string>(options: MetricOptions<Label>): CounterMetric<Label>;
  gauge<Label extends string>(options: GaugeOptions<Label>): GaugeMetric<Label>;
  histogram<Label extends string>(options: HistogramOptions<Label>): HistogramMetric<Label>;
  /** Returns the text exposition of all series; a metric without any is absent (ME-9, ME-32). */
  expose(): Promise<string>;
  /** The media type of {@link expose}. */
  readonly contentType: string;
}

/** The buckets of most durations, in seconds. */
export const bucketsB1: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** The buckets of durations that may be long, in seconds. */
export const bucketsB2: readonly number[] = [...bucketsB1, 25, 50, 100];

/** The buckets of sizes, in bytes: 4, 16, 64, … 1073741824. */
export const bucketsB3: readonly number[] = Array.from(
  { length: 15 },
  (_, index) => 4 ** (index + 1),
);

/**
 * Returns a registry of what is declared here.
 *
 * @param inner what is exposed besides. @default nothing
 */
export function createMetricsRegistry(inner: Registry = new Registry()): MetricsRegistry {
  return new PromClientRegistry(inner);
}

class PromClientRegistry implements MetricsRegistry {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  counter<Label extends string>(options: MetricOptions<Label>): CounterMetric<Label> {
    const counter = new Counter<string>(this.#configuration(options));
    return {
      add: (labels, amount = 1) => counter.inc(labels, amount),
      remove: (labels) => counter.remove(labels),
    };
  }

  gauge<Label extends string>(options: GaugeOptions<Label>): GaugeMetric<Label> {
    const { beforeExposed } = options;
    const gauge = new Gauge<string>({
      ...this.#configuration(options),
      ...(beforeExposed !== undefined && { collect: () => beforeExposed() }),
    });
    return {
      set: (labels, value) => gauge.set(labels, value),
      add: (labels, amount) => gauge.inc(labels, amount),
      remove: (labels) => gauge.remove(labels),
    };
  }

  histogram<Label extends string>(options: HistogramOptions<Label>): HistogramMetric<Label> {
    const buckets = [...options.buckets];
    const histogram = new Histogram<string>({ ...this.#configuration(options), buckets });
    return {
      observe: (labels, value) => histogram.observe(labels, value),
      remove: (labels) => histogram.remove(labels),
    };
  }

  async expose(): Promise<string> {
    const blocks = (await this.#registry.metrics()).trimEnd().split('\n\n');
    const observed = blocks.filter(hasSeries);
    return observed.length === 0 ? '' : `${withBoundsOfGo(observed.join('\n'))}\n`;
  }

  #configuration(options: MetricOptions<string>): {
    name: string;
    help: string;
    labelNames: string[];
    registers: Registry[];
  } {
    const { name, help, labels } = options;
    return { name, help, labelNames: [...labels], registers: [this.#registry] };
  }
}

/** A bound of a bucket from a million on; a quotation mark in the value of a label has a backslash before it. */
const largeBound = /([{,]le=")(\d{7,})"/g;

/**
 * Returns `text` with the bounds of buckets as client_golang writes them, with an exponent from a million on: `le` is
 * compared as text, so that the same bound under another spelling is another series to every query.
 */
function withBoundsOfGo(text: string): string {
  return text.replace(largeBound, (_, before: string, bound: string) => {
    const [mantissa = '', exponent = ''] = Number(bound).toExponential().split('e+');
    return `${before}${mantissa}e+${exponent.padStart(2, '0')}"`;
  });
}

/**
 * Reports whether a block has a sample. It is its HELP line, its TYPE line and one line a sample; line breaks in values are
 * escaped.
 */
function hasSeries(block: string): boolean {
  return block.split('\n', 3).length === 3;
}
