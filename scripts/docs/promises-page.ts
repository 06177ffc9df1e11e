/** The page that shows of each promise which planted bug and which test on a real control plane stands for it in the gate. */
import {
  type Kind,
  kinds,
  methods,
  open,
  promises,
  type ShownPromise,
} from '../../test/gate/promises.ts';
import type { OpenCell } from '../../test/gate/shown-promise.ts';

/** The text of docs/rules/promises-shown.md. */
export function promisesPage(): string {
  const head = [
    '# How each promise is shown in the gate',
    '',
    'Generated from `test/gate/promises.ts` by `npm run do promises`. For each [promise](promises.md) `.ci/run` plants a bug for each',
    'kind that could break it, which a test must notice, and runs tests on a real control plane. A dash: the kind cannot break it, or',
    'no test shows it yet; both stand below with the reason.',
    '',
  ];
  return `${[...head, ...table(), '', ...realTests(), '', ...reasons(), '', ...openRows(), '', ...methodRows()].join('\n')}\n`;
}

function table(): readonly string[] {
  const rows = Object.entries(promises).map(([id, { bugs }]) => {
    const cells = kinds.map((kind) => (bugs[kind] === undefined ? '–' : `\`${bugs[kind]}\``));
    return `| ${id} | ${cells.join(' | ')} |`;
  });
  return [`| Promise | ${kinds.join(' | ')} |`, `|${'---|'.repeat(kinds.length + 1)}`, ...rows];
}

function realTests(): readonly string[] {
  const rows = Object.entries(promises).flatMap(([id, { real }]) =>
    real.map(({ file, title }) => `| ${id} | \`${file}\` | ${title} |`),
  );
  return ['## On a real control plane', '', '| Promise | File | Test |', '|---|---|---|', ...rows];
}

function reasons(): readonly string[] {
  const rows = Object.entries(promises).flatMap(([id, promise]) => reasonRows(id, promise));
  return [
    '## Kinds that cannot break it',
    '',
    '| Promise | Kinds | Why |',
    '|---|---|---|',
    ...rows,
  ];
}

function reasonRows(id: string, { none }: ShownPromise): readonly string[] {
  const byReason = Map.groupBy(Object.entries(none), ([, why]) => why);
  return [...byReason].map(
    ([why, each]) => `| ${id} | ${each.map(([kind]) => kind).join(', ')} | ${why} |`,
  );
}

function openRows(): readonly string[] {
  const rows = open.map(({ promise, kind, why }) => `| ${promise} | ${kind} | ${why} |`);
  return ['## Not shown yet', '', '| Promise | Kind | Why |', '|---|---|---|', ...rows];
}

function methodRows(): readonly string[] {
  const rows = Object.entries(methods).map(
    ([id, { by, bug }]) => `| ${id} | ${by} | ${bug === undefined ? '–' : `\`${bug}\``} |`,
  );
  return [
    '## Methods',
    '',
    '| Method | By | Planted bug that it finds |',
    '|---|---|---|',
    ...rows,
  ];
}

/**
 * Returns what is wrong with `promise`, which must say of every kind how it is shown, or why it is not; a sentence each. `missing`
 * are the cells that no test shows yet.
 */
export function problemsOf(
  id: string,
  { bugs, none, real }: ShownPromise,
  missing: readonly OpenCell[],
): readonly string[] {
  const isOpen = (kind: Kind): boolean =>
    missing.some((cell) => cell.promise === id && cell.kind === kind);
  const times = (kind: Kind): number =>
    [bugs[kind] !== undefined, none[kind] !== undefined, isOpen(kind)].filter(Boolean).length;
  return [
    ...kinds
      .filter((kind) => times(kind) !== 1)
      .map((kind) => `${id}: ${kind} needs a planted bug or a reason, and not both`),
    ...(Object.keys(bugs).length === 0 ? [`${id} has no planted bug`] : []),
    ...(real.length === 0 ? [`${id} has no test on a real control plane`] : []),
  ];
}
