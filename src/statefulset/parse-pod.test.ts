import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { isReady } from './availability.ts';
import { parsePod } from './parse-pod.ts';

const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const ready = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:05Z' };

function pod(status: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { metadata: { name: 'ingester-0', ...metadata }, status };
}

const table: Record<string, { readonly pod: JsonObject; readonly isReady: boolean }> = {
  'a running pod whose containers are all ready': {
    pod: pod({
      phase: 'Running',
      conditions: [ready],
      containerStatuses: [
        { ready: true, state: running },
        { ready: true, state: running },
      ],
    }),
    isReady: true,
  },
  'a pod with one container that is not ready': {
    pod: pod({
      phase: 'Running',
      conditions: [ready],
      containerStatuses: [
        { ready: true, state: running },
        { ready: false, state: running },
      ],
    }),
    isReady: false,
  },
  'a pod with a terminated container': {
    pod: pod({
      phase: 'Running',
      conditions: [ready],
      containerStatuses: [{ ready: true, state: { terminated: { exitCode: 0 } } }],
    }),
    isReady: false,
  },
  'a failed pod': {
    pod: pod({ phase: 'Failed', conditions: [ready], containerStatuses: [] }),
    isReady: false,
  },
  'a terminating pod': {
    pod: pod(
      { phase: 'Running', conditions: [ready] },
      { deletionTimestamp: '2026-01-01T00:00:10Z' },
    ),
    isReady: false,
  },
  'a ready pod without container statuses': {
    pod: pod({ phase: 'Running', conditions: [ready] }),
    isReady: true,
  },
  'a pod whose Ready condition is false, as a readiness gate makes it (D-10)': {
    pod: pod({
      phase: 'Running',
      conditions: [{ ...ready, status: 'False' }],
      containerStatuses: [{ ready: true, state: running }],
    }),
    isReady: false,
  },
  'a pod whose Ready condition is unknown, as of a node that is lost': {
    pod: pod({ phase: 'Running', conditions: [{ ...ready, status: 'Unknown' }] }),
    isReady: false,
  },
  'a pod without a Ready condition': {
    pod: pod({ phase: 'Running', containerStatuses: [{ ready: true, state: running }] }),
    isReady: false,
  },
  'a pod whose Ready condition has no readable time: whether it is ready is said without a clock (D-55)':
    {
      pod: pod({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }),
      isReady: true,
    },
  'a pod whose Ready condition has no readable status': {
    pod: pod({ phase: 'Running', conditions: [{ ...ready, status: 'Perhaps' }] }),
    isReady: false,
  },
  'a pod of a phase that is not known': {
    pod: pod({ phase: 'Dreaming', conditions: [ready] }),
    isReady: false,
  },
  'an object that is no pod at all': { pod: { status: 7, metadata: [] }, isReady: false },
};

for (const [what, row] of Object.entries(table)) {
  test(`isReady() [scenario 37] answers ${row.isReady} for ${what}`, () => {
    assert.equal(isReady(parsePod(row.pod)), row.isReady);
  });
}

test('parsePod() takes the owner with controller: true, whatever its kind or place', () => {
  const ownerReferences = [
    { kind: 'Thing', name: 'a', uid: 'uid-a' },
    { kind: 'StatefulSet', name: 'b', uid: 'uid-b', controller: true },
  ];
  assert.equal(parsePod(pod({}, { ownerReferences })).controllerUid, 'uid-b');
  assert.equal(
    parsePod(pod({}, { ownerReferences: ownerReferences.slice(0, 1) })).controllerUid,
    undefined,
  );
});

const troubles: Record<
  string,
  { readonly statuses: readonly JsonObject[]; readonly want?: string }
> = {
  'the reason that a container waits for': {
    statuses: [{ state: { waiting: { reason: 'ImagePullBackOff' } } }],
    want: 'ImagePullBackOff',
  },
  'the reason that a container ended for': {
    statuses: [{ state: running }, { state: { terminated: { reason: 'OOMKilled' } } }],
    want: 'OOMKilled',
  },
  'no trouble of a pod that is being created': {
    statuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }],
  },
  'no trouble of running containers': { statuses: [{ state: running }] },
};

for (const [what, { statuses, want }] of Object.entries(troubles)) {
  test(`parsePod() names ${what}`, () => {
    assert.equal(parsePod(pod({ containerStatuses: statuses })).trouble, want);
  });
}

const start = '2026-01-01T00:00:00Z';
const lost = (lastTransitionTime: string): JsonObject => ({
  type: 'Ready',
  status: 'False',
  lastTransitionTime,
});

const losses: Record<string, { readonly status: JsonObject; readonly want: number | undefined }> = {
  'the time from its start to the loss of its readiness': {
    status: { startTime: start, conditions: [lost('2026-01-01T00:01:30Z')] },
    want: 90_000,
  },
  '0 for a pod that was never ready': {
    status: { startTime: start, conditions: [lost(start)] },
    want: 0,
  },
  'nothing for a pod that is ready': {
    status: { startTime: start, conditions: [ready] },
    want: undefined,
  },
  'nothing without a start': { status: { conditions: [lost(start)] }, want: undefined },
  'nothing without a Ready condition': { status: { startTime: start }, want: undefined },
};

for (const [what, { status, want }] of Object.entries(losses)) {
  test(`parsePod() shows as unreadyAfter ${what}`, () => {
    assert.equal(parsePod(pod(status)).unreadyAfter, want);
  });
}

test('parsePod() keeps what grafana.com/ready-time says as it is there', () => {
  const noted = (annotations: JsonObject): JsonObject => pod({ phase: 'Running' }, { annotations });
  assert.equal(
    parsePod(noted({ 'grafana.com/ready-time': '2026-01-01T00:00:00Z' })).readyTime,
    '2026-01-01T00:00:00Z',
  );
  assert.equal(parsePod(noted({ 'grafana.com/ready-time': 'soon' })).readyTime, 'soon');
  assert.equal(parsePod(noted({})).readyTime, undefined);
});
