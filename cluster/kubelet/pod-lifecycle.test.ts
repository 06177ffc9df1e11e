import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant, millis, seconds } from '#base/units.ts';
import { objectsAt, textAt } from '../json/read-json.ts';
import type { Behaviour } from './behaviours.ts';
import { Behaviours } from './behaviours.ts';
import { DelayTable } from './delays.ts';
import { crashBackoff, nextStep, type PodState, type Stage, stageAfter } from './pod-lifecycle.ts';
import { statusPatch } from './pod-status.ts';
import type { KubeletPod } from './views.ts';

const pod: KubeletPod = {
  namespace: 'demo',
  name: 'db-0',
  uid: 'uid-0',
  resourceVersion: '1',
  labels: { app: 'db', 'controller-revision-hash': 'db-new' },
  nodeName: 'node-0',
  phase: 'Running',
  isTerminating: false,
  grace: seconds(30),
  containers: [{ name: 'main', image: 'shop:broken' }],
  constraints: { nodeSelector: {}, affinityTerms: [], tolerations: [] },
  readinessGates: [],
  trueConditions: [],
  waitingReason: '',
  restarts: 0,
  podIP: '',
};

const delays = {
  stop: millis(200),
  bind: millis(100),
  start: millis(500),
  ready: millis(1_400),
  jitter: 0,
};

interface Given {
  readonly stage: Stage;
  readonly behaviour?: Behaviour;
  readonly pod?: Partial<KubeletPod>;
  readonly restarts?: number;
}

function state(given: Given): PodState {
  return {
    pod: { ...pod, ...given.pod },
    stage: given.stage,
    restarts: given.restarts ?? 0,
    behaviour: given.behaviour,
    delays,
  };
}

const cases: Record<string, { readonly given: Given; readonly want: string }> = {
  'binds a new pod': { given: { stage: 'unbound' }, want: 'bind 100' },
  'starts a bound pod': { given: { stage: 'bound' }, want: 'start 500' },
  'makes a started pod ready': { given: { stage: 'started' }, want: 'become-ready 1400' },
  'leaves a ready pod alone': { given: { stage: 'ready' }, want: 'nothing' },
  'stops a terminating pod after the stop delay': {
    given: { stage: 'ready', pod: { isTerminating: true } },
    want: 'stop 200',
  },
  'stops a terminating pod after its grace where that is shorter': {
    given: { stage: 'ready', pod: { isTerminating: true, grace: millis(0) } },
    want: 'stop 0',
  },
  'keeps a stuck pod terminating': {
    given: {
      stage: 'ready',
      pod: { isTerminating: true },
      behaviour: { behave: 'stuckTerminating' },
    },
    want: 'nothing',
  },
  'never makes a neverReady pod ready': {
    given: { stage: 'started', behaviour: { behave: 'neverReady' } },
    want: 'nothing',
  },
  'takes Ready from a pod that turns neverReady': {
    given: { stage: 'ready', behaviour: { behave: 'neverReady' } },
    want: 'become-unready 0',
  },
  'makes a slow pod ready later': {
    given: { stage: 'started', behaviour: { behave: 'slow', by: seconds(10) } },
    want: 'become-ready 11400',
  },
  'makes a pod ready when its slow start is over': {
    given: { stage: 'started', behaviour: { behave: 'slowStart', by: seconds(60) } },
    want: 'become-ready 61400',
  },
  'crashes a crashLoop pod after 1 s': {
    given: { stage: 'started', behaviour: { behave: 'crashLoop' } },
    want: 'crash 1000',
  },
  'restarts a crashed pod after 10 s': { given: { stage: 'crashed' }, want: 'restart 10000' },
  'doubles the backoff with each restart': {
    given: { stage: 'crashed', restarts: 2 },
    want: 'restart 40000',
  },
  'fails the pull of a broken image': {
    given: { stage: 'bound', behaviour: { behave: 'imagePullBackOff' } },
    want: 'fail-pull 500',
  },
  'starts a pod whose image can be pulled again': {
    given: { stage: 'pulling' },
    want: 'start 500',
  },
  'fails a failAfter pod from its start': {
    given: { stage: 'started', behaviour: { behave: 'failAfter', after: seconds(5) } },
    want: 'fail 5000',
  },
  'flaps by the period': {
    given: { stage: 'unready', behaviour: { behave: 'flapReady', period: seconds(3) } },
    want: 'become-ready 3000',
  },
  'kills a startThenDie pod 1 s after it is ready': {
    given: { stage: 'ready', behaviour: { behave: 'startThenDie' } },
    want: 'crash 1000',
  },
  'restarts a readyButUnavailable pod before it is available': {
    given: { stage: 'ready', behaviour: { behave: 'readyButUnavailable', readyFor: seconds(2) } },
    want: 'crash 2000',
  },
  'waits for a readiness gate': {
    given: { stage: 'gated', pod: { readinessGates: ['example.com/warm'] } },
    want: 'nothing',
  },
};

for (const [fact, { given, want }] of Object.entries(cases)) {
  test(`nextStep() ${fact}`, () => {
    const next = nextStep(state(given));
    assert.equal(next === undefined ? 'nothing' : `${next.kind} ${next.after}`, want);
  });
}

test('crashBackoff() ends at 5 min', () => {
  assert.equal(crashBackoff(9), 300_000);
});

test('stageAfter() holds a pod back whose readiness gate is not open', () => {
  assert.equal(stageAfter('become-ready', { ...pod, readinessGates: ['x'] }), 'gated');
});

test('statusPatch() names the uid that the step was decided on', () => {
  const input = {
    pod,
    stage: 'bound',
    restarts: 0,
    podIP: '10.0.0.1',
    hostIP: '192.168.0.1',
  } as const;
  const patch = statusPatch('start', {
    ...input,
    now: instant(1_767_225_600_000),
    startedAt: undefined,
    isStarting: false,
  });
  assert.equal(textAt(patch, 'metadata', 'uid'), 'uid-0');
  assert.equal(textAt(patch, 'status', 'phase'), 'Running');
});

test('statusPatch() leaves conditions alone whose status stays', () => {
  const input = { pod, stage: 'started', restarts: 1, podIP: '', hostIP: '' } as const;
  const patch = statusPatch('crash', {
    ...input,
    now: instant(1_767_225_600_000),
    startedAt: undefined,
    isStarting: false,
  });
  assert.deepEqual(objectsAt(patch, 'status', 'conditions'), []);
});

test('Behaviours gives a pod with a broken image the behaviour added for that image', () => {
  const behaviours = new Behaviours(() => undefined);
  behaviours.add({ match: { image: '*:broken' }, behave: 'imagePullBackOff' });
  assert.equal(behaviours.of(pod)?.behave, 'imagePullBackOff');
  assert.equal(behaviours.of({ ...pod, containers: [] }), undefined);
});

test('Behaviours lets the rule that was added last win, until it is removed', () => {
  const behaviours = new Behaviours(() => undefined);
  behaviours.add({ match: { name: 'db-*' }, behave: 'crashLoop' });
  const last = behaviours.add({ match: { revision: 'db-new' }, behave: 'neverReady' });
  assert.equal(behaviours.of(pod)?.behave, 'neverReady');
  last.remove();
  assert.equal(behaviours.of(pod)?.behave, 'crashLoop');
});

test('DelayTable gives the same pod the same jitter, within its share', () => {
  const options = { delays: { start: millis(1_000), jitter: 0.1 } };
  const first = new DelayTable(options, 7).of(pod).start;
  assert.equal(first, new DelayTable(options, 7).of(pod).start);
  assert.ok(first >= 900 && first <= 1_100);
});

test('DelayTable lets an override win for the pods that it selects', () => {
  const overrides = [
    { selector: { matchLabels: { app: 'db' } }, delays: { ready: millis(50) } },
    { selector: { matchLabels: { app: 'web' } }, delays: { ready: millis(70) } },
  ];
  assert.equal(new DelayTable({ overrides }, 1).of(pod).ready, 50);
});
