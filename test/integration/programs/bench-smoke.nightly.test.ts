import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JsonObject } from '#base/json.ts';
import { instant } from '#base/units.ts';
import { GroupWatch } from '../../../bench/cluster/group-watch.ts';
import { operatorUser } from '../../../bench/cluster/workload.ts';
import { bounded, percentile } from '../../../bench/figures.ts';
import { formatFindings } from '../../../bench/format-findings.ts';
import { requestsIn } from '../../../bench/operator/requests.ts';
import type { AuditEntry } from '../../real-cluster/audit/audit.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../../bench/main.ts', import.meta.url));
const options = { timeout: 120_000 };

/** The figures that each bench must print, whatever their values. */
const figuresOf: Readonly<Record<string, readonly string[]>> = {
  rollout: [
    'wall-clock ÷ physical limit',
    'zones with unavailable pods at once',
    'pods unavailable beyond the limit of a zone',
    'invariants broken',
    'writes beyond one a pod, by zone',
  ],
  reaction: [
    'pod Ready → next delete, p99',
    'zones with unavailable pods at once',
    'pods unavailable beyond the limit of a zone',
  ],
  scaling: [
    'change of a scale → patch of its set, p99',
    'all sets patched after one instant',
    'calls of pods while nothing changes',
    'writes while nothing changes',
    'all pods asked to prepare',
    'calls of pods of one set at once',
    'calls of pods at once, in all',
  ],
  start: ['process start → ready', 'peak RSS', 'settled RSS', 'peak RSS with webhooks'],
  idle: ['writes while nothing changes', 'CPU while nothing changes', 'requests'],
  server: ['pods created over HTTP', 'list of all pods over HTTP'],
  admission: [
    'CPU a review ÷ bare HTTPS',
    'review at 1,000/s, p99',
    'RSS of the webhook server',
    'peak memory under hostile reviews',
    'longest wait of an honest review',
  ],
  bundle: [
    'CPU of a start, bundle ÷ sources',
    'RSS with 12 pods',
    'RSS with 900 pods',
    'RSS after a rollout of 900 pods',
    'RSS with 10,000 pods of 8 KB',
  ],
  'phased-checks': [
    'CPU of 200 checks a second',
    'connections opened while checks go on',
    'writes ÷ checks',
    'checks',
  ],
  'phased-rollouts': [
    'last check answered → next pod let go, p99',
    'pods let go before their checks',
    'rollout of 10 pods ÷ its waits',
  ],
  'percent-rollouts': [
    'rollout by percent ÷ perfect driver',
    'pods away beyond the budget',
    'evictions under way at once',
    'bytes of a status of 1,000 pods',
    'status writes beyond one a batch and one a second',
    'posts to Slack of a rollout',
    'calls of Slack a second',
    'messages of Slack that do not show the end',
  ],
  'percent-rest': [
    'requests while all rollouts have ended',
    'RSS with 200 StatefulsetRollouts and 10,000 pods',
  ],
  rotation: ['reviews failed during rotations', 'certificates taken into use'],
  evictions: [
    'drain of a zone ÷ physical limit',
    'drain of a zone ÷ perfect driver',
    'answers other than allowed and 429',
    'zones with unavailable pods at once',
    'pods unavailable beyond the limit of a zone',
    'API calls for denials (4 in flight)',
    'API calls for denials (20 in flight)',
    'CPU a denial ÷ no-downscale review (4 in flight)',
    'CPU a denial ÷ no-downscale review (20 in flight)',
    'review of an eviction at 300/s, p99 (grantable)',
    'review of an eviction at 300/s, p99 (denied)',
    'review of an eviction at 300/s, p99 (not governed)',
    'executed grants',
    'ledger writes ÷ rounds of grants',
    'wrong grants',
    'denials beyond their deadline',
    'API server back → all answers as usual',
    'rollout under a budget ÷ without',
    'writes ÷ rolled pod under a budget',
    'writes ÷ rolled pod under a budget, one at a time',
    'RSS with 10,000 governed pods',
    'writes while nothing changes',
  ],
};

interface Printed {
  readonly name: string;
  readonly value: number;
  readonly verdict: string;
}

for (const [bench, names] of Object.entries(figuresOf)) {
  test(`bench ${bench} runs at a tiny size, keeps the budgets and prints its figures`, async () => {
    const args = [program, bench, '--size', 'tiny', '--json'];
    const { stdout } = await run(process.execPath, args, options);
    const found = JSON.parse(stdout) as readonly { readonly figures: readonly Printed[] }[];
    const figures = found.flatMap((findings) => findings.figures);
    const printed = new Set(figures.map(({ name }) => name));
    assert.deepEqual(
      names.filter((name) => !printed.has(name)),
      [],
    );
    assert.deepEqual(
      figures.filter(({ value, verdict }) => !Number.isFinite(value) || verdict === 'FAIL'),
      [],
    );
  });
}

test('bench exits 2 and lists the benches for a name that is none', async () => {
  const failed = run(process.execPath, [program, 'nonsense'], options);
  await assert.rejects(failed, { code: 2, stderr: /rollout.*\n.*reaction/ });
});

test('bounded() fails what misses its bound, and what could not be measured', () => {
  const verdictOf = (value: number): string =>
    bounded('pod Ready → next delete, p99', { value, how: '' }, 'full').verdict;
  assert.deepEqual([50, 50.1, Number.NaN].map(verdictOf), ['PASS', 'FAIL', 'FAIL']);
});

test('bounded() judges safety, but no speed, at a tiny size', () => {
  const figures = [
    bounded('pod Ready → next delete, p99', { value: 1_000, how: '' }, 'tiny'),
    bounded('zones with unavailable pods at once', { value: 2, how: '' }, 'tiny'),
  ];
  assert.deepEqual(
    figures.map(({ verdict }) => verdict),
    ['skip', 'FAIL'],
  );
});

test('formatFindings() shows value, bound, source and method of a figure', () => {
  const figure = bounded('peak RSS', { value: 171.23, how: 'VmHWM of /proc' }, 'full');
  assert.equal(
    formatFindings({ bench: 'start', setting: 'ten pods', figures: [figure] }),
    [
      'start: ten pods',
      '  PASS  peak RSS: 171 MB (bound ≤ 180, from goals of the program: fits where the first peer does)',
      '        VmHWM of /proc',
      '',
    ].join('\n'),
  );
});

test('percentile() takes the nearest rank', () => {
  const samples = Array.from({ length: 100 }, (_, index) => 100 - index);
  assert.deepEqual([percentile(samples, 0.5), percentile(samples, 0.99)], [50, 99]);
});

function storedPod(set: string, isReady: boolean): JsonObject {
  return {
    metadata: { ownerReferences: [{ name: set }] },
    spec: { containers: [{ image: 'new' }] },
    status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  };
}

/** What the watch makes of pods `set-ordinal` that go down, or come up (+), one after the other, 10 ms apart. */
function observe(...steps: readonly string[]): ReturnType<GroupWatch['observation']> {
  const time = { now: 0 };
  const watch = new GroupWatch(() => time.now, operatorUser);
  const commit = (set: string, pod: string, isReady: boolean): void => {
    time.now += 10;
    watch.committed({
      resource: 'pods',
      name: pod,
      ...(isReady ? { after: storedPod(set, true) } : { before: storedPod(set, true) }),
      user: isReady ? 'kubelet' : operatorUser,
    });
  };
  for (const name of ['a', 'b']) watch.add({ name, group: 'group' }, 2);
  for (const pod of ['a-0', 'a-1', 'b-0', 'b-1']) commit(pod.slice(0, 1), pod, true);
  watch.begin('new', ['a', 'b']);
  for (const step of steps) {
    const pod = step.replace('+', '');
    commit(pod.slice(0, 1), pod, step.startsWith('+'));
  }
  return watch.observation();
}

test('GroupWatch counts the zones and pods that are down at once', () => {
  const { zonesDown, podsDown, deletes } = observe('a-0', 'a-1', '+a-0', 'b-0');
  assert.deepEqual(
    { zonesDown, podsDown, deletes },
    { zonesDown: 2, podsDown: { a: 2, b: 1 }, deletes: 3 },
  );
});

test('GroupWatch takes the times from Ready to the delete that follows, by zone', () => {
  const { zonesDown, sameZone, nextZone } = observe('a-0', '+a-0', 'a-1', '+a-1', 'b-0', '+b-0');
  assert.deepEqual(
    { zonesDown, sameZone, nextZone },
    { zonesDown: 1, sameZone: [10], nextZone: [10] },
  );
});

test('GroupWatch counts the deletions of every user where none is named', () => {
  const watch = new GroupWatch(() => 0);
  watch.add({ name: 'a', group: 'group' }, 1);
  watch.committed({ resource: 'pods', name: 'a-0', after: storedPod('a', true) });
  watch.committed({ resource: 'pods', name: 'a-0', before: storedPod('a', true) });
  assert.equal(watch.observation().deletes, 1);
});

test('requestsIn() counts each request of the user that was received in time, but not what is apart', () => {
  const entry = (auditID: string, second: number, rest: Partial<AuditEntry> = {}): AuditEntry => ({
    auditID,
    stage: 'RequestReceived',
    verb: 'delete',
    user: { username: operatorUser },
    objectRef: { resource: 'pods' },
    requestURI: '/api/v1/namespaces/bench/pods/a-0',
    requestReceivedTimestamp: new Date(second * 1_000).toISOString(),
    stageTimestamp: new Date(second * 1_000).toISOString(),
    ...rest,
  });
  const entries = [
    entry('too early', 9),
    entry('deletion', 10),
    entry('deletion', 10, { stage: 'ResponseComplete' }),
    entry('watch', 15, { verb: 'watch' }),
    entry('status', 15, {
      verb: 'update',
      objectRef: { resource: 'statefulsets', subresource: 'status' },
    }),
    entry('lease', 15, { verb: 'update', objectRef: { resource: 'leases' } }),
    entry('kubelet', 15, { user: { username: 'kubelet' } }),
    entry('too late', 21),
  ];
  const asked = { user: operatorUser, from: instant(10_000), to: instant(20_000) };
  assert.deepEqual(requestsIn(entries, asked), {
    'delete pods': 1,
    'watch pods': 1,
    'update statefulsets/status': 1,
  });
});
