/**
 * A reporter of node:test that tells how many scenarios ran on each cluster, and which were skipped for which reason.
 * A reason that is not listed fails the run, and so does a run without any scenario on a real cluster (LN-2).
 */
import { basename } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { FileTimes } from '../../scripts/tests/file-times.ts';
import { features, NO_KUBECTL } from '../scenarios/env.ts';
import {
  NO_DRAINING,
  NO_INSTALLING,
  NO_MANAGER,
  NO_PEER,
  NO_PROMETHEUS,
  NO_QUIET_SERVER,
} from './skip-reasons.ts';

const listed: ReadonlySet<string> = new Set([
  ...Object.values(features),
  NO_KUBECTL,
  NO_DRAINING,
  NO_INSTALLING,
  NO_MANAGER,
  NO_PEER,
  NO_PROMETHEUS,
  NO_QUIET_SERVER,
]);

/** What ran on one cluster. */
interface Tally {
  passed: number;
  failed: number;
  readonly skipped: Map<string, number>;
}

const REAL = 'on a real control plane';
const BOTH = 'on both, as one conversation each';

const needsServer: ReadonlySet<string> = new Set([REAL, BOTH]);

function tallyOf(tallies: Map<string, Tally>, cluster: string): Tally {
  const tally = tallies.get(cluster) ?? { passed: 0, failed: 0, skipped: new Map() };
  tallies.set(cluster, tally);
  return tally;
}

/** The file that was run, whatever file defines the test. */
function entryOf(data: { readonly file?: string; readonly entryFile?: string }): string {
  return data.entryFile ?? data.file ?? '';
}

function clusterOf(file: string): string {
  if (file.includes('/scenarios/')) return 'on the embedded cluster';
  const name = basename(file);
  if (name.startsWith('lane-')) return 'of the lane itself';
  return name.startsWith('differential') ? BOTH : REAL;
}

/** See above; the start of the run is `REAL_LANE_START`, in milliseconds since 1970. */
// oxlint-disable-next-line import/no-default-export -- node:test takes the reporter from there
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const tallies = new Map<string, Tally>();
  const wanted = wantedTitles();
  let first: number | undefined;
  const files = new FileTimes();
  for await (const event of source) {
    files.take(event);
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const { details, skip, name } = event.data;
    strike(wanted, name);
    if (details.type === 'suite' && skip === undefined) continue;
    const cluster = clusterOf(entryOf(event.data));
    if (needsServer.has(cluster)) first ??= Date.now() - details.duration_ms;
    count(tallyOf(tallies, cluster), event.type, skip);
  }
  files.end();
  yield '\n';
  for (const [cluster, tally] of tallies) yield* lines(cluster, tally);
  yield* startOf(first);
  yield* demandReal(tallies.get(REAL));
  yield* demandTitles(wanted);
}

/** What a run that is chosen by titles must run; nothing otherwise. */
function wantedTitles(): Set<string> {
  return new Set(JSON.parse(process.env['REAL_LANE_TITLES'] ?? '[]') as readonly string[]);
}

function strike(wanted: Set<string>, name: string): void {
  for (const title of wanted) if (name.startsWith(title)) wanted.delete(title);
}

function* demandTitles(missing: ReadonlySet<string>): Generator<string> {
  for (const title of missing) {
    yield `No test ran whose title begins with "${title}", which test/gate/real-lane.ts takes.\n`;
    process.exitCode = 1;
  }
}

function* startOf(first: number | undefined): Generator<string> {
  const start = Number(process.env['REAL_LANE_START'] ?? Number.NaN);
  if (first === undefined || Number.isNaN(start)) return;
  const took = ((first - start) / 1_000).toFixed(1);
  yield `The first scenario on a real control plane started after ${took} s.\n`;
}

function* demandReal(real: Tally | undefined): Generator<string> {
  if (process.env['CI'] !== 'true' || (real?.passed ?? 0) > 0) return;
  yield 'No scenario ran on a real control plane, which CI=true demands.\n';
  process.exitCode = 1;
}

function count(
  tally: Tally,
  type: 'test:pass' | 'test:fail',
  skip: string | boolean | undefined,
): void {
  if (skip === undefined) {
    if (type === 'test:pass') tally.passed += 1;
    else tally.failed += 1;
    return;
  }
  const reason = typeof skip === 'string' ? skip : '';
  tally.skipped.set(reason, (tally.skipped.get(reason) ?? 0) + 1);
}

function* lines(cluster: string, { passed, failed, skipped }: Tally): Generator<string> {
  const omitted = [...skipped.values()].reduce((sum, each) => sum + each, 0);
  yield `${passed + failed} scenarios ran ${cluster}, ${failed} failed, ${omitted} skipped\n`;
  for (const [reason, times] of skipped) {
    if (listed.has(reason)) {
      yield `  ${times} skipped: ${reason}\n`;
    } else {
      yield `  ${times} skipped for a reason that is not listed: "${reason}"\n`;
      process.exitCode = 1;
    }
  }
}
