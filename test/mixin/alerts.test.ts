/** The alerts, by real promtool: each fires where it should, and is silent where all is well. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { reasonCatalogue } from '#control/decision/reasons.ts';
import { firing, healthy, silent } from './alert-cases.ts';
import { installation, type Series } from './alert-series.ts';
import { evaluated, renderedFiles, renderedFolder, storedFiles } from './render.ts';
import { promtool } from './tools.ts';

const alertsFile = join(renderedFolder, 'alerts.yaml');
const runbooks = join(import.meta.dirname, '../../docs/runbooks');

interface Rule {
  readonly alert: string;
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

const rules = (
  parse(await readFile(alertsFile, 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  }
).groups.flatMap((group) => group.rules);

test('deploy/mixin/rendered is what deploy/mixin says; else run `npm run do mixin`', async () => {
  assert.deepEqual(
    Object.fromEntries(await storedFiles()),
    Object.fromEntries(await renderedFiles()),
  );
});

test('promtool accepts the rules', async () => {
  const { code, stdout, stderr } = await promtool([
    'check',
    'rules',
    '--lint=all',
    '--lint-fatal',
    alertsFile,
  ]);
  assert.equal(code, 0, `${stdout}${stderr}`);
  assert.match(stdout, new RegExp(`SUCCESS: ${rules.length} rules found`));
});

/** What promtool has to say against `tests`; empty when all holds. */
async function failuresOf(tests: readonly object[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mixin-'));
  try {
    const path = join(folder, 'alerts.json');
    const document = { rule_files: [alertsFile], evaluation_interval: '1m', tests };
    await writeFile(path, JSON.stringify(document));
    const { code, stdout, stderr } = await promtool(['test', 'rules', path]);
    return code === 0 ? '' : `${stdout}${stderr}`;
  } finally {
    await rm(folder, { recursive: true });
  }
}

interface Expectation {
  readonly alert: string;
  readonly at: number;
  readonly fires: readonly object[];
}

function testOf(series: Series, expectations: readonly Expectation[]): object {
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: expectations.map(({ alert, at, fires }) => ({
      alertname: alert,
      eval_time: `${at}m`,
      exp_alerts: fires,
    })),
  };
}

for (const { alert, when, series, at, severity, labels, description } of firing) {
  test(`${alert} fires once${when ? ` when ${when}` : ''}, and says: ${description}`, async () => {
    const rule = rules.find((each) => each.alert === alert);
    const { summary = '' } = rule?.annotations ?? {};
    const runbook = `https://rollout-operator.example/docs/runbooks/${alert}.md`;
    const fires = {
      exp_labels: { severity, ...(labels && { ...installation, ...labels }) },
      exp_annotations: { summary, description, runbook_url: runbook },
    };
    assert.equal(await failuresOf([testOf(series, [{ alert, at, fires: [fires] }])]), '');
  });
}

test('every alert has a case in which it fires', () => {
  assert.deepEqual(
    [...new Set(firing.map(({ alert }) => alert))].toSorted(),
    rules.map(({ alert }) => alert).toSorted(),
  );
});

test('every alert is silent in an installation that is well, after half an hour and after a day', async () => {
  const expectations = rules.flatMap(({ alert }) =>
    [30, 61, 1_450].map((at) => ({ alert, at, fires: [] })),
  );
  assert.equal(await failuresOf([testOf(healthy, expectations)]), '');
});

for (const [fact, { alert, series, at }] of Object.entries(silent)) {
  test(`${alert} is silent while ${fact}`, async () => {
    assert.equal(await failuresOf([testOf(series, [{ alert, at, fires: [] }])]), '');
  });
}

test('promtool sees when an alert does not fire that should', async () => {
  const [first] = firing;
  assert.ok(first);
  const { alert, series, at } = first;
  assert.match(await failuresOf([testOf(series, [{ alert, at, fires: [] }])]), /FAILED/);
});

test('every alert has a runbook with what it means, how to see why and what to do, and there is no other', async () => {
  const pages = (await readdir(runbooks)).filter((page) => page !== 'README.md');
  assert.deepEqual(pages.toSorted(), rules.map(({ alert }) => `${alert}.md`).toSorted());
  for (const page of pages) {
    const text = await readFile(join(runbooks, page), 'utf8');
    const headings = [...text.matchAll(/^#+ .*$/gm)].map(([heading]) => heading);
    assert.deepEqual(
      headings,
      [`# ${page.slice(0, -3)}`, '## What it means', '## How to see why', '## What to do'],
      page,
    );
  }
});

test('every reason to hold is sorted by what it asks of people, once', async () => {
  const lists = JSON.parse(
    await evaluated("(import 'config.libsonnet')._config.reasons"),
  ) as Readonly<Record<string, readonly string[]>>;
  const holds = Object.entries(reasonCatalogue).filter(([, { kind }]) => kind === 'hold');
  assert.deepEqual(
    Object.values(lists).flat().toSorted(),
    holds.map(([reason]) => reason).toSorted(),
  );
});
