import type { CounterMetric, HistogramMetric, LabelValues } from '../metrics.ts';

/** Longest value of a label that is shown as it is, in UTF-16 code units. */
const longestLabel = 256;
const rest = 'other';

/** What bounds the series of a metric. */
export interface SeriesBounds<Label extends string> {
  /** Labels whose values others choose: clients, pods, those that may annotate a set. */
  readonly outside: readonly Label[];
  /** Different sets of labels that are shown as they are, the first that come. */
  readonly most: number;
}

/** Answers labels as a metric shows them. */
type Shown<Label extends string> = (labels: LabelValues<Label>) => LabelValues<Label>;

/**
 * Keeps the series of one metric few, and short: what others choose could make them without end, and nothing removes
 * them. Answers labels as they are, or with `other` in place of what others chose: where that is too long, or when too many
 * different ones came before.
 */
export function boundedSeries<Label extends string>({
  outside,
  most,
}: SeriesBounds<Label>): Shown<Label> {
  const known = new Set<string>();
  return (labels) => {
    const shown: Record<Label, string> = { ...labels };
    for (const label of outside) if (shown[label].length > longestLabel) shown[label] = rest;
    const key = JSON.stringify(shown);
    if (known.size < most) known.add(key);
    if (!known.has(key)) for (const label of outside) shown[label] = rest;
    return shown;
  };
}

/** Counts with {@link boundedSeries}. */
export function boundedCounter<Label extends string>(
  counter: CounterMetric<Label>,
  bounds: SeriesBounds<NoInfer<Label>>,
): Pick<CounterMetric<Label>, 'add'> {
  const shown = boundedSeries(bounds);
  return { add: (labels, amount) => counter.add(shown(labels), amount) };
}

/** Observes with {@link boundedSeries}. */
export function boundedHistogram<Label extends string>(
  histogram: HistogramMetric<Label>,
  bounds: SeriesBounds<NoInfer<Label>>,
): Pick<HistogramMetric<Label>, 'observe'> {
  const shown = boundedSeries(bounds);
  return { observe: (labels, value) => histogram.observe(shown(labels), value) };
}

/** Methods that have a series of their own: Node's parser takes 34, and most are never meant for an operator. */
const knownMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

/** Returns the `method` label of a request that any client may have sent. */
export function methodLabel(method: string): string {
  return knownMethods.has(method) ? method : rest;
}
