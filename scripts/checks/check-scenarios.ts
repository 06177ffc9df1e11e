/**
 * Checks that each required scenario of the specifications (scripts/checks/required-scenarios.ts) has a test that
 * runs. A test claims scenarios in its title: `[scenario 7]`, `[scenario 7, 12]`, `[cluster 5]`, `[cluster 5, 6]`;
 * so does a key of a table of tests. Titles are read from the sources: nothing is run.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ScenarioList, scenarioLists } from './required-scenarios.ts';
import { closing, isAt, type Token, tokenize } from './source-tokens.ts';

/** A test, a group of tests, or a call such as `t.skip()`: from its name to its closing bracket. */
interface Call {
  readonly start: number;
  readonly end: number;
  readonly defines: boolean;
  readonly skips: boolean;
}

interface Claim {
  readonly path: string;
  readonly line: number;
  readonly title: string;
  readonly skipped: boolean;
}

/** What is wrong with the scenario numbers in `tests` (text of the test files by path), one sentence each. */
export function checkScenarios(
  tests: ReadonlyMap<string, string>,
  lists: readonly ScenarioList[],
): readonly string[] {
  const claims = [...tests].flatMap(([path, source]) => claimsOf(path, tokenize(source)));
  return lists.flatMap((list) => findings(list, claims));
}

function findings(list: ScenarioList, all: readonly Claim[]): readonly string[] {
  const claims = all.filter(({ path }) => list.files?.test(path) ?? true);
  const claimed = new Set<number>();
  const wrong: string[] = [];
  for (const claim of claims) {
    const where = `${claim.path}:${claim.line}`;
    for (const scenario of scenariosOf(list, claim.title)) {
      claimed.add(scenario);
      if (scenario < 1 || scenario > list.last) {
        wrong.push(`${where}: ${list.document} has no ${label(list, scenario)}`);
      } else if (claim.skipped) {
        wrong.push(`${where}: the test of ${label(list, scenario)} is skipped, or may be`);
      }
    }
  }
  const missing = requiredBy(list)
    .filter((scenario) => !claimed.has(scenario))
    .map((scenario) => `${list.document}: no test has [${label(list, scenario)}] in its title`);
  return [...wrong, ...missing, ...unsorted(list)];
}

/** Scenarios that are neither required nor open, or both. */
function unsorted(list: ScenarioList): readonly string[] {
  const { open } = list;
  if (open === undefined) return [];
  const required = new Set(requiredBy(list));
  return Array.from({ length: list.last }, (_, index) => index + 1).flatMap((scenario) => {
    const isOpen = open[scenario] !== undefined;
    if (isOpen !== required.has(scenario)) return [];
    const name = `${list.document}: ${label(list, scenario)}`;
    return [`${name} must be either required or open, with a reason`];
  });
}

/** What no test shows, one sentence for each reason: whole scenarios, and parts of required ones. */
export function openScenarios(lists: readonly ScenarioList[]): readonly string[] {
  return lists.flatMap((list) => {
    const sentences = (what: string, all: Readonly<Record<number, string>> = {}): string[] => {
      const byReason = Map.groupBy(Object.entries(all), ([, why]) => why);
      return [...byReason].map(([why, entries]) => {
        const names = entries.map(([scenario]) => label(list, Number(scenario))).join(', ');
        return `${list.document}: ${what} ${names}: ${why}`;
      });
    };
    return [...sentences('no test of', list.open), ...sentences('only a part of', list.parts)];
  });
}

function requiredBy({ required }: ScenarioList): readonly number[] {
  return required.flatMap((entry) => {
    const [first, last] = typeof entry === 'number' ? [entry, entry] : entry;
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

function label({ prefix, width = 1 }: ScenarioList, scenario: number): string {
  return `${prefix}${String(scenario).padStart(width, '0')}`;
}

/** The numbers in brackets of `title`; the prefix may be repeated before each: `[cluster 5, 6]`. */
function scenariosOf({ prefix }: ScenarioList, title: string): readonly number[] {
  const bracket = new RegExp(`\\[${prefix}(\\d+(?:, (?:${prefix})?\\d+)*)\\]`, 'g');
  return [...title.matchAll(bracket)].flatMap(([, numbers = '']) =>
    numbers.split(', ').map((number) => Number(number.replace(prefix, ''))),
  );
}

function claimsOf(path: string, tokens: readonly Token[]): readonly Claim[] {
  const calls = callsOf(tokens);
  return tokens.flatMap(({ kind, text, line }, index) => {
    if ((kind !== 'string' && kind !== 'template') || !text.includes('[')) return [];
    const titled = calls.find(
      ({ defines, start }) => defines && titleIndex(tokens, start) === index,
    );
    if (titled === undefined && !isKey(tokens, index)) return [];
    const skipped =
      titled === undefined ? calls.some(({ skips }) => skips) : isSkipped(titled, calls);
    return [{ path, line, title: text, skipped }];
  });
}

/** A table's key says nothing of the test made of it, so any skip in the file counts. */
function isKey(tokens: readonly Token[], index: number): boolean {
  const opens = isAt(tokens, index - 1, '{') || isAt(tokens, index - 1, ',');
  return opens && isAt(tokens, index + 1, ':');
}

/** Whether a skip holds for all of `call`, stands in it, or around it. */
function isSkipped(call: Call, calls: readonly Call[]): boolean {
  return calls
    .filter(({ skips }) => skips)
    .some(({ start, end, defines }) => {
      const inside = start >= call.start && end <= call.end;
      const around = defines && start <= call.start && end >= call.end;
      return inside || around;
    });
}

function callsOf(tokens: readonly Token[]): readonly Call[] {
  return tokens.flatMap(({ kind, text }, start) => {
    if (kind !== 'name' || isAt(tokens, start - 1, '.')) return [];
    const open = callStart(tokens, start);
    if (open === undefined) return [];
    const defines = /^(?:test|it|describe|suite)$/.test(text);
    const skips = hasSkipModifier(tokens, start, open) || (defines && hasSkipOption(tokens, open));
    return defines || skips ? [{ start, end: closing(tokens, open), defines, skips }] : [];
  });
}

/** Whether the call reads `….skip(` or `….todo(`. */
function hasSkipModifier(tokens: readonly Token[], start: number, open: number): boolean {
  return open > start + 1 && (isAt(tokens, open - 1, 'skip') || isAt(tokens, open - 1, 'todo'));
}

/** The bracket of the call that the name at `start` begins, as in `test(` or `t.skip(`. */
function callStart(tokens: readonly Token[], start: number): number | undefined {
  let index = start + 1;
  while (isAt(tokens, index, '.') || isAt(tokens, index, '?.')) index += 2;
  return isAt(tokens, index, '(') ? index : undefined;
}

function titleIndex(tokens: readonly Token[], start: number): number | undefined {
  const open = callStart(tokens, start);
  return open === undefined ? undefined : open + 1;
}

/** Whether the options of a test, which follow its title, name `skip` or `todo` other than as `false`. */
function hasSkipOption(tokens: readonly Token[], open: number): boolean {
  const options = argumentStarts(tokens, open).find((index) => isAt(tokens, index, '{'));
  if (options === undefined) return false;
  const end = closing(tokens, options);
  return tokens.slice(options, end).some(({ kind, text }, offset) => {
    if (kind !== 'name' || !/^(?:skip|todo)$/.test(text)) return false;
    const at = options + offset;
    return !(isAt(tokens, at + 1, ':') && isAt(tokens, at + 2, 'false'));
  });
}

function argumentStarts(tokens: readonly Token[], open: number): readonly number[] {
  const starts = [open + 1];
  const end = closing(tokens, open);
  for (let index = open + 1; index < end; index++) {
    if (isAt(tokens, index, ',')) starts.push(index + 1);
    else if (['(', '[', '{'].some((bracket) => isAt(tokens, index, bracket))) {
      index = closing(tokens, index);
    }
  }
  return starts;
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '../..');
  const paths = globSync(
    ['{src,cluster,demo,test}/**/*.test.ts', 'test/{scenarios,differential}/**/*.ts'],
    {
      cwd: root,
    },
  );
  const tests = new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  const wrong = checkScenarios(tests, scenarioLists);
  const notes = openScenarios(scenarioLists).map((sentence) => `note: ${sentence}`);
  const lines = [...wrong, ...notes];
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
