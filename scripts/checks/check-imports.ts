/**
 * Checks the import graph (D-39): layers (D-44), purity of the core also through what it
 * imports, the outside only in adapters (SIM-1), and cycles of files.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { aliasOf, type Import, readSource, type SourceFile } from './import-graph.ts';
import {
  adapters,
  impureModules,
  isCore,
  isTest,
  onlyImportedBy,
  onlyImports,
  purePackages,
  roomsBeside,
  rows,
} from './import-rules.ts';

type Graph = ReadonlyMap<string, SourceFile>;

/** What is wrong with the imports of `sources` (text by path from the root of the checkout), one sentence each; sorted. */
export function checkImports(sources: ReadonlyMap<string, string>): readonly string[] {
  const graph = new Map([...sources].map(([path, source]) => [path, readSource(path, source)]));
  const files = [...graph.values()];
  return [
    ...files.flatMap((file) => layerFindings(file, graph)),
    ...files.filter(({ path }) => isCore(path)).flatMap((file) => purityFindings(file, graph)),
    ...files.flatMap(outsideFindings),
    ...cycleFindings(graph),
  ].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

/** The room that a file is in: its folder, or its own name at the top of src/; undefined outside of all rooms. */
function roomOf(path: string): string | undefined {
  const beside = Object.entries(roomsBeside).find(([, folder]) => path.startsWith(`${folder}/`));
  return beside?.[0] ?? /^src\/([^/]+?)(?:(?:\.test)?\.ts)?(?:\/|$)/.exec(path)?.[1];
}

function layerFindings(file: SourceFile, graph: Graph): readonly string[] {
  const room = roomOf(file.path);
  if (room === undefined) return [];
  if (rowOf(room) === -1 && room !== 'support') {
    return [`${file.path}: src/${room} is in no row of scripts/checks/import-rules.ts`];
  }
  return file.imports.flatMap((imported) => {
    const problem = layerProblem(file.path, imported, graph);
    return problem === undefined ? [] : [`${file.path}:${imported.line}: ${problem}`];
  });
}

function layerProblem(from: string, { specifier, file }: Import, graph: Graph): string | undefined {
  if (file === undefined) return undefined;
  if (!graph.has(file)) return `imports ${specifier}, but there is no ${file}`;
  const room = roomOf(from) ?? '';
  const other = roomOf(file);
  if (other === room) return undefined;
  if (other === undefined) {
    return isTest(from) ? undefined : `imports ${file}, which is no part of the program`;
  }
  if (specifier.startsWith('..') && !isAtTop(file)) {
    return `imports another room as ${specifier}; write ${aliasOf(file)}`;
  }
  return isTest(from) ? undefined : roomProblem(room, other);
}

/** A file at the top of src/ is in no folder, and is named as one likes. */
function isAtTop(file: string): boolean {
  return /^src\/[^/]+$/.test(file);
}

function roomProblem(room: string, other: string): string | undefined {
  const importers = onlyImportedBy.get(other);
  if (importers !== undefined && !importers.includes(room)) {
    return `${room} imports ${other}, which only ${[...importers, 'tests'].join(' and ')} may`;
  }
  const allowed = onlyImports.get(room);
  if (allowed !== undefined && !allowed.includes(other)) {
    return `${room} imports ${other}, but may only import ${allowed.join(', ')}`;
  }
  if (rowOf(other) === rowOf(room)) return `${room} imports ${other}, which is in the same row`;
  return rowOf(other) < rowOf(room) ? `${room} imports ${other}, which is above it` : undefined;
}

function rowOf(room: string): number {
  return rows.findIndex((row) => row.includes(room));
}

/** Walks from a core file along its imports, breadth first, so that the shortest chain is the one shown. */
function purityFindings(start: SourceFile, graph: Graph): readonly string[] {
  const chains = new Map([[start.path, start.path]]);
  const findings: string[] = [];
  for (const [path, chain] of chains) {
    const file = graph.get(path);
    if (file === undefined) continue;
    const reached = coreProblems(file);
    findings.push(...reached.map((what) => `${start.path}: the core uses ${what} (${chain})`));
    for (const { file: next } of file.runtimeImports) {
      if (next !== undefined && !chains.has(next)) chains.set(next, `${chain} -> ${next}`);
    }
  }
  return findings;
}

function coreProblems(file: SourceFile): readonly string[] {
  const globals = file.impurities.map(({ what, line }) => `${what} at line ${line}`);
  const modules = file.runtimeImports
    .filter(({ specifier, file: path }) => path === undefined && !isPure(specifier))
    .map(({ specifier, line }) => `${specifier} at line ${line}`);
  const logger = file.path.startsWith('src/telemetry/') ? ['telemetry'] : [];
  return [...globals, ...modules, ...logger];
}

function isPure(specifier: string): boolean {
  return purePackages.some((name) => specifier === name || specifier.startsWith(`${name}/`));
}

/** What reaches the outside beside adapters (SIM-1). Files of the core are left to {@link purityFindings}. */
function outsideFindings(file: SourceFile): readonly string[] {
  if (!/^(?:src|cluster|demo)\//.test(file.path) || file.path.endsWith('.test.ts')) return [];
  if (isCore(file.path) || isAdapter(file.path)) return [];
  const modules = file.runtimeImports
    .filter(({ specifier }) => impureModules.includes(specifier))
    .map(({ specifier, line }) => ({ what: specifier, line }));
  return [...file.impurities, ...modules]
    .filter(({ what }) => what !== 'import.meta')
    .map(
      ({ what, line }) =>
        `${file.path}:${line}: uses ${what}, which only an adapter may (SIM-1, scripts/checks/import-rules.ts)`,
    );
}

function isAdapter(path: string): boolean {
  return Object.keys(adapters).some((entry) =>
    entry.endsWith('.ts') ? path === entry : path.startsWith(entry),
  );
}

/** One finding a cycle, named from its alphabetically first file. */
function cycleFindings(graph: Graph): readonly string[] {
  const done = new Set<string>();
  const cycles = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.add(rotated(trail.slice(start)));
    if (start >= 0 || done.has(path)) return;
    for (const { file } of graph.get(path)?.runtimeImports ?? []) {
      if (file !== undefined) visit(file, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return [...cycles];
}

function rotated(cycle: readonly string[]): string {
  const first = cycle.toSorted()[0] ?? '';
  const start = cycle.indexOf(first);
  const path = [...cycle.slice(start), ...cycle.slice(0, start), first];
  return `${first}: files import each other (${path.join(' -> ')})`;
}

/** Every TypeScript file of the checkout at `root` that takes part in the program or its tests: text by path. */
export function readSources(root: string): ReadonlyMap<string, string> {
  const paths = globSync('{src,cluster,demo,test,bench,scripts}/**/*.ts', { cwd: root });
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

if (import.meta.main) {
  const findings = checkImports(readSources(join(import.meta.dirname, '../..')));
  process.stdout.write(findings.map((finding) => `${finding}\n`).join(''));
  process.exitCode = findings.length === 0 ? 0 : 1;
}
