/** What the alerts, the dashboards and the documents ask for is what the real program shows. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { seconds } from '#base/units.ts';
import { reasonCatalogue } from '#control/decision/reasons.ts';
import { documentedMetrics, peerMetrics } from './documented-metrics.ts';
import { type Family, familiesOf, labelsOf } from './exposition.ts';
import { asked, isMatched, type Selector } from './expressions.ts';
import { liveScrapes } from './live-scrapes.ts';
import { storedFiles } from './render.ts';
import { promtool } from './tools.ts';

/** Labels that the scrape adds, the one that it makes of a `namespace` of ours, and the metric that it adds itself. */
const targetLabels = new Set(['cluster', 'namespace', 'job', 'instance', 'exported_namespace']);
const ofPrometheus = 'up';

/** An expression, and where it is. */
interface Placed {
  readonly place: string;
  readonly expression: string;
  /** What its series are called, such as `{{route}}`. */
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly definition?: string }[] };
}

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

const files = await storedFiles();
const placed = [...files].flatMap(([name, text]) =>
  name.endsWith('.json')
    ? panelsOf(name, JSON.parse(text) as Dashboard)
    : alertsOf(parse(text) as Rules),
);

function alertsOf({ groups }: Rules): readonly Placed[] {
  return groups
    .flatMap(({ rules }) => rules)
    .map(({ alert, expr }) => ({ place: alert, expression: expr, legend: '' }));
}

function panelsOf(name: string, { panels, templating }: Dashboard): readonly Placed[] {
  const queries = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({
      place: `${name}: ${title}`,
      expression: expr.replaceAll('$__rate_interval', '5m'),
      legend: legendFormat,
    })),
  );
  const variables = templating.list.flatMap(({ definition }) => {
    const query = /^label_values\((?<expression>.*), (?<label>\w+)\)$/.exec(
      definition ?? '',
    )?.groups;
    return query === undefined
      ? []
      : [
          {
            place: `${name}: variables`,
            expression: `max by (${query['label']}) (${query['expression']})`,
            legend: '',
          },
        ];
  });
  return [...queries, ...variables];
}

test('there is an expression in each alert, in each panel and for each variable', () => {
  assert.ok(placed.length > 90, `${placed.length} expressions`);
  assert.deepEqual(
    placed.filter(({ expression }) => asked(expression).selectors.length === 0),
    [],
  );
});

test('promtool can read the expressions of the dashboards', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mixin-'));
  const path = join(folder, 'rules.json');
  const rules = placed.map(({ expression }, index) => ({
    record: `panel:${index}`,
    expr: expression,
  }));
  await writeFile(path, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
  const { code, stdout, stderr } = await promtool(['check', 'rules', path]);
  await rm(folder, { recursive: true });
  assert.equal(code, 0, `${stdout}${stderr}`);
});

test('legends name only labels that the expression keeps', () => {
  const wrong = placed.filter(({ expression, legend }) => {
    const { groupings } = asked(expression);
    return [...legend.matchAll(/\{\{(\w+)\}\}/g)].some(
      ([, label = '']) => !groupings.includes(label),
    );
  });
  assert.deepEqual(wrong, []);
});

describe('scrapes of the program', () => {
  let scrapes: readonly string[] = [];
  let families: ReadonlyMap<string, Family>;

  before(
    async () => {
      scrapes = await liveScrapes(AbortSignal.timeout(seconds(150)));
      families = merged(scrapes.flatMap(familiesOf));
    },
    { timeout: seconds(175) },
  );

  test('please promtool', async () => {
    for (const scrape of scrapes) {
      const { code, stdout, stderr } = await promtool(['check', 'metrics'], scrape);
      assert.equal(code, 0, `${stdout}${stderr}`);
    }
  });

  test('have a series for every selector of alerts and dashboards, but for reasons that the catalogue has', () => {
    const wanted = placed.flatMap(({ place, expression }) =>
      asked(expression).selectors.map((selector) => ({ place, selector })),
    );
    assert.deepEqual(
      wanted.filter(({ selector }) => !isShown(selector, families)),
      [],
    );
  });

  test('have every label that alerts and dashboards group by', () => {
    const wrong = placed.filter(({ expression }) => {
      const { selectors, groupings } = asked(expression);
      const labels = selectors.flatMap(({ metric }) => labelsOfMetric(metric, families));
      return groupings.some((label) => !targetLabels.has(label) && !labels.includes(label));
    });
    assert.deepEqual(wrong, []);
  });

  test('have the metrics that docs/metrics.md lists, with these types and labels, and no others', async () => {
    const page = await readFile(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');
    const shown = [...families.values()].map(
      (family) => `${family.name} ${family.type} ${labelsOf(family).join(',')}`,
    );
    assert.deepEqual(shown.toSorted(), documentedMetrics(page).toSorted());
  });

  for (const [name, { type, labels }] of Object.entries(peerMetrics)) {
    test(`have ${name} as the peer has it`, () => {
      const family = families.get(name);
      assert.ok(family);
      assert.deepEqual([family.type, labelsOf(family)], [type, labels.toSorted()]);
    });
  }

  test('have bounds of buckets as Go writes them', () => {
    const bounds = new Set(
      families
        .get('rollout_operator_request_message_bytes')
        ?.samples.flatMap(({ labels: { le } }) => le ?? []),
    );
    for (const bound of ['4', '262144', '1.048576e+06', '1.073741824e+09', '+Inf'])
      assert.ok(bounds.has(bound), bound);
  });
});

function merged(all: readonly Family[]): ReadonlyMap<string, Family> {
  const families = new Map<string, Family>();
  for (const family of all) {
    const known = families.get(family.name);
    const samples = [...(known?.samples ?? []), ...family.samples];
    families.set(family.name, { ...family, samples });
  }
  return families;
}

/** The family that the samples of `metric` are in. */
function familyOf(metric: string, families: ReadonlyMap<string, Family>): Family | undefined {
  return families.get(metric) ?? families.get(metric.replace(/_(?:bucket|count|sum)$/, ''));
}

function labelsOfMetric(metric: string, families: ReadonlyMap<string, Family>): readonly string[] {
  const family = familyOf(metric, families);
  return family === undefined ? [] : [...labelsOf(family), 'le'];
}

/** Have answers to evictions as reasons, in the peers' words; all others have those of the catalogue. */
const evictions = new Set([
  'rollout_operator_zpdb_eviction_requests_total',
  'zdb_eviction_status_reason',
]);

function isShown({ metric, matchers }: Selector, families: ReadonlyMap<string, Family>): boolean {
  if (metric === ofPrometheus) return true;
  const own = matchers.filter(
    ({ label, value }) => !targetLabels.has(label) && !value.startsWith('$'),
  );
  const isOfCatalogue = ({ label }: (typeof own)[number]): boolean =>
    label === 'reason' && !evictions.has(metric);
  const reasons = own.filter(isOfCatalogue);
  const isKnown = reasons.every(({ value }) =>
    value.split('|').every((reason) => Object.hasOwn(reasonCatalogue, reason)),
  );
  const others = own.filter((each) => !isOfCatalogue(each));
  const samples = familyOf(metric, families)?.samples ?? [];
  return (
    isKnown &&
    samples.some(
      ({ name, labels }) =>
        name === metric && others.every((each) => isMatched(each, labels[each.label] ?? '')),
    )
  );
}
