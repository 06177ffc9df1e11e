import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, instant, seconds } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { rawStatefulSet } from '../objects/objects.ts';
import { T0 } from '../objects/views.ts';
import type { FleetCall, FleetReply } from '../pods/pod-fleet.ts';
import { KeptDelay } from './delay.ts';

const mirror: Readonly<Record<string, string>> = {
  'grafana.com/rollout-mirror-replicas-from-resource-name': 'ingester',
  'grafana.com/rollout-mirror-replicas-from-resource-kind': 'ReplicaTemplate',
};
const delayed: Readonly<Record<string, string>> = {
  ...mirror,
  'grafana.com/rollout-delayed-downscale': '1h',
  'grafana.com/rollout-prepare-delayed-downscale-url': 'http://pod/prepare',
};

const never: FleetReply = { kind: 'never' };

function answer(body: string, status = 200): FleetReply {
  return { kind: 'answer', after: seconds(0), status, headers: {}, body };
}

/** What a pod answers that is prepared since so many minutes before T0. */
function preparedFor(minutes: number): FleetReply {
  return answer(JSON.stringify({ timestamp: T0 / 1_000 - minutes * 60 }));
}

function call(pod: string, method: string, reply: FleetReply): FleetCall {
  const at = instant(T0 - 1_000);
  return { at, method, pod, namespace: 'test', host: '', path: '', headers: {}, body: '', reply };
}

/** We lower the replicas of a from 3 to `to`, a second after `podCalls`. */
function violations(
  podCalls: readonly FleetCall[],
  { to = 2, annotations = delayed, user = 'us' } = {},
): readonly string[] {
  const invariant = new KeptDelay({ ours: (each) => each === 'us', podCalls });
  invariant.onCommit(shrinking({ to, annotations, user }));
  return invariant.violations.map(({ message }) => message);
}

/** The replicas of a are lowered from 3 to `to`. */
function shrinking({ to = 2, annotations = delayed, user = 'us' }): Commit {
  const commit = {
    revision: 7,
    at: after(T0, seconds(0)),
    verb: 'patch',
    resource: 'statefulsets.apps',
    namespace: 'test',
    name: 'a',
    uid: 'a-uid',
    user,
    callId: 7,
    before: rawStatefulSet({ name: 'a', annotations }),
    after: rawStatefulSet({ name: 'a', annotations, replicas: to }),
  };
  return commit as unknown as Commit;
}

test('SCAL-1 passes a pod that said to be prepared for the delay', () => {
  assert.deepEqual(violations([call('a-2', 'POST', preparedFor(60))]), []);
});

test('SCAL-1 flags a pod that goes before its delay', () => {
  assert.deepEqual(violations([call('a-2', 'POST', preparedFor(59))]), [
    'We took pod test/a-2 after it was prepared for 3540000 ms; 3600000 ms are the delay',
  ]);
});

test('SCAL-1 flags each pod that was never asked', () => {
  const calls = [call('a-2', 'POST', preparedFor(60))];
  assert.deepEqual(violations(calls, { to: 1 }), [
    'We took pod test/a-1, which does not say that it is prepared: it was never called',
  ]);
});

test('SCAL-1 flags a pod that was cancelled since', () => {
  const calls = [call('a-2', 'POST', preparedFor(60)), call('a-2', 'DELETE', answer('{}'))];
  assert.deepEqual(violations(calls), [
    'We took pod test/a-2, which does not say that it is prepared: it was last called with DELETE',
  ]);
});

for (const [fact, age, expected] of [
  [
    'flags a pod that was recreated after it was asked',
    11,
    [
      'We took pod test/a-2, which does not say that it is prepared: it was last called with POST before it was made',
    ],
  ],
  ['passes a pod that was recreated too late to be known', 9, []],
] as const) {
  test(`SCAL-1 ${fact}`, () => {
    const asked = { ...call('a-2', 'POST', preparedFor(90)), at: instant(T0 - age * 1_000 - 500) };
    const invariant = new KeptDelay({ ours: (each) => each === 'us', podCalls: [asked] });
    const made = {
      at: instant(T0 - age * 1_000),
      resource: 'pods',
      namespace: 'test',
      name: 'a-2',
    };
    invariant.onCommit({
      ...made,
      before: undefined,
      after: {},
      user: 'controller',
    } as unknown as Commit);
    invariant.onCommit(shrinking({}));
    assert.deepEqual(
      invariant.violations.map(({ message }) => message),
      expected,
    );
  });
}

for (const [what, reply] of Object.entries({
  'says nothing': never,
  'answers with an error': answer('{"timestamp":1}', 500),
  'answers with what is no JSON': answer('gone'),
  'answers without a timestamp': answer('{}'),
  'answers with timestamp 0': answer('{"timestamp":0}'),
})) {
  test(`SCAL-1 flags a pod that ${what}`, () => {
    assert.equal(violations([call('a-2', 'POST', reply)]).length, 1);
  });
}

test('SCAL-1 is not about sets without a delay, nor about what others write, nor about growth', () => {
  assert.deepEqual(violations([], { annotations: mirror }), []);
  assert.deepEqual(violations([], { user: 'user' }), []);
  assert.deepEqual(violations([], { to: 4 }), []);
});
