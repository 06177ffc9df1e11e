import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { statusText } from './status-text.ts';

function stored(status: JsonObject, spec: JsonObject = {}): KubernetesObject {
  const metadata = { name: 'kv', namespace: 'demo', uid: 'u', resourceVersion: '1', generation: 2 };
  return { metadata, spec: { percent: 50, ...spec }, status };
}

const rolling = {
  observedGeneration: 2,
  phase: 'RollingOut',
  percentDeployed: 25,
  reason: 'PDBBlocked: 0 disruptions allowed by budget web',
};

test('statusText() tells phase, percentage and reason first', () => {
  assert.equal(
    statusText(stored(rolling)),
    'demo/kv 50%: RollingOut, 25% deployed: PDBBlocked: 0 disruptions allowed by budget web\n',
  );
});

test('statusText() tells that the operator has not looked yet', () => {
  const fresh = statusText(stored({ ...rolling, observedGeneration: 1 }));
  assert.equal(fresh, 'demo/kv 50%: not looked at yet by the operator\n');
});

test('statusText() reads Pods where there are no pods [T-09]', () => {
  const list = [
    { name: 'kv-0', version: 'v1', ready: true },
    { name: 'kv-1', version: 'v2', message: 'CrashLoopBackOff' },
  ];
  const [small, large] = [{ pods: list }, { Pods: list }].map((pods) =>
    statusText(stored({ ...rolling, ...pods })),
  );
  assert.equal(large, small);
  assert.match(small ?? '', /^ {2}versions: {2}1 with v1, 1 with v2$/m);
  assert.match(small ?? '', /^ {2}pod: {7}kv-1: v2, not ready, CrashLoopBackOff$/m);
  assert.doesNotMatch(small ?? '', /kv-0/);
});

test('statusText() tells what is deployed, by whom, and which conditions are bad', () => {
  const text = statusText(
    stored(
      {
        ...rolling,
        paused: true,
        readyReplicas: 3,
        replicas: 4,
        readyReplicasRotor: 2,
        buildMetadata: { branch: 'main', commitSha: 'abc', version: 'v2' },
        rolloutIdentity: 'r1',
        rollout: {
          attempt: 1,
          startedAt: '2026-01-01T00:00:00Z',
          targetReplicas: 2,
          updatedReplicas: 1,
        },
        leak: { leakedReplicas: 2, pods: ['kv-0', 'kv-1'], since: '2026-01-01T00:00:10Z' },
        conditions: [
          { type: 'Ready', status: 'False', reason: 'x', message: 'y' },
          {
            type: 'CallbackDelivered',
            status: 'False',
            reason: 'HostNotAllowed',
            message: 'b.example',
          },
          { type: 'VersionLeak', status: 'True', reason: 'Leaked', message: 'kv-0' },
          { type: 'NotificationsHealthy', status: 'True', reason: 'a', message: 'b' },
        ],
      },
      { pauseRequested: true },
    ),
  );
  assert.equal(
    text.split('\n').slice(1).join('\n'),
    `  version:   v2 (main, abc)
  pods:      3 of 4 ready, 2 in service discovery, 1 updated of 2 that are to be
  pause:     paused by request
  rollout:   identity r1, attempt 1, since 2026-01-01T00:00:00Z
  leak:      2 pods since 2026-01-01T00:00:10Z
  condition: CallbackDelivered False: HostNotAllowed: b.example
  condition: VersionLeak True: Leaked: kv-0
`,
  );
});

test('statusText() tells of a thousand broken pods the first twenty', () => {
  const pods = Array.from({ length: 1_000 }, (_, at) => ({ name: `kv-${at}`, version: 'v1' }));
  const text = statusText(stored({ ...rolling, pods }));
  assert.match(text, /^ {2}pod: {7}kv-19: v1, not ready\n {2}pod: {7}and 980 more\n$/m);
});

test('statusText() keeps what others wrote from steering the terminal', () => {
  const text = statusText(stored({ ...rolling, reason: 'a\u001b[2J\u202eb\nc' }));
  assert.equal(text, 'demo/kv 50%: RollingOut, 25% deployed: a [2J b c\n');
});
