/** Reads the text that a scrape gets. */

/** One series. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** One metric with all of its series. */
export interface Family {
  readonly name: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

/** The metrics of a scrape. @throws {Error} at a line that cannot be read */
export function familiesOf(text: string): readonly Family[] {
  const families: { name: string; type: string; samples: Sample[] }[] = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# HELP ')) continue;
    if (line.startsWith('# TYPE ')) {
      const [, , name = '', type = ''] = line.split(' ');
      families.push({ name, type, samples: [] });
    } else families.at(-1)?.samples.push(sampleOf(line));
  }
  return families;
}

const sampleLine = /^(?<name>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)",?/g;

function sampleOf(line: string): Sample {
  const { name = '', labels = '', value = '' } = sampleLine.exec(line)?.groups ?? {};
  if (name === '') throw new Error(`Cannot read the sample ${line}`);
  const pairs = [...labels.matchAll(label)].map(([, key = '', text = '']) => [key, text] as const);
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}

/** The names of the labels of a family, sorted, but for the bounds of buckets. */
export function labelsOf({ samples }: Family): readonly string[] {
  const names = samples.flatMap(({ labels }) => Object.keys(labels));
  return [...new Set(names)].filter((name) => name !== 'le').toSorted();
}
