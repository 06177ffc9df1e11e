/**
 * A reporter of node:test that tells how many scenarios ran on each cluster, and which were skipped for which reason.
 * A reason that is not listed fails the run, and so does a run without any scenario on a real cluster (LN-2).
 */
import { basename } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { features, NO_KUBECTL } from '../scenarios/env.ts';
import { NO_QUIET_SERVER } from './skip-reasons.ts';

const listed: ReadonlySet<string> = new Set([
  ...Object.values(features),
  NO_KUBECTL,
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

function clusterOf(file: string): string {
  if (file.includes('/scenarios/')) return 'on the embedded cluster';
  const name = basename(file);
  if (name.startsWith('lane-')) return 'of the lane itself';
  return name.startsWith('differential') ? BOTH : REAL;
}

/** See above; the start of the run is `REAL_LANE_START`, in milliseconds since 1970. */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const tallies = new Map<string, Tally>();
  let first: number | undefined;
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.details.type === 'suite' && data.skip === undefined) continue;
    const cluster = clusterOf(data.file ?? '');
    if (cluster === REAL || cluster === BOTH) first ??= Date.now() - data.details.duration_ms;
    const tally = tallies.get(cluster) ?? { passed: 0, failed: 0, skipped: new Map() };
    tallies.set(cluster, tally);
    count(tally, type, data.skip);
  }
  yield '\n';
  for (const [cluster, tally] of tallies) yield* lines(cluster, tally);
  const start = Number(process.env['REAL_LANE_START'] ?? Number.NaN);
  if (first !== undefined && !Number.isNaN(start)) {
    yield `The first scenario on a real control plane started after ${((first - start) / 1_000).toFixed(1)} s.\n`;
  }
  const real = tallies.get(REAL);
  if (process.env['CI'] === 'true' && (real?.passed ?? 0) === 0) {
    yield 'No scenario ran on a real control plane, which CI=true demands.\n';
    process.exitCode = 1;
  }
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
