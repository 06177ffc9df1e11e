/** Hostile: servers of Prometheus that answer with as many small parts as there is room for, read in the shipped heap. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { oneSeries, PrometheusServer } from '#support/external-services/prometheus-server.ts';

/** MiB of heap: 48 % of the 200 MiB that the shipped manifests give. */
const shippedHeap = 96;
/** MiB beyond what an answer of one series takes: 180 is the bound of the program, which has up to 134 at rest. */
const mostMore = 46;
/** Queries of a PhasedRollout at most, and how often each is asked. */
const [queries, rounds] = [17, 5];

/** Asks `url` as a PhasedRollout with all its queries would. Prints the highest memory in MiB, and how the last query ended. */
const asker = `
  import { createPrometheus } from '#check/prometheus/prometheus.ts';
  import { systemClock } from '#telemetry/system-clock.ts';
  const prometheus = createPrometheus({ clock: systemClock(), env: {}, permitsLoopback: true });
  const { signal } = new AbortController();
  let last;
  for (let round = 0; round < ${rounds}; round += 1) {
    const asked = Array.from({ length: ${queries} }, (_, at) =>
      // Other credentials, so that none waits for another.
      prometheus.read({ url: process.argv[1], expr: 'up', authorization: 'Bearer ' + at }, { signal }),
    );
    last = (await Promise.all(asked)).at(-1);
  }
  await prometheus.close();
  console.log(JSON.stringify([process.resourceUsage().maxRSS / 1024, last.reason ?? last.kind]));
`;

/** Returns the highest memory in MiB of a process that asks a server which answers `body`, and how the last query ended. */
async function memoryWith(context: TestContext, body: string): Promise<readonly [number, string]> {
  const server = new PrometheusServer((response) => response.writeHead(200).end(body));
  context.after(() => server.close());
  const url = `http://127.0.0.1:${await server.listen()}`;
  const heap = `--max-old-space-size=${shippedHeap}`;
  const args = [heap, '--input-type=module', '--eval', asker, url];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  return JSON.parse(stdout) as readonly [number, string];
}

function answerOf(parts: string, bytes: number): string {
  const [begin, end] = ['{"status":"success","data":{"result":[', '{}]}}'];
  const room = bytes - begin.length - end.length;
  return begin + parts.repeat(Math.floor(room / parts.length)) + end;
}

const answers: Record<string, { readonly body: string; readonly want: string }> = {
  'two MiB of empty objects': { body: answerOf('{},', 2_097_152), want: 'TooLong' },
  '64 KiB of empty objects': { body: answerOf('{},', 65_536), want: 'TooLong' },
  'as many objects as are read': {
    body: answerOf(`{"a":"${'b'.repeat(10)}"},`, 65_536),
    want: 'vector',
  },
  'a depth of 65,536': { body: '['.repeat(65_536), want: 'TooLong' },
};

for (const [what, { body, want }] of Object.entries(answers)) {
  test(`${what}, for 17 queries at once, take no more than the memory that is there [found X-2]`, async (t) => {
    const [usual] = await memoryWith(t, oneSeries);
    const [resident, ended] = await memoryWith(t, body);
    assert.equal(ended, want);
    assert.ok(resident - usual <= mostMore, `${usual} MiB, then ${resident}`);
  });
}
