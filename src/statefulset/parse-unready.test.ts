import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { parsePod } from './parse-pod.ts';
import type { Unready } from './view.ts';

const TIME = '2026-01-01T00:00:05Z';
const running = { running: { startedAt: TIME } };
const notReady = {
  type: 'Ready',
  status: 'False',
  reason: 'ContainersNotReady',
  lastTransitionTime: TIME,
};

function waiting(reason: string): JsonObject {
  return { state: { waiting: { reason } } };
}

function unreadyOf(status: JsonObject): Unready | undefined {
  return parsePod({ metadata: { name: 'ingester-0' }, status }).unready;
}

const facts: Record<string, { readonly status: JsonObject; readonly want: Partial<Unready> }> = {
  'since when its Ready condition is False': {
    status: { conditions: [notReady] },
    want: { condition: 'False', since: 1_767_225_605_000 as Unready['since'] },
  },
  'that its Ready condition is Unknown, and its node perhaps out of reach': {
    status: { conditions: [{ ...notReady, status: 'Unknown' }] },
    want: { condition: 'Unknown', isOutOfReach: true },
  },
  'no condition that cannot be read': {
    status: { conditions: [{ ...notReady, status: true, lastTransitionTime: 'soon' }] },
    want: { condition: undefined, since: undefined },
  },
  'since when no node takes it': {
    status: {
      conditions: [{ type: 'PodScheduled', status: 'False', lastTransitionTime: TIME }],
    },
    want: {
      condition: undefined,
      isUnscheduled: true,
      since: 1_767_225_605_000 as Unready['since'],
    },
  },
  'nothing of nodes once a kubelet has spoken': {
    status: { conditions: [{ type: 'PodScheduled', status: 'False' }, notReady] },
    want: { isUnscheduled: false },
  },
  'that a container runs whose start-up probe has not succeeded': {
    status: {
      containerStatuses: [
        { state: running, started: true },
        { state: running, started: false },
      ],
    },
    want: { isStartingUp: true },
  },
  'that a sidecar starts up': {
    status: { initContainerStatuses: [{ state: running, started: false }] },
    want: { isStartingUp: true },
  },
  'no start-up of a container that does not run': {
    status: { containerStatuses: [{ ...waiting('CrashLoopBackOff'), started: false }] },
    want: { isStartingUp: false, isBackingOff: true },
  },
  'that an init container is in a crash loop': {
    status: { initContainerStatuses: [waiting('CrashLoopBackOff')] },
    want: { isBackingOff: true },
  },
  'that the second container cannot be made': {
    status: { containerStatuses: [{ state: running }, waiting('CreateContainerConfigError')] },
    want: { isBackingOff: true },
  },
  'no back-off of a pod that is being made': {
    status: { containerStatuses: [waiting('ContainerCreating')] },
    want: { isBackingOff: false },
  },
  'no back-off of a container that ended': {
    status: { containerStatuses: [{ state: { terminated: { reason: 'CrashLoopBackOff' } } }] },
    want: { isBackingOff: false },
  },
  'that the node controller has marked it: its containers are as ready as the lost kubelet left them':
    {
      status: {
        conditions: [{ ...notReady, reason: null }],
        containerStatuses: [{ ready: true, state: running }],
      },
      want: { condition: 'False', isOutOfReach: true },
    },
  'no lost node where a readiness gate is closed': {
    status: {
      conditions: [{ ...notReady, reason: 'ReadinessGatesNotReady' }],
      containerStatuses: [{ ready: true, state: running }],
    },
    want: { isOutOfReach: false },
  },
  'no lost node where a container is not ready': {
    status: { conditions: [notReady], containerStatuses: [{ ready: false, state: running }] },
    want: { isOutOfReach: false },
  },
  'that its node is lost by the reason of the status': {
    status: { reason: 'NodeLost', conditions: [notReady] },
    want: { isOutOfReach: true },
  },
  'that it is about to be taken away for its node': {
    status: { conditions: [notReady, { type: 'DisruptionTarget', status: 'True' }] },
    want: { isOutOfReach: true },
  },
};

for (const [what, { status, want }] of Object.entries(facts)) {
  test(`parsePod() shows ${what}`, () => {
    assert.deepEqual({ ...unreadyOf(status), ...want }, unreadyOf(status));
  });
}

test('parsePod() keeps nothing more of a pod that is Ready', () => {
  assert.equal(unreadyOf({ conditions: [{ ...notReady, status: 'True' }] }), undefined);
});

const repeated = [
  'CrashLoopBackOff',
  'ImagePullBackOff',
  'ErrImagePull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
];

for (const reason of repeated) {
  test(`parsePod() knows ${reason} as a reason that the kubelet repeats (D-48)`, () => {
    const ended = { state: { terminated: { reason: 'OOMKilled' } } };
    const pod = parsePod({ status: { containerStatuses: [ended, waiting(reason)] } });
    assert.equal(pod.unready?.isBackingOff, true);
    assert.equal(pod.trouble, reason);
  });
}

test('parsePod() names why no node takes a pod', () => {
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' };
  assert.equal(parsePod({ status: { conditions: [condition] } }).trouble, 'Unschedulable');
});
