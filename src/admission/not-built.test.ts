import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { updateRequest } from '#testing/admission-requests.ts';
import { FakeClock } from '#testing/fake-clock.ts';
import { type FakeAnswer, FakeTransport } from '#testing/fake-transport.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { startDeadline } from './deadline.ts';
import { podEvictionWithoutBudgets } from './not-built.ts';
import type { AdmissionRequest, Decision } from './review.ts';

const request = updateRequest(undefined, undefined, {
  kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
  resource: 'pods',
  subResource: 'eviction',
  name: 'x-0',
  operation: 'CREATE',
});

/** What the API server answers to a list of budgets and to a read of the pod. */
interface Cluster {
  readonly list: FakeAnswer;
  readonly pod?: FakeAnswer;
}

async function evict(
  { list, pod }: Cluster,
  asked: Partial<AdmissionRequest> = {},
): Promise<{ readonly decision: Decision; readonly requests: readonly string[] }> {
  const clock = new FakeClock();
  const transport = new FakeTransport(({ path }) => {
    if (path.includes('/zoneawarepoddisruptionbudgets')) return list;
    return pod ?? assert.fail(`asked for ${path}`);
  });
  const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  const deadline = startDeadline(clock, clock.monotonic(), millis(1_000));
  const webhook = podEvictionWithoutBudgets(client);
  const decision = await webhook.judge({ ...request, ...asked }, { deadline: () => deadline });
  deadline.release();
  return {
    decision,
    requests: transport.requests.map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`),
  };
}

function budgets(...specs: readonly JsonValue[]): FakeAnswer {
  const items = specs.map((spec, index) => ({
    metadata: { name: `budget-${index}`, uid: 'u', resourceVersion: '1' },
    spec,
  }));
  return { body: { metadata: { resourceVersion: '1' }, items } };
}

function selecting(matchLabels: JsonValue): JsonValue {
  return { selector: { matchLabels } };
}

function pod(labels: JsonValue, rest: JsonObject = {}): FakeAnswer {
  const metadata = { name: 'x-0', namespace: 'test', uid: 'u', resourceVersion: '1', labels };
  return { body: { metadata, status: { phase: 'Running' }, ...rest } };
}

const ours = { app: 'ingester', zone: 'a' };
const notBuilt = 'this version of the operator does not have zone-aware pod disruption budgets';

function refusedBy(budget: string, selects: string): Decision {
  return {
    isAllowed: false,
    code: 429,
    message: `eviction of pod test/x-0 is not allowed: the ZoneAwarePodDisruptionBudget "${budget}" ${selects}, and ${notBuilt}`,
    causes: [{ reason: 'CapabilityNotBuilt', message: notBuilt }],
  };
}

const allowed: Decision = { isAllowed: true };

interface Case {
  readonly given: Cluster;
  readonly want: Decision;
}

const unreadable: Readonly<Record<string, JsonValue>> = {
  'no spec': null,
  'no selector': {},
  'a selector that is a text': { selector: 'app=ingester' },
  'no labels in its selector': { selector: { matchExpressions: [] } },
  'labels that are a list': selecting(['app']),
  'a label that is a number': selecting({ app: 'store', shard: 1 }),
};

const cases: Readonly<Record<string, Case>> = {
  ...Object.fromEntries(
    ['Succeeded', 'Failed', 'Pending'].map((phase): [string, Case] => [
      `allows a pod in the phase ${phase} with a warning, as the peer does`,
      {
        given: { list: budgets(selecting(ours)), pod: pod(ours, { status: { phase } }) },
        want: { isAllowed: true, warnings: ['pod is not ready'] },
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(unreadable).map(([what, spec]): [string, Case] => [
      `denies any pod beside a budget with ${what} (#14)`,
      {
        given: { list: budgets(spec), pod: pod(ours) },
        want: refusedBy('budget-0', 'has a selector that cannot be read'),
      },
    ]),
  ),
  'allows where there is no budget': { given: { list: budgets() }, want: allowed },
  'allows where the cluster has no such type': {
    given: { list: { status: 404, body: { kind: 'Status' } } },
    want: allowed,
  },
  'denies with 429 what a budget selects (#14)': {
    given: { list: budgets(selecting({ app: 'ingester' })), pod: pod(ours) },
    want: refusedBy('budget-0', 'selects it'),
  },
  'allows a pod that no budget selects (#14)': {
    given: {
      list: budgets(selecting({ app: 'store' }), selecting({ app: 'ingester', zone: 'b' })),
      pod: pod(ours),
    },
    want: allowed,
  },
  'allows a pod without labels beside a budget (#14)': {
    given: { list: budgets(selecting({ app: 'ingester' })), pod: pod(null) },
    want: allowed,
  },
  'names the budget that selects the pod among others': {
    given: {
      list: budgets(selecting({ app: 'store' }), null, selecting({ zone: 'a' })),
      pod: pod(ours),
    },
    want: refusedBy('budget-2', 'selects it'),
  },
  'takes an empty selector for one of every pod': {
    given: { list: budgets(selecting({})), pod: pod(null) },
    want: refusedBy('budget-0', 'selects it'),
  },
  'takes a selector by its labels alone, as the peer does': {
    given: {
      list: budgets({
        selector: {
          matchLabels: { app: 'ingester' },
          matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }],
        },
      }),
      pod: pod(ours),
    },
    want: refusedBy('budget-0', 'selects it'),
  },
  'allows a pod that is gone': {
    given: { list: budgets(selecting(ours)), pod: { status: 404, body: { kind: 'Status' } } },
    want: allowed,
  },
};
for (const [fact, { given, want }] of Object.entries(cases)) {
  test(`podEvictionWithoutBudgets() ${fact}`, async () => {
    assert.deepEqual((await evict(given)).decision, want);
  });
}

test('podEvictionWithoutBudgets() allows a terminating pod with a warning, as the peer does', async () => {
  const metadata = { name: 'x-0', uid: 'u', resourceVersion: '1', labels: ours };
  const going = { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
  const { decision } = await evict({
    list: budgets(selecting(ours)),
    pod: { body: { metadata: going, status: { phase: 'Running' } } },
  });
  assert.deepEqual(decision, { isAllowed: true, warnings: ['pod is not ready'] });
});

const failure: FakeAnswer = { status: 500, body: { kind: 'Status' } };
const forbidden: FakeAnswer = { status: 403, body: { kind: 'Status' } };
for (const [what, code, given] of [
  ['the budgets cannot be listed', 429, { list: failure }],
  ['the budgets cannot be listed', 403, { list: forbidden }],
  ['the pod cannot be read', 429, { list: budgets(selecting(ours)), pod: failure }],
  ['the pod cannot be read', 403, { list: budgets(selecting(ours)), pod: forbidden }],
  ['the pod cannot be read', 429, { list: budgets(selecting(ours)), pod: pod({ app: 5 }) }],
] as const) {
  test(`podEvictionWithoutBudgets() denies with ${code} and a cause where ${what} (HOOK-1)`, async () => {
    const { decision } = await evict(given);
    assert.ok(!decision.isAllowed);
    assert.equal(decision.code, code);
    assert.equal(decision.message, `eviction of pod test/x-0 is not allowed: ${what}`);
    const reason = code === 403 ? 'Forbidden' : 'DependencyFailed';
    assert.deepEqual(
      decision.causes?.map((cause) => cause.reason),
      [reason],
    );
  });
}

test('podEvictionWithoutBudgets() judges a dry run like any other request', async () => {
  const given = { list: budgets(selecting(ours)), pod: pod(ours) };
  const { decision } = await evict(given, { isDryRun: true });
  assert.deepEqual(decision, refusedBy('budget-0', 'selects it'));
});

test('podEvictionWithoutBudgets() reads the pod only where there are budgets', async () => {
  const list =
    '/apis/rollout-operator.grafana.com/v1/namespaces/test/zoneawarepoddisruptionbudgets';
  assert.deepEqual((await evict({ list: budgets() })).requests, [`GET ${list}`]);
  const given = { list: budgets(selecting(ours)), pod: pod(ours) };
  const read = 'GET /api/v1/namespaces/test/pods/x-0';
  assert.deepEqual((await evict(given)).requests, [`GET ${list}`, read]);
});

for (const [message, asked] of [
  ['request operation is not create, got: DELETE', { operation: 'DELETE' }],
  ['request SubResource is not eviction, got: binding', { subResource: 'binding' }],
  ['request did not include both a namespace and a name', { name: '' }],
  ['request did not include both a namespace and a name', { namespace: '' }],
] as const) {
  test(`podEvictionWithoutBudgets() denies ${JSON.stringify(asked)} without a read`, async () => {
    const { decision, requests } = await evict({ list: failure }, asked);
    assert.deepEqual([decision, requests], [{ isAllowed: false, message }, []]);
  });
}

test('podEvictionWithoutBudgets() looks after as many evictions as come, one after the other', async () => {
  const clock = new FakeClock();
  const answers: Readonly<Record<string, FakeAnswer>> = {
    allowed: budgets(),
    denied: new Error('no connection'),
  };
  for (const [fact, list] of Object.entries(answers)) {
    const transport = new FakeTransport(() => list);
    const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
    const webhook = podEvictionWithoutBudgets(client, new ConcurrencyLimit(1));
    for (let eviction = 0; eviction < 3; eviction += 1) {
      const deadline = startDeadline(clock, clock.monotonic(), millis(1_000));
      await webhook.judge(request, { deadline: () => deadline });
      deadline.release();
    }
    assert.equal(transport.requests.length, 3, fact);
  }
});

test('podEvictionWithoutBudgets() asks who evicts to try again when too many ask at once', async () => {
  const clock = new FakeClock();
  const transport = new FakeTransport(() => assert.fail('asked the API server'));
  const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  const deadline = startDeadline(clock, clock.monotonic(), millis(1_000));
  const webhook = podEvictionWithoutBudgets(client, new ConcurrencyLimit(0));
  assert.deepEqual(await webhook.judge(request, { deadline: () => deadline }), {
    isAllowed: false,
    code: 429,
    message:
      'eviction of pod test/x-0 is not allowed because too many admission reviews are under way, try again',
    doubt: 'Overloaded',
  });
  deadline.release();
});
