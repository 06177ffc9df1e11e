import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { AdmissionBed } from '#support/admission/admission-bed.ts';
import { scaleRequest, setObject, updateRequest } from '#support/admission/admission-requests.ts';
import type { AdmissionRequest, ReviewDecision } from '../review/review.ts';

const governed = { 'grafana.com/no-downscale': 'true' };

function workload(
  replicas: number | null | undefined,
  options: { readonly labels?: JsonObject; readonly kind?: string } = {},
): JsonObject {
  const { labels = governed, kind = 'StatefulSet' } = options;
  const metadata = { name: 'ingester-zone-a', namespace: 'test', labels };
  return { apiVersion: 'apps/v1', kind, metadata, spec: { replicas } };
}

/** An update between two workloads of one kind. */
function between(
  from: number | null | undefined,
  to: number | null | undefined,
  options: { readonly labels?: JsonObject; readonly kind?: string } = {},
): AdmissionRequest {
  const { kind = 'StatefulSet' } = options;
  return updateRequest(workload(from, options), workload(to, options), {
    kind: { group: 'apps', version: 'v1', kind },
    resource: `${kind.toLowerCase()}s`,
  });
}

const allowed: ReviewDecision = { isAllowed: true };
const nil: ReviewDecision = {
  isAllowed: true,
  warnings: ['old/new replicas is nil, allowing the change'],
};

function denied(target: string, from: number, to: number): ReviewDecision {
  return {
    isAllowed: false,
    message: `downscale of ${target} in test from ${from} to ${to} replicas is not allowed because it has the label 'grafana.com/no-downscale=true'`,
  };
}

function warned(warning: string): ReviewDecision {
  return { isAllowed: true, warnings: [warning] };
}

function doubted(why: string): ReviewDecision {
  return {
    isAllowed: false,
    message: `change of statefulsets/ingester-zone-a in test is not allowed because it may be a downscale, and the object may have the label 'grafana.com/no-downscale=true': ${why}`,
    doubt: 'Unreadable',
  };
}

const set = 'statefulsets/ingester-zone-a';
const daemonSet = { group: 'apps', version: 'v1', kind: 'DaemonSet' };
const oldBeta = { group: 'apps', version: 'v1beta1', kind: 'StatefulSet' };
const beta = (replicas: number): JsonObject => ({
  ...workload(replicas),
  apiVersion: 'apps/v1beta1',
});

const table: Record<string, readonly [AdmissionRequest, ReviewDecision]> = {
  'denies a governed down-scale [admission 14]': [between(2, 1), denied(set, 2, 1)],
  'denies it in a dry run, too [admission 15]': [
    { ...between(2, 1), isDryRun: true },
    denied(set, 2, 1),
  ],
  'allows an object without the label [admission 16]': [between(2, 1, { labels: {} }), allowed],
  'allows what the label says "false" of [admission 17]': [
    between(2, 1, { labels: { 'grafana.com/no-downscale': 'false' } }),
    allowed,
  ],
  'allows what the label says nothing of [admission 17]': [
    between(2, 1, { labels: { 'grafana.com/no-downscale': '' } }),
    allowed,
  ],
  'denies where the label cannot be read, and says what would be right [found R-12]': [
    between(2, 1, { labels: { 'grafana.com/no-downscale': 'True' } }),
    {
      isAllowed: false,
      message:
        'downscale of statefulsets/ingester-zone-a in test from 2 to 1 replicas is not allowed because it has the label \'grafana.com/no-downscale=True\': metadata.labels["grafana.com/no-downscale"] must be "true" or "false": got "True"; it counts as "true"',
    },
  ],
  'denies replicas that are no count where the label cannot be read [found R-12]': [
    updateRequest(
      { ...workload(3, { labels: { 'grafana.com/no-downscale': '1' } }), spec: { replicas: '3' } },
      workload(1),
    ),
    doubted('the old object cannot be read: spec.replicas must be an integer from 0 to 2147483647'),
  ],
  'allows growth [admission 18]': [between(2, 3), allowed],
  'allows equal replicas [admission 19]': [between(2, 2), allowed],
  'allows replicas that are both unstated [admission 20]': [between(null, null), allowed],
  'warns of replicas that become stated [admission 21]': [between(null, 1), nil],
  'denies 3 to unstated replicas, which the API means as 1 [admission 22]': [
    between(3, null),
    denied(set, 3, 1),
  ],
  'denies unstated replicas, which the API means as 1, to 0': [
    between(undefined, 0),
    denied(set, 1, 0),
  ],
  'warns of 3 to unstated replicas where the object is not governed': [
    between(3, undefined, { labels: {} }),
    nil,
  ],
  'denies a Deployment': [
    between(2, 1, { kind: 'Deployment' }),
    denied('deployments/ingester-zone-a', 2, 1),
  ],
  'denies a ReplicaSet [admission 34]': [
    between(5, 4, { kind: 'ReplicaSet' }),
    denied('replicasets/ingester-zone-a', 5, 4),
  ],
  'allows a kind without replicas, with a warning [admission 28]': [
    updateRequest(workload(2, { kind: 'DaemonSet' }), workload(1, { kind: 'DaemonSet' }), {
      kind: daemonSet,
    }),
    warned(
      "can't get old replicas, allowing the change, err: unsupported type apps/v1, Kind=DaemonSet (go type *v1.DaemonSet)",
    ),
  ],
  'denies an update without its old object (D-25) [admission 29]': [
    updateRequest(undefined, workload(1)),
    doubted('the old object cannot be read: there is no object to decode'),
  ],
  'allows a creation, which has no old object': [
    updateRequest(undefined, workload(1), { operation: 'CREATE' }),
    warned("can't decode old object, allowing the change, err: there is no object to decode"),
  ],
  'allows a deletion, which has no new object': [
    updateRequest(workload(1), undefined, { operation: 'DELETE' }),
    warned("can't decode new object, allowing the change, err: there is no object to decode"),
  ],
  'denies when the label goes in the same update [admission 30]': [
    updateRequest(workload(3), workload(1, { labels: {} })),
    denied(set, 3, 1),
  ],
  'allows when the label comes in the same update [admission 31]': [
    updateRequest(workload(3, { labels: {} }), workload(1)),
    allowed,
  ],
  'allows a version that the peer cannot decode [admission 33]': [
    updateRequest(beta(3), beta(1), { kind: oldBeta }),
    warned(
      'can\'t decode old object, allowing the change, err: no kind "StatefulSet" is registered for version "apps/v1beta1"',
    ),
  ],
  'denies an old object that is of another kind than the request says (D-25)': [
    updateRequest(beta(3), beta(1)),
    doubted(
      'the old object cannot be read: no kind "StatefulSet" is registered for version "apps/v1beta1"',
    ),
  ],
  'denies replicas that are no count (D-25)': [
    updateRequest({ ...workload(3), spec: { replicas: '3' } }, workload(1)),
    doubted('the old object cannot be read: spec.replicas must be an integer from 0 to 2147483647'),
  ],
  'allows replicas that are no count where the labels say that nothing is governed': [
    updateRequest({ ...workload(3, { labels: {} }), spec: { replicas: '3' } }, workload(1)),
    warned(
      "can't decode old object, allowing the change, err: spec.replicas must be an integer from 0 to 2147483647",
    ),
  ],
  'denies labels that are none (D-25)': [
    updateRequest({ ...workload(3), metadata: { labels: ['x'] } }, workload(1)),
    doubted('the old object cannot be read: metadata.labels must be an object'),
  ],
  'denies a new object that cannot be read (D-25)': [
    updateRequest(workload(3), { ...workload(1), spec: [] }),
    doubted('the new object cannot be read: spec must be an object'),
  ],
  'allows a new object that cannot be read where the old one is not governed': [
    updateRequest(workload(3, { labels: {} }), { ...workload(1), spec: [] }),
    warned("can't decode new object, allowing the change, err: spec must be an object"),
  ],
};
for (const [fact, [request, want]] of Object.entries(table)) {
  test(`noDownscale() ${fact}`, async () => {
    await using bed = await AdmissionBed.open();
    assert.deepEqual(await bed.review(bed.noDownscale, request), want);
    assert.deepEqual(bed.api.requests, []);
  });
}

test('noDownscale() judges a Scale by the live StatefulSet [admission 23]', async () => {
  await using bed = await AdmissionBed.open();
  await bed.store({ labels: governed });
  assert.deepEqual(await bed.review(bed.noDownscale, scaleRequest(2, 1)), denied(set, 2, 1));
  assert.deepEqual(bed.api.requests, [
    'GET /apis/apps/v1/namespaces/test/statefulsets/ingester-zone-a',
  ]);
});

test('noDownscale() reads a Scale without replicas as 0 [admission 32]', async () => {
  await using bed = await AdmissionBed.open();
  await bed.store({ labels: governed });
  const decision = await bed.review(bed.noDownscale, scaleRequest(2, undefined));
  assert.deepEqual(decision, denied(set, 2, 0));
});

test('noDownscale() denies a Scale of a set whose label cannot be read [found R-12]', async () => {
  await using bed = await AdmissionBed.open();
  await bed.store({ labels: { 'grafana.com/no-downscale': 'yes' } });
  assert.deepEqual(await bed.review(bed.noDownscale, scaleRequest(2, 1)), {
    isAllowed: false,
    message:
      'downscale of statefulsets/ingester-zone-a in test from 2 to 1 replicas is not allowed because it has the label \'grafana.com/no-downscale=yes\': metadata.labels["grafana.com/no-downscale"] must be "true" or "false": got "yes"; it counts as "true"',
  });
});

test('noDownscale() asks nothing about a Scale that does not shrink', async () => {
  await using bed = await AdmissionBed.open();
  assert.deepEqual(await bed.review(bed.noDownscale, scaleRequest(2, 2)), allowed);
  assert.deepEqual(bed.api.requests, []);
});

test('noDownscale() allows a Scale of a set without the label', async () => {
  await using bed = await AdmissionBed.open();
  await bed.store();
  assert.deepEqual(await bed.review(bed.noDownscale, scaleRequest(2, 1)), allowed);
});

test('noDownscale() judges a Scale by the live Deployment [admission 24]', async () => {
  await using bed = await AdmissionBed.open();
  bed.answerWith({ ...setObject({ labels: governed }), kind: 'Deployment' });
  const request = scaleRequest(2, 1, { resource: 'deployments' });
  const want = denied('deployments/ingester-zone-a', 2, 1);
  assert.deepEqual(await bed.review(bed.noDownscale, request), want);
  assert.deepEqual(bed.api.requests, [
    'GET /apis/apps/v1/namespaces/test/deployments/ingester-zone-a',
  ]);
});

test('noDownscale() allows a Scale whose object is not there [admission 25]', async () => {
  await using bed = await AdmissionBed.open();
  assert.deepEqual(
    await bed.review(bed.noDownscale, scaleRequest(2, 1)),
    warned(
      'can\'t get statefulsets/ingester-zone-a in namespace test, allowing the change: Cannot get StatefulSet "test/ingester-zone-a": statefulsets.apps "ingester-zone-a" not found (404 NotFound)',
    ),
  );
});

test('noDownscale() allows a Scale of a resource that it does not know [admission 26]', async () => {
  await using bed = await AdmissionBed.open();
  const request = scaleRequest(2, 1, { resource: 'widgets' });
  assert.deepEqual(
    await bed.review(bed.noDownscale, request),
    warned(
      "can't get widgets/ingester-zone-a in namespace test, allowing the change: unsupported resource widgets",
    ),
  );
});

const unknown =
  "downscale of statefulsets/ingester-zone-a in test from 2 to 1 replicas is not allowed because it cannot be found out whether it has the label 'grafana.com/no-downscale=true'";

test('noDownscale() denies with 429 when the API server does not answer in time (D-25) [admission 27]', async () => {
  await using bed = await AdmissionBed.open();
  bed.api.fault = () => 'hang';
  const { decision } = bed.begin(bed.noDownscale, scaleRequest(2, 1));
  await bed.clock.advance(seconds(9));
  assert.deepEqual(await decision, {
    isAllowed: false,
    message: unknown,
    code: 429,
    causes: [{ reason: 'DependencyFailed', message: 'the call was aborted' }],
    doubt: 'DependencyFailed',
  });
});

test('noDownscale() gives up half of the time that the API server waits (D-27)', async () => {
  await using bed = await AdmissionBed.open();
  bed.api.fault = () => 'hang';
  const { decision } = bed.begin(bed.noDownscale, scaleRequest(2, 1), 'timeout=4s');
  await bed.clock.advance(seconds(2));
  assert.equal((await decision).isAllowed, false);
});

test('noDownscale() denies with 403 when its Role does not let it look (D-25)', async () => {
  await using bed = await AdmissionBed.open();
  bed.api.fault = () => ({ status: 403 });
  const decision = await bed.review(bed.noDownscale, scaleRequest(2, 1));
  assert.equal(decision.isAllowed, false);
  assert.deepEqual([decision.code, decision.doubt], [403, 'Forbidden']);
});

test('noDownscale() says that the Role is why, in a namespace that the Role does not cover [found R-26]', async () => {
  await using bed = await AdmissionBed.open();
  const message =
    'statefulsets.apps "ingester-zone-a" is forbidden: User "system:serviceaccount:ops:rollout-operator" cannot get resource "statefulsets" in API group "apps" in the namespace "test"';
  const object = { kind: 'Status', code: 403, reason: 'Forbidden', message };
  bed.api.fault = () => ({ status: 403, object });
  assert.deepEqual(await bed.review(bed.noDownscale, scaleRequest(2, 1)), {
    isAllowed: false,
    message: `${unknown}: no Role permits the operator to get statefulsets in the namespace "test", so bind one there, or have the webhook leave that namespace out`,
    code: 403,
    causes: [
      {
        reason: 'Forbidden',
        message: `Cannot get StatefulSet "test/ingester-zone-a": ${message} (403 Forbidden)`,
      },
    ],
    doubt: 'Forbidden',
  });
});

test('noDownscale() does not blame the Role where a quota, or a namespace that is being deleted, answers 403 [found R-26]', async () => {
  await using bed = await AdmissionBed.open();
  const message = 'namespace "test" is being terminated';
  const object = { kind: 'Status', code: 403, reason: 'Forbidden', message };
  bed.api.fault = () => ({ status: 403, object });
  const decision = await bed.review(bed.noDownscale, scaleRequest(2, 1));
  assert.deepEqual([decision.isAllowed, decision.isAllowed || decision.message], [false, unknown]);
});

test('noDownscale() denies at once, without a code, when too many reviews are under way (D-30)', async () => {
  await using bed = await AdmissionBed.open({ limit: 1 });
  bed.api.fault = () => 'hang';
  const first = bed.begin(bed.noDownscale, scaleRequest(2, 1));
  assert.deepEqual(await bed.review(bed.noDownscale, scaleRequest(2, 1)), {
    isAllowed: false,
    message:
      'downscale of statefulsets/ingester-zone-a in test from 2 to 1 replicas is not allowed because too many admission reviews are under way, try again',
    doubt: 'Overloaded',
  });
  first.leave();
  await first.decision;
  bed.api.fault = () => undefined;
  await bed.store();
  assert.deepEqual(await bed.review(bed.noDownscale, scaleRequest(2, 1)), allowed);
});
