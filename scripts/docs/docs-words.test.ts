/** What pages name is in the program: flags, annotations, labels, metrics, reasons, and the words of refusals. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readAllConfig } from '../../src/config/all-config.ts';
import { readPhasedRolloutConfig } from '../../src/config/phased-config.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { readStatefulsetRolloutConfig } from '../../src/config/statefulset-config.ts';
import { readZoneAwareConfig } from '../../src/config/zone-aware-config.ts';
import { reasonCatalogue } from '../../src/control/decision/reasons.ts';
import { phasedReasons } from '../../src/phased-rollout/phased-reasons.ts';
import { rolloutReasons } from '../../src/statefulset-rollout/rollout-reasons.ts';
import { updateReasons } from '../../src/zone-aware-update/update-reasons.ts';
import { zoneBudgetReasons } from '../../src/zone-disruption-budget/problem-reasons.ts';
import { proseOf } from '../checks/source-tokens.ts';
import { sharedMetrics, statefulsetRolloutMetrics, zoneMetrics } from './declared-metrics.ts';
import { processMetrics, standardMetrics } from './metric-notes.ts';
import { type Code, codeOf, type Page, pagesOf } from './pages.ts';

const root = join(import.meta.dirname, '../..');
/** Rules are written for who works here, and name what the peers and Kubernetes have. */
const pages = pagesOf(root).filter(({ path }) => !/^docs\/(?:rules|adr)\//.test(path));
const codes = pages.flatMap(codeOf);

function pageAt(path: string): Page {
  return pages.find((page) => page.path === path) ?? assert.fail(`there is no ${path}`);
}

/** All literals of the program, without its tests. */
const literals = globSync('{src,cluster,demo}/**/*.ts', { cwd: root })
  .filter((path) => !path.endsWith('.test.ts'))
  .flatMap((path) => proseOf(readFileSync(join(root, path), 'utf8')))
  .filter(({ kind }) => kind === 'literal')
  .map(({ text }) => text)
  .join('\n');

function where({ path, line }: Code, word: string): string {
  return `${path}:${line}: ${word}`;
}

/** What `pattern` finds in code and is not known, by the place where it is. */
function unknown(
  pattern: RegExp,
  isKnown: (word: string) => boolean,
  among: readonly Code[] = codes,
): { readonly found: number; readonly missing: readonly string[] } {
  const found = among.flatMap((code) =>
    [...code.text.matchAll(pattern)].map(([, word = '']) => ({ code, word })),
  );
  const missing = found.filter(({ word }) => !isKnown(word));
  return { found: found.length, missing: missing.map(({ code, word }) => where(code, word)) };
}

/** Flags of each name of the program, as its help has them, and of the commands that `npm` starts. */
function flagNames(): ReadonlySet<string> {
  const helps = [
    readConfig(['-h']),
    readAllConfig(['-h']),
    readPhasedRolloutConfig(['-h'], {}),
    readZoneAwareConfig(['-h'], {}),
    readStatefulsetRolloutConfig(['-h'], {}),
  ].map((outcome) =>
    outcome.kind === 'exit' ? outcome.stderr : assert.fail('help starts nothing'),
  );
  const ofHelp = helps.flatMap((help) => [...help.matchAll(/^ {2}-(\S+)/gm)]);
  const ofCommands = globSync(
    ['src/command/**/*.ts', 'scripts/image.ts', 'test/real-cluster/**/*.ts'],
    {
      cwd: root,
    },
  )
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .flatMap((text) => [...text.matchAll(/--([a-z][a-z-]+)/g)]);
  return new Set([...ofHelp, ...ofCommands].map(([, name = '']) => name));
}

/** Flags of a peer that this program refuses, as the page says, and of Kubernetes itself. */
const flagsOfOthers: ReadonlySet<string> = new Set(['enable-aggregator-routing']);

test('each flag that a page names is one of the program', () => {
  const names = flagNames();
  const spans = codes.filter(({ language }) => language === undefined);
  const { found, missing } = unknown(
    /^--?([a-z][\w.-]*(?:\.\*)?)(?=$|[ =])/g,
    (word) =>
      word.endsWith('.*')
        ? [...names].some((name) => name.startsWith(word.slice(0, -1)))
        : names.has(word) || flagsOfOthers.has(word),
    spans,
  );
  assert.ok(found > 100, `${found} flags`);
  assert.deepEqual(missing, []);
});

test('each annotation and label of the family that a page names is one of the program', () => {
  const { found, missing } = unknown(
    /(?<![\w./-])((?:grafana\.com|sts\.plus|bedrock\.operator\.slack\.com)\/(?!v\d)[\w./-]+|rollout-(?:group|max|paused|delayed|force|mirror|downscale|upscale|prepare)[\w-]*)(?![\w./-])/g,
    // kubectl takes off what ends in a hyphen.
    (word) => literals.includes(word.replace(/-$/, '')),
  );
  assert.ok(found > 60, `${found} keys`);
  assert.deepEqual(missing, []);
});

test('each metric that a page names is one of the program', () => {
  const declared = [
    ...sharedMetrics(),
    ...zoneMetrics(),
    ...statefulsetRolloutMetrics(),
    ...processMetrics,
  ].map(({ name }) => name);
  const names = new Set([...declared, ...standardMetrics]);
  const { found, missing } = unknown(
    /(?<![\w./-])((?:rollout_operator|zau|zdb|statefulset_rollout|sts_plus|kube_validating|leader_election|nodejs|process)_[a-z_]+)/g,
    (word) =>
      names.has(word.replace(/_(?:bucket|sum|count)$/, '')) ||
      names.has(word) ||
      (word.endsWith('_') && declared.some((name) => name.startsWith(word))),
  );
  assert.ok(found > 150, `${found} metrics`);
  assert.deepEqual(missing, []);
});

test('each reason in a table of a page is one that the program gives', () => {
  const catalogues = [phasedReasons, updateReasons, zoneBudgetReasons, rolloutReasons];
  const known = new Set([reasonCatalogue, ...catalogues].flatMap((each) => Object.keys(each)));
  const rows = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/^\| Reason \|.*\n\|[-|]+\n((?:\|.*\n)+)/gm)]
      .flatMap(([, table = '']) => table.trimEnd().split('\n'))
      .flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`(\w+)`/g)])
      .map(([, reason = '']) => ({ path, reason })),
  );
  assert.ok(rows.length > 200, `${rows.length} reasons`);
  assert.deepEqual(
    rows.filter(({ reason }) => !known.has(reason)),
    [],
  );
});

describe('docs/admission-webhooks.md', () => {
  const [, section = ''] = pageAt('docs/admission-webhooks.md').text.split('## What is refused');
  const [table = ''] = section.split('\n### ');

  test('quotes refusals in the words of the webhooks', () => {
    const quotes = [...table.matchAll(/`([a-z][^`]+ [^`]+)`/g)].map(([, quote = '']) => quote);
    assert.ok(quotes.length >= 18, `${quotes.length} quotes`);
    const parts = quotes.flatMap((quote) =>
      quote.split(/<[^>]*>|…|1000|statefulsets\/|grafana\.com\/[\w-]+|(?= is not allowed)/),
    );
    assert.deepEqual(
      parts.filter((part) => part.trim().length > 3 && !literals.includes(part.trim())),
      [],
    );
  });
});

describe('the runbooks', () => {
  const config = readFileSync(join(root, 'deploy/mixin/config.libsonnet'), 'utf8');

  /** The reasons in the list `name` of the mixin. */
  function reasonsOf(name: string): readonly string[] {
    const [, list = ''] = new RegExp(`\\b${name}: \\[([^\\]]*)\\]`).exec(config) ?? [];
    return [...list.matchAll(/'(\w+)'/g)].map(([, reason = '']) => reason);
  }

  const warnings = Object.entries(reasonCatalogue)
    .filter(([, { kind }]) => kind === 'warn')
    .map(([reason]) => reason);

  for (const [alert, reasons] of Object.entries({
    RolloutOperatorRolloutBlocked: reasonsOf('rollout'),
    RolloutOperatorScalingBlocked: reasonsOf('scaling'),
    RolloutOperatorInputUnusable: warnings,
  })) {
    test(`${alert} has a row for each reason that it fires for`, () => {
      assert.ok(reasons.length >= 10, `${reasons.length} reasons`);
      const { text } = pageAt(`docs/runbooks/${alert}.md`);
      const cells = [...text.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell);
      const rows = cells.flatMap((cell) => [...cell.matchAll(/\w+/g)].map(([reason]) => reason));
      assert.deepEqual(new Set(rows), new Set(reasons));
    });
  }

  test('have a list in which each page is once', () => {
    const { text } = pageAt('docs/runbooks/README.md');
    const listed = [...text.matchAll(/^- \[(\w+)\]/gm)].map(([, alert = '']) => alert);
    const there = globSync('docs/runbooks/Rollout*.md', { cwd: root });
    assert.deepEqual(
      listed.map((alert) => `docs/runbooks/${alert}.md`).toSorted(),
      there.toSorted(),
    );
  });
});
