import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { AdmissionBed, ago } from '#support/admission/admission-bed.ts';
import {
  prepared,
  scaleRequest,
  setObject,
  updateRequest,
} from '#support/admission/admission-requests.ts';
import type { BedSet } from '#support/admission/bed-set.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import { preparedSetOf } from '../downscale/prepared-set.ts';
import { type AdmissionRequest, type Doubt, deny, type ReviewDecision } from '../review/review.ts';

const hour = 3_600_000;
const T0_TEXT = '2026-01-01T00:00:00Z';
const NAME = 'my-sts';
const alone = { ...prepared.labels, 'rollout-group': '' };

/** The set of most tests: prepared, in no group. */
function lone(options: BedSet = {}): BedSet {
  return { name: NAME, ...prepared, labels: alone, ...options };
}

function change(from: number, to: number, options: BedSet = {}): AdmissionRequest {
  const set = lone(options);
  const name = set.name ?? NAME;
  const old = setObject({ ...set, replicas: from });
  return updateRequest(old, setObject({ ...set, replicas: to }), { name });
}

function refusal(tail: string, name = NAME, [from, to]: readonly number[] = [3, 1]): string {
  return `downscale of statefulsets/${name} in test from ${from} to ${to} replicas is not allowed because ${tail}`;
}

function success(from = 3, to = 1, name = NAME): ReviewDecision {
  return {
    isAllowed: true,
    message: `downscale of statefulsets/${name} in test from ${from} to ${to} replicas is allowed -- all pods successfully prepared for shutdown.`,
  };
}

const plain: ReviewDecision = { isAllowed: true };
const failedPods = deny(
  refusal('one or more pods failed to prepare for shutdown.'),
  'PodNotPrepared',
);

const silent: Record<string, readonly [AdmissionRequest, ReviewDecision]> = {
  'allows a dry run without a call [admission 35]': [{ ...change(5, 3), isDryRun: true }, plain],
  'allows growth [admission 36]': [change(2, 5), plain],
  'allows a set without the switch [admission 37]': [
    change(3, 1, { labels: { 'rollout-group': 'ingester' } }),
    plain,
  ],
  'does not take an annotation for the switch [admission 38]': [
    change(3, 1, {
      labels: {},
      annotations: { ...prepared.annotations, 'grafana.com/prepare-downscale': 'true' },
    }),
    plain,
  ],
  'allows a Deployment with a warning [admission 55]': [
    updateRequest(
      { ...setObject({ replicas: 3 }), kind: 'Deployment' },
      { ...setObject({ replicas: 1 }), kind: 'Deployment' },
      { kind: { group: 'apps', version: 'v1', kind: 'Deployment' }, resource: 'deployments' },
    ),
    {
      isAllowed: true,
      warnings: [
        'unsupported type apps/v1, Kind=Deployment (go type *v1.Deployment), allowing the change',
      ],
    },
  ],
  'allows a Scale of another resource with a warning': [
    scaleRequest(3, 1, { resource: 'deployments' }),
    { isAllowed: true, warnings: ['unsupported resource deployments, allowing the change'] },
  ],
  'allows a foreign kind with a warning': [
    updateRequest(
      { apiVersion: 'apps/v1', kind: 'DaemonSet' },
      { apiVersion: 'apps/v1', kind: 'DaemonSet' },
      { kind: { group: 'apps', version: 'v1', kind: 'DaemonSet' } },
    ),
    {
      isAllowed: true,
      warnings: [
        "can't decode old object, allowing the change, err: unsupported type apps/v1, Kind=DaemonSet (go type *v1.DaemonSet)",
      ],
    },
  ],
  'denies more pods than can be prepared': [
    change(2_147_483_647, 1),
    deny(
      refusal(
        'more than 1000 pods would have to be prepared: scale down in steps of at most 1000',
        NAME,
        [2_147_483_647, 1],
      ),
    ),
  ],
  'denies an old object that cannot be read (D-25)': [
    updateRequest(undefined, setObject()),
    deny(
      "change of statefulsets/ingester-zone-a in test is not allowed because it may be a downscale, and the object may have the label 'grafana.com/prepare-downscale=true': the old object cannot be read: there is no object to decode",
      'Unreadable',
    ),
  ],
};
for (const [fact, [request, want]] of Object.entries(silent)) {
  test(`prepareDownscale() ${fact}`, async () => {
    await using bed = await AdmissionBed.open();
    assert.deepEqual(await bed.review(bed.prepareDownscale, request), want);
    assert.deepEqual([bed.api.requests, bed.fleet.story()], [[], []]);
  });
}

const withoutAddress: Readonly<Record<string, readonly [BedSet, tail: string]>> = {
  'without a port [admission 39]': [
    { annotations: { 'grafana.com/prepare-downscale-http-path': 'x' } },
    'the grafana.com/prepare-downscale-http-port annotation is not set or empty.',
  ],
  'an empty path [admission 40]': [
    { annotations: { ...prepared.annotations, 'grafana.com/prepare-downscale-http-path': '' } },
    'the grafana.com/prepare-downscale-http-path annotation is not set or empty.',
  ],
  'an empty serviceName [admission 41]': [
    { serviceName: '' },
    'the serviceName is not set or empty.',
  ],
  'a port that names another host (D-59)': [
    {
      annotations: {
        ...prepared.annotations,
        'grafana.com/prepare-downscale-http-port': '80@evil:1/',
      },
    },
    'metadata.annotations["grafana.com/prepare-downscale-http-port"] must be a port number from 1 to 65535, such as "80": got "80@evil:1/"',
  ],
  'a service that names another host (D-59)': [
    { serviceName: '127.0.0.1:8080/x?' },
    'spec.serviceName must be a DNS name such as "ingester": got "127.0.0.1:8080/x?"',
  ],
  'and names the port where both are missing [admission 42]': [
    { annotations: {} },
    'the grafana.com/prepare-downscale-http-port annotation is not set or empty.',
  ],
};
for (const [fact, [set, tail]] of Object.entries(withoutAddress)) {
  test(`prepareDownscale() denies ${fact}`, async () => {
    await using bed = await AdmissionBed.open();
    await bed.store(lone({ replicas: 3, ...set }));
    assert.deepEqual(await bed.downscale(NAME, 3, 1), deny(refusal(tail)));
    assert.deepEqual(bed.fleet.story(), []);
  });
}

test('prepareDownscale() asks for no other resource than the set, whatever its name is (D-59)', async () => {
  await using bed = await AdmissionBed.open();
  for (const name of ['127.0.0.1:8080/x?', '../configmaps/x', '..', 'x/scale']) {
    const decision = await bed.review(bed.prepareDownscale, change(3, 1, { name }));
    assert.equal(decision.isAllowed, false, name);
  }
  const asked = bed.api.requests.map((request) => request.replace(/[^/]*$/, ''));
  assert.deepEqual(
    new Set(asked),
    new Set(['GET /apis/apps/v1/namespaces/test/statefulsets/']),
    bed.api.requests.join('\n'),
  );
  assert.deepEqual(bed.fleet.story(), []);
});

const starts: Record<string, readonly [start: JsonValue, shown: string]> = {
  'a negative number': [-1, '-1'],
  'a number in a text': ['5', '"5"'],
  'an object': [{ from: 5 }, '{"from":5}'],
  'a long list': [Array.from({ length: 60 }, () => 1), `[${'1,'.repeat(49)}1…`],
};
for (const [what, [start, shown]] of Object.entries(starts)) {
  test(`preparedSetOf() shows spec.ordinals.start as it is stored: ${what}`, () => {
    assert.equal(
      preparedSetOf({ spec: { ordinals: { start } } }),
      `spec.ordinals.start must be a whole number from 0 to 2147483647: got ${shown}`,
    );
  });
}

test('preparedSetOf() says why a set cannot be read (D-25)', () => {
  const annotations = ['x'] as unknown as Record<string, string>;
  const read = preparedSetOf(setObject({ annotations }));
  assert.equal(read, 'metadata.annotations must be an object');
});

test('prepareDownscale() calls the pods that vanish, highest first [admission 43]', async () => {
  await using bed = await AdmissionBed.open();
  await bed.store(lone({ replicas: 5 }));
  assert.deepEqual(await bed.downscale(NAME, 5, 3), success(5, 3));
  assert.deepEqual(
    bed.fleet.calls.map(({ method, host, path }) => `${method} http://${host}${path}`),
    // The default port is not part of a Host header.
    [
      'POST http://my-sts-4.svc.test.svc.cluster.local./ingester/prepare-shutdown',
      'POST http://my-sts-3.svc.test.svc.cluster.local./ingester/prepare-shutdown',
    ],
  );
});

test('prepareDownscale() calls no other host that the stored set names (D-59)', async () => {
  await using bed = await AdmissionBed.open();
  const annotations = {
    ...prepared.annotations,
    'grafana.com/prepare-downscale-http-port': '80@evil.test:1/',
  };
  await bed.store(lone({ annotations }));
  const stored = await bed.downscaleRequest(NAME, 3, 1);
  const { uid } = (stored.oldObject as { readonly metadata: { readonly uid: string } }).metadata;
  const request = scaleRequest(3, 1, { name: NAME, setUid: uid });
  const tail =
    'metadata.annotations["grafana.com/prepare-downscale-http-port"] must be a port number from 1 to 65535, such as "80": got "80@evil.test:1/"';
  assert.deepEqual(await bed.review(bed.prepareDownscale, request), deny(refusal(tail)));
  assert.deepEqual(bed.fleet.story(), []);
  assert.deepEqual(bed.api.requests, ['GET /apis/apps/v1/namespaces/test/statefulsets/my-sts']);
});

test('prepareDownscale() prepares 1,000 pods in one review', async () => {
  await using bed = await AdmissionBed.open();
  await bed.store(lone({ replicas: 1_000, pods: [] }));
  assert.deepEqual(await bed.downscale(NAME, 1_000, 0), success(1_000, 0));
  assert.equal(bed.fleet.calls.length, 1_000);
});

test('prepareDownscale() tells in two lines of 64 pods that neither can be prepared nor forget it', async () => {
  await using bed = await AdmissionBed.open();
  bed.fleet.behave({ kind: 'answer', status: 503 });
  await bed.store(lone({ replicas: 64, pods: [] }));
  const log = new KeptLog();
  const { prepareDownscale } = bed.replica('replica-2', bed.clock, log);
  const request = await bed.downscaleRequest(NAME, 64, 0);
  assert.equal((await bed.review(prepareDownscale, request)).isAllowed, false);
  await Promise.all(bed.background);
  const url = (ordinal: number): string =>
    `http://my-sts-${ordinal}.svc.test.svc.cluster.local.:80/ingester/prepare-shutdown`;
  const failed = (method: string, ordinal: number): string =>
    `Cannot ${method} ${url(ordinal)}: the pod answered 503`;
  const told = [63, 62, 61];
  assert.deepEqual(log.lines, [
    `error a pod failed to prepare for shutdown statefulset=test/my-sts url=${url(63)} err=${failed('POST', 63)}`,
    `warn a preparation could not be taken back statefulset=test/my-sts pods=64 failed=64 urls=${told.map(url).join(',')} err=${told.map((each) => failed('DELETE', each)).join('; ')}`,
  ]);
});

test('prepareDownscale() counts ordinals from spec.ordinals.start', async () => {
  await using bed = await AdmissionBed.open();
  await bed.store(lone({ replicas: 5, ordinalsStart: 10 }));
  await bed.downscale(NAME, 5, 3);
  assert.deepEqual(bed.fleet.story(), ['POST my-sts-14', 'POST my-sts-13']);
});

test('prepareDownscale() calls a path with a slash in front as one without [found R-19] [admission 44]', async () => {
  await using bed = await AdmissionBed.open();
  const annotations = { ...prepared.annotations, 'grafana.com/prepare-downscale-http-path': '/x' };
  await bed.store(lone({ replicas: 1, annotations }));
  await bed.downscale(NAME, 1, 0);
  assert.deepEqual(
    bed.fleet.calls.map(({ path }) => path),
    ['/x'],
  );
});

test('prepareDownscale() allows when all pods agree, and notes the time [admission 45, 58]', async () => {
  await using bed = await AdmissionBed.open();
  bed.fleet.behave({ kind: 'answer', status: 204 });
  await bed.store(lone());
  assert.deepEqual(await bed.downscale(NAME, 3, 1), success());
  assert.equal(await bed.lastDownscale(NAME), T0_TEXT);
});

/** What is said of a label that asks for preparation in a word that cannot be read. */
const oddSwitch =
  'metadata.labels["grafana.com/prepare-downscale"] must be "true" or "false": got "True"; it counts as "true"';
const oddLabels = { ...alone, 'grafana.com/prepare-downscale': 'True' };

test('prepareDownscale() prepares pods of a set whose label cannot be read, and warns [found R-12]', async () => {
  await using bed = await AdmissionBed.open();
  await bed.store(lone({ labels: oddLabels }));
  assert.deepEqual(await bed.downscale(NAME, 3, 1), { ...success(), warnings: [oddSwitch] });
  assert.deepEqual(bed.fleet.story(), ['POST my-sts-2', 'POST my-sts-1']);
});

test('prepareDownscale() names a label that cannot be read where it denies [found R-12]', async () => {
  await using bed = await AdmissionBed.open();
  const annotations = { ...prepared.annotations, 'grafana.com/prepare-downscale-http-port': '' };
  await bed.store(lone({ labels: oddLabels, annotations }));
  assert.deepEqual(
    await bed.downscale(NAME, 3, 1),
    deny(
      `${refusal('the grafana.com/prepare-downscale-http-port annotation is not set or empty.')} (${oddSwitch})`,
    ),
  );
});

test('prepareDownscale() takes it back when one pod refuses [admission 46]', async () => {
  await using bed = await AdmissionBed.open();
  bed.fleet.behave({ kind: 'answer', status: 500 }, 'my-sts-2');
  await bed.store(lone());
  assert.deepEqual(await bed.downscale(NAME, 3, 1), failedPods);
  assert.deepEqual(bed.fleet.story().toSorted(), [
    'DELETE my-sts-1',
    'DELETE my-sts-2',
    'POST my-sts-1',
    'POST my-sts-2',
  ]);
  assert.equal(await bed.lastDownscale(NAME), undefined);
});

test('prepareDownscale() takes it back when one pod breaks the connection [admission 47]', async () => {
  await using bed = await AdmissionBed.open();
  bed.fleet.behave({ kind: 'reset' }, 'my-sts-1');
  await bed.store(lone());
  assert.deepEqual(await bed.downscale(NAME, 3, 1), failedPods);
  assert.deepEqual(
    bed.fleet.story().filter((call) => call.startsWith('DELETE')),
    ['DELETE my-sts-2', 'DELETE my-sts-1'],
  );
});

test('prepareDownscale() takes it back when the annotation cannot be written (D-25) [admission 48]', async () => {
  await using bed = await AdmissionBed.open();
  await bed.store(lone());
  bed.api.fault = ({ method }) => (method === 'PATCH' ? { status: 500 } : undefined);
  assert.deepEqual(await bed.downscale(NAME, 3, 1), {
    isAllowed: false,
    message: refusal('adding an annotation to the statefulset failed.'),
    code: 429,
    doubt: 'DependencyFailed',
    causes: [
      {
        reason: 'DependencyFailed',
        message: 'Cannot patch StatefulSet "test/my-sts": refused with 500 (500 InternalError)',
      },
    ],
  });
  assert.equal(bed.fleet.story().filter((call) => call.startsWith('DELETE')).length, 2);
});

test('prepareDownscale() tries to take it back once from each pod [admission 49]', async () => {
  await using bed = await AdmissionBed.open();
  bed.fleet.behave({ kind: 'answer', status: 503 });
  await bed.store(lone());
  assert.deepEqual(await bed.downscale(NAME, 3, 1), failedPods);
  const deletes = bed.fleet.story().filter((call) => call.startsWith('DELETE'));
  assert.deepEqual(deletes, ['DELETE my-sts-2', 'DELETE my-sts-1']);
});

test('prepareDownscale() calls at most 32 pods at once [admission 50]', async () => {
  await using bed = await AdmissionBed.open();
  const answer = { kind: 'answer', status: 200 } as const;
  bed.fleet.behave({ kind: 'late', after: seconds(1), behaves: answer });
  await bed.store(lone({ replicas: 64, pods: [] }));
  const request = await bed.downscaleRequest(NAME, 64, 0);
  const { decision } = bed.begin(bed.prepareDownscale, request);
  await bed.clock.advance(seconds(2));
  assert.deepEqual(await decision, success(64, 0));
  assert.equal(bed.fleet.mostOpen(), 32);
});

test('prepareDownscale() starts no call after a failure, and cancels all 64 [admission 51]', async () => {
  await using bed = await AdmissionBed.open();
  const answer = { kind: 'answer', status: 200 } as const;
  bed.fleet.behave({ kind: 'late', after: seconds(1), behaves: answer });
  bed.fleet.behave({ kind: 'answer', status: 500 }, 'my-sts-63');
  await bed.store(lone({ replicas: 64, pods: [] }));
  const request = await bed.downscaleRequest(NAME, 64, 0);
  const { decision } = bed.begin(bed.prepareDownscale, request);
  await bed.clock.advance(seconds(5));
  assert.equal((await decision).isAllowed, false);
  const count = (method: string): number =>
    bed.fleet.story().filter((call) => call.startsWith(method)).length;
  assert.equal(count('DELETE'), 64);
  assert.ok(count('POST') <= 32, `${count('POST')} pods were asked`);
});

test('prepareDownscale() gives up pods that hang, in time to take it back (D-27) [admission 52]', async () => {
  await using bed = await AdmissionBed.open();
  bed.fleet.behave({ kind: 'never' }, 'my-sts-2');
  await bed.store(lone());
  const request = await bed.downscaleRequest(NAME, 3, 1);
  const { decision } = bed.begin(bed.prepareDownscale, request);
  await bed.clock.advance(seconds(4));
  assert.equal(bed.fleet.story().filter((call) => call.startsWith('DELETE')).length, 2);
  await bed.clock.advance(seconds(1));
  assert.deepEqual(await decision, failedPods);
});

test('prepareDownscale() goes on taking it back after its answer, and holds the set meanwhile', async () => {
  await using bed = await AdmissionBed.open();
  bed.fleet.behave({ kind: 'never' });
  await bed.store(lone());
  const request = await bed.downscaleRequest(NAME, 3, 1);
  const { decision } = bed.begin(bed.prepareDownscale, request);
  await bed.clock.advance(seconds(5));
  assert.deepEqual(await decision, failedPods);
  const held = deny(refusal('statefulset my-sts is already in process of updating replicas'));
  assert.deepEqual(await bed.review(bed.prepareDownscale, request), held);
  bed.fleet.behave({ kind: 'application' });
  await bed.clock.advance(seconds(5));
  await Promise.all(bed.background);
  assert.deepEqual(await bed.review(bed.prepareDownscale, request), success());
});

test('prepareDownscale() takes it back when the caller leaves', async () => {
  await using bed = await AdmissionBed.open();
  bed.fleet.behave({ kind: 'never' }, 'my-sts-2');
  await bed.store(lone());
  const request = await bed.downscaleRequest(NAME, 3, 1);
  const { decision, leave } = bed.begin(bed.prepareDownscale, request);
  await bed.clock.settle();
  leave();
  assert.equal((await decision).isAllowed, false);
  assert.equal(bed.fleet.story().filter((call) => call.startsWith('DELETE')).length, 2);
});

test('prepareDownscale() takes the facts of a Scale from the live set [admission 53]', async () => {
  await using bed = await AdmissionBed.open();
  const { metadata } = await bed.store(lone());
  const { uid } = metadata as { readonly uid: string };
  const decision = await bed.review(
    bed.prepareDownscale,
    scaleRequest(3, 1, { name: NAME, setUid: uid }),
  );
  assert.deepEqual(decision, success());
  assert.deepEqual(bed.fleet.story(), ['POST my-sts-2', 'POST my-sts-1']);
});

test('prepareDownscale() denies a Scale whose set cannot be read (D-25) [admission 54]', async () => {
  await using bed = await AdmissionBed.open();
  bed.api.fault = () => ({ status: 500 });
  const decision = await bed.review(bed.prepareDownscale, scaleRequest(3, 1, { name: NAME }));
  assert.deepEqual(decision, {
    isAllowed: false,
    message: refusal('the StatefulSet cannot be read.'),
    code: 429,
    doubt: 'DependencyFailed',
    causes: [
      {
        reason: 'DependencyFailed',
        message: 'Cannot get StatefulSet "test/my-sts": refused with 500 (500 InternalError)',
      },
    ],
  });
});

test('prepareDownscale() allows a Scale whose set is not there, with a warning', async () => {
  await using bed = await AdmissionBed.open();
  const decision = await bed.review(bed.prepareDownscale, scaleRequest(3, 1, { name: NAME }));
  assert.deepEqual(decision, {
    isAllowed: true,
    warnings: [
      'Cannot get StatefulSet "test/my-sts": statefulsets.apps "my-sts" not found (404 NotFound), allowing the change',
    ],
  });
});

test('prepareDownscale() lists no siblings of a set in no group [admission 56]', async () => {
  await using bed = await AdmissionBed.open();
  await bed.store(lone());
  await bed.store({ name: 'other', labels: { 'rollout-group': '' }, pods: [] });
  assert.deepEqual(await bed.downscale(NAME, 3, 1), success());
  const claims = '/api/v1/namespaces/test/configmaps';
  assert.deepEqual(bed.api.requests, [
    'GET /apis/apps/v1/namespaces/test/statefulsets/my-sts',
    `GET ${claims}/rollout-operator-claims`,
    `POST ${claims}`,
    `PUT ${claims}/rollout-operator-claims`,
    'PATCH /apis/apps/v1/namespaces/test/statefulsets/my-sts',
  ]);
  assert.equal(await bed.lastDownscale(NAME), T0_TEXT);
});

test('prepareDownscale() sends an empty body of JSON with the cluster [admission 57]', async () => {
  await using bed = await AdmissionBed.open();
  await bed.store(lone({ replicas: 1 }));
  await bed.downscale(NAME, 1, 0);
  const [call] = bed.fleet.calls;
  assert.equal(call?.headers['content-type'], 'application/json');
  assert.equal(call?.headers['x-cluster'], 'test');
  assert.equal(call?.body, '');
});

for (const [age, isWritten] of [
  [59_000, false],
  [60_000, true],
  [-61_000, true],
] as const) {
  test(`prepareDownscale() ${isWritten ? 'rewrites' : 'leaves'} its annotation of ${age / 1_000} s ago (D-26)`, async () => {
    await using bed = await AdmissionBed.open();
    const last = ago(age);
    const annotations = { ...prepared.annotations, 'grafana.com/last-downscale': last };
    await bed.store(lone({ annotations }));
    assert.deepEqual(await bed.downscale(NAME, 3, 1), success());
    assert.equal(await bed.lastDownscale(NAME), isWritten ? T0_TEXT : last);
  });
}

const A = 'ingester-zone-a';
const B = 'ingester-zone-b';
const wait = { 'grafana.com/min-time-between-zones-downscale': '12h' };

interface Siblings {
  /** Further labels of zone b. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly last?: string;
  readonly own?: BedSet;
  readonly other?: BedSet;
}

/** Reviews zone a from 3 to 1 with a sibling zone b. */
async function withSibling({
  labels = {},
  last,
  own = {},
  other = {},
}: Siblings): Promise<ReviewDecision> {
  await using bed = await AdmissionBed.open();
  const lastOf = (text: string | undefined): Record<string, string> =>
    text === undefined ? {} : { 'grafana.com/last-downscale': text };
  await bed.store({ name: A, ...prepared, ...own });
  await bed.store({
    name: B,
    labels: { ...prepared.labels, ...labels },
    annotations: lastOf(last),
    ...other,
  });
  return await bed.downscale(A, 3, 1);
}

const allowedA = success(3, 1, A);
const deniedA = (tail: string, doubt?: Doubt): ReviewDecision => deny(refusal(tail, A), doubt);
const unparsed = deniedA('parsing downscale annotations failed.', 'Unreadable');

const siblings: Record<string, readonly [Siblings, ReviewDecision]> = {
  'waits for a sibling that was scaled down an hour ago [admission 59]': [
    { labels: wait, last: ago(hour) },
    deniedA(
      'statefulset ingester-zone-b was downscaled at 2025-12-31 23:00:00 +0000 UTC and is labelled to wait 12h0m0s between zone downscales',
    ),
  ],
  'waits for a sibling by its annotation, whatever its label says [found R-18]': [
    {
      labels: { 'grafana.com/min-time-between-zones-downscale': '30m' },
      other: { annotations: { ...wait, 'grafana.com/last-downscale': ago(hour) } },
    },
    deniedA(
      'statefulset ingester-zone-b was downscaled at 2025-12-31 23:00:00 +0000 UTC and is labelled to wait 12h0m0s between zone downscales',
    ),
  ],
  'reads the label of a sibling whose annotation is empty [found R-18]': [
    {
      labels: { 'grafana.com/min-time-between-zones-downscale': '30m' },
      other: {
        annotations: {
          'grafana.com/min-time-between-zones-downscale': '',
          'grafana.com/last-downscale': ago(hour),
        },
      },
    },
    allowedA,
  ],
  'denies an annotation of a sibling that is no Go duration [found R-18]': [
    {
      labels: { 'grafana.com/min-time-between-zones-downscale': '30m' },
      other: {
        annotations: {
          'grafana.com/min-time-between-zones-downscale': '1d',
          'grafana.com/last-downscale': ago(hour),
        },
      },
    },
    unparsed,
  ],
  'goes on after the minimum time [admission 60]': [
    { labels: wait, last: ago(13 * hour) },
    allowedA,
  ],
  'goes on exactly at the minimum time': [{ labels: wait, last: ago(12 * hour) }, allowedA],
  'does not read the label of the set itself [admission 61]': [
    { last: ago(60_000), own: { labels: { ...prepared.labels, ...wait } } },
    allowedA,
  ],
  'does not wait for itself [admission 62]': [
    {
      own: {
        labels: { ...prepared.labels, ...wait },
        annotations: { ...prepared.annotations, 'grafana.com/last-downscale': ago(60_000) },
      },
    },
    allowedA,
  ],
  'denies a time of a sibling that is none, without any label [admission 63]': [
    { last: 'yesterday' },
    unparsed,
  ],
  'denies a label of a sibling that is no Go duration [admission 64]': [
    {
      labels: { 'grafana.com/min-time-between-zones-downscale': '1d' },
      last: ago(hour),
    },
    unparsed,
  ],
  'waits for outdated pods of a sibling [admission 65]': [
    { other: { status: { replicas: 3, updatedReplicas: 2 } } },
    deniedA('statefulset ingester-zone-b has 1 non-updated replicas and 0 non-ready replicas'),
  ],
  'waits for a pod of a sibling that ends [admission 66]': [
    { other: { pods: ['ready', 'ready', 'terminating'] } },
    deniedA('statefulset ingester-zone-b has 0 non-updated replicas and 1 non-ready replicas'),
  ],
  'does not look at its own pods [admission 67]': [
    { own: { pods: ['not ready', 'not ready', 'not ready'] } },
    allowedA,
  ],
  'passes a sibling without pods [admission 70]': [{ other: { replicas: 0 } }, allowedA],
};
for (const [fact, [given, want]] of Object.entries(siblings)) {
  test(`prepareDownscale() ${fact}`, async () => {
    assert.deepEqual(await withSibling(given), want);
  });
}

const failures: Record<string, readonly [resource: string, tail: string]> = {
  'denies when the siblings cannot be listed (D-25) [admission 68]': [
    'statefulsets',
    'finding other statefulsets failed.',
  ],
  'denies when the pods of a sibling cannot be listed (D-25) [admission 69]': [
    'pods',
    'an error occurred while checking whether StatefulSets have non-updated replicas',
  ],
};
for (const [fact, [resource, tail]] of Object.entries(failures)) {
  test(`prepareDownscale() ${fact}`, async () => {
    await using bed = await AdmissionBed.open();
    await bed.store({ name: A, ...prepared });
    await bed.store({ name: B });
    bed.api.fault = ({ path }) => (path.includes(`/${resource}?`) ? { status: 500 } : undefined);
    const decision = await bed.downscale(A, 3, 1);
    assert.equal(decision.isAllowed, false);
    assert.deepEqual([decision.message, decision.code], [refusal(tail, A), 429]);
    assert.deepEqual(bed.fleet.story(), []);
  });
}

test('prepareDownscale() counts the pods that a sibling controls, whatever they are called', async () => {
  await using bed = await AdmissionBed.open();
  await bed.store({ name: A, ...prepared });
  await bed.store({ name: B, pods: ['ready', 'ready'] });
  const metadata = { name: 'stray', namespace: 'test', labels: { name: B } };
  const body: JsonObject = { metadata, spec: { containers: [{ name: 'x', image: 'x' }] } };
  await bed.admin.create(resourceTypes.pods, { namespace: 'test' }, { body });
  const tail = 'statefulset ingester-zone-b has 0 non-updated replicas and 1 non-ready replicas';
  assert.deepEqual(await bed.downscale(A, 3, 1), deniedA(tail));
});

test('prepareDownscale() lets one zone of a group at a time', async () => {
  await using bed = await AdmissionBed.open();
  for (const name of [A, B]) await bed.store({ name, ...prepared });
  const [first, second] = await Promise.all([
    bed.review(bed.prepareDownscale, await bed.downscaleRequest(A, 3, 1)),
    bed.review(bed.prepareDownscale, await bed.downscaleRequest(B, 3, 1)),
  ]);
  assert.deepEqual(first, success(3, 1, A));
  const tail = 'statefulset ingester-zone-a is already in process of updating replicas';
  assert.deepEqual(second, deny(refusal(tail, B)));
});

test('prepareDownscale() denies at once when too many reviews are under way (D-30)', async () => {
  await using bed = await AdmissionBed.open({ limit: 0, podTimeout: millis(1) });
  const decision = await bed.review(bed.prepareDownscale, change(3, 1));
  assert.deepEqual(
    decision,
    deny(
      'downscale of statefulsets/my-sts in test from 3 to 1 replicas is not allowed because too many admission reviews are under way, try again',
      'Overloaded',
    ),
  );
});
