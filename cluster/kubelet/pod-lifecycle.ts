import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import type { Behaviour } from './behaviours.ts';
import type { Delays } from './delays.ts';
import type { KubeletPod } from './views.ts';

/** How far a pod has come. */
export type Stage =
  | 'unbound'
  | 'bound'
  /** Bound; the image cannot be pulled. */
  | 'pulling'
  /** Containers run; not Ready yet. */
  | 'started'
  /** Containers are ready; a readiness gate is not. */
  | 'gated'
  | 'ready'
  /** Was Ready, containers run on. */
  | 'unready'
  /** Containers ended and wait for their restart. */
  | 'crashed'
  /** Failed or Succeeded. */
  | 'ended';

/** What happens to a pod next. */
export type StepKind =
  | 'bind'
  | 'fail-pull'
  | 'start'
  | 'become-ready'
  | 'become-unready'
  | 'crash'
  | 'restart'
  | 'fail'
  | 'stop';

/** The next step of a pod, `after` from when the one before was due. */
export interface Step {
  readonly kind: StepKind;
  readonly after: Millis;
}

/** What the next step depends on. */
export interface PodState {
  readonly pod: KubeletPod;
  readonly stage: Stage;
  /** Restarts of its containers so far. */
  readonly restarts: number;
  readonly behaviour: Behaviour | undefined;
  readonly delays: Delays;
}

const firstBackoff = seconds(10);
const longestBackoff = minutes(5);
const briefRun = seconds(1);

/** Returns how long containers wait before their next start: 10 s, doubling up to 5 min (KU-5). */
export function crashBackoff(restarts: number): Millis {
  return millis(Math.min(longestBackoff, firstBackoff * 2 ** Math.min(restarts, 10)));
}

function step(kind: StepKind, after: Millis): Step {
  return { kind, after };
}

/** Returns the stage that a pod's own status shows; for pods met for the first time. */
export function stageOf(pod: KubeletPod): Stage {
  if (pod.phase === 'Failed' || pod.phase === 'Succeeded') return 'ended';
  if (pod.nodeName === '') return 'unbound';
  if (pod.phase !== 'Running') return 'bound';
  if (pod.trueConditions.includes('Ready')) return 'ready';
  if (pod.waitingReason === 'CrashLoopBackOff') return 'crashed';
  return pod.trueConditions.includes('ContainersReady') ? 'gated' : 'started';
}

/** Reports whether all readiness gates of a pod are True. */
export function areGatesOpen(pod: KubeletPod): boolean {
  return pod.readinessGates.every((gate) => pod.trueConditions.includes(gate));
}

function afterStart({ behaviour, delays, restarts }: PodState): Step | undefined {
  switch (behaviour?.behave) {
    case 'neverReady':
      return undefined;
    case 'crashLoop':
      return step('crash', behaviour.runsFor ?? briefRun);
    case 'failAfter':
      return step('fail', behaviour.after);
    case 'slow':
    case 'slowStart':
      return step('become-ready', millis(delays.ready + behaviour.by));
    case 'startThenDie':
      return restarts > 0 ? step('crash', briefRun) : step('become-ready', delays.ready);
    default:
      return step('become-ready', delays.ready);
  }
}

function whileReady({ behaviour }: PodState): Step | undefined {
  switch (behaviour?.behave) {
    case 'neverReady':
      return step('become-unready', millis(0));
    case 'flapReady':
      return step('become-unready', behaviour.period);
    case 'crashLoop':
      return step('crash', behaviour.runsFor ?? briefRun);
    case 'startThenDie':
      return step('crash', briefRun);
    case 'readyButUnavailable':
      return step('crash', behaviour.readyFor ?? briefRun);
    case 'failAfter':
      return step('fail', behaviour.after);
    default:
      return undefined;
  }
}

function whileUnready({ behaviour, delays }: PodState): Step | undefined {
  if (behaviour?.behave === 'neverReady') return undefined;
  if (behaviour?.behave === 'flapReady') return step('become-ready', behaviour.period);
  return step('become-ready', delays.ready);
}

function whilePulling(state: PodState): Step | undefined {
  if (state.behaviour?.behave === 'imagePullBackOff') {
    return state.stage === 'pulling' ? undefined : step('fail-pull', state.delays.start);
  }
  return step('start', state.delays.start);
}

/**
 * Returns what follows a crash. A readyButUnavailable container restarts at once: the pod is to be Ready often, and never
 * for long.
 */
function afterCrash({ behaviour, restarts }: PodState): Step {
  if (behaviour?.behave === 'readyButUnavailable') return step('restart', millis(0));
  return step('restart', crashBackoff(restarts));
}

const stepIn: Readonly<Record<Stage, (state: PodState) => Step | undefined>> = {
  unbound: ({ delays }) => step('bind', delays.bind),
  bound: whilePulling,
  pulling: whilePulling,
  started: afterStart,
  gated: ({ pod }) => (areGatesOpen(pod) ? step('become-ready', millis(0)) : undefined),
  ready: whileReady,
  unready: whileUnready,
  crashed: afterCrash,
  ended: () => undefined,
};

/**
 * Returns what happens to a pod next and when (KU-3…KU-5); undefined while nothing does until the pod, its behaviour or its
 * readiness gates change.
 */
export function nextStep(state: PodState): Step | undefined {
  const { pod, stage, delays, behaviour } = state;
  if (!pod.isTerminating) return stepIn[stage](state);
  if (behaviour?.behave === 'stuckTerminating') return undefined;
  return step('stop', millis(Math.min(pod.grace, delays.stop)));
}

const stages: Readonly<Record<Exclude<StepKind, 'become-ready'>, Stage>> = {
  bind: 'bound',
  'fail-pull': 'pulling',
  start: 'started',
  restart: 'started',
  'become-unready': 'unready',
  crash: 'crashed',
  fail: 'ended',
  stop: 'ended',
};

/** Returns the stage after a step; a stopped pod is gone. */
export function stageAfter(kind: StepKind, pod: KubeletPod): Stage {
  if (kind === 'become-ready') return areGatesOpen(pod) ? 'ready' : 'gated';
  return stages[kind];
}
