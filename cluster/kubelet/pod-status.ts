import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { timestamp } from '../clock/timestamp.ts';
import { areGatesOpen, crashBackoff, type Stage, type StepKind } from './pod-lifecycle.ts';
import type { KubeletPod } from './views.ts';

/** What a status says besides the step itself. */
export interface StatusInput {
  readonly pod: KubeletPod;
  /** The stage before the step. */
  readonly stage: Stage;
  /** Restarts of its containers, the step's own included. */
  readonly restarts: number;
  readonly podIP: string;
  readonly hostIP: string;
  readonly now: Instant;
  /** When the containers that run now were started; undefined before. */
  readonly startedAt: Instant | undefined;
  /** Whether a start-up probe of its containers still runs after the step; it ends before they are ready. */
  readonly isStarting: boolean;
}

type StatusStep = Exclude<StepKind, 'bind'>;

interface ContainerStates {
  readonly isReady: boolean;
  readonly state: JsonObject;
  readonly lastState?: JsonObject;
}

function terminated(at: string, exitCode: number): JsonObject {
  return {
    terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', finishedAt: at },
  };
}

function running(at: string): JsonObject {
  return { running: { startedAt: at } };
}

function stillRunning(at: string, { startedAt }: StatusInput): JsonObject {
  return running(startedAt === undefined ? at : timestamp(startedAt));
}

function waiting(reason: string, message: string): JsonObject {
  return { waiting: { reason, message } };
}

function crashed(at: string, input: StatusInput): ContainerStates {
  const wait = Math.round(crashBackoff(input.restarts) / 1_000);
  return {
    isReady: false,
    state: waiting('CrashLoopBackOff', `back-off ${wait}s restarting failed container`),
    lastState: terminated(at, 1),
  };
}

const containersAfter: Readonly<
  Record<StatusStep, (at: string, input: StatusInput) => ContainerStates>
> = {
  'fail-pull': () => ({
    isReady: false,
    state: waiting('ImagePullBackOff', 'Back-off pulling image'),
  }),
  start: (at) => ({ isReady: false, state: running(at) }),
  'become-ready': (at, input) => ({ isReady: true, state: stillRunning(at, input) }),
  'become-unready': (at, input) => ({ isReady: false, state: stillRunning(at, input) }),
  crash: crashed,
  restart: (at) => ({ isReady: false, state: running(at), lastState: terminated(at, 1) }),
  fail: (at) => ({ isReady: false, state: terminated(at, 1) }),
  stop: (at) => ({ isReady: false, state: terminated(at, 0) }),
};

function containerStatuses(step: StatusStep, input: StatusInput): readonly JsonObject[] {
  const { isReady, state, lastState } = containersAfter[step](timestamp(input.now), input);
  return input.pod.containers.map(({ name, image }) => ({
    name,
    image,
    imageID: '',
    ready: isReady,
    started: 'running' in state && !input.isStarting,
    restartCount: input.restarts,
    state,
    lastState: lastState ?? {},
  }));
}

function condition(type: string, holds: boolean, input: StatusInput): JsonObject {
  return {
    type,
    status: holds ? 'True' : 'False',
    lastProbeTime: null,
    lastTransitionTime: timestamp(input.now),
    reason: holds ? null : reasonOf(type, input),
  };
}

function reasonOf(type: string, { pod }: StatusInput): string {
  return type === 'Ready' && !areGatesOpen(pod) ? 'ReadinessGatesNotReady' : 'ContainersNotReady';
}

function conditionsOfStart(input: StatusInput): readonly JsonObject[] {
  if (input.stage === 'pulling') return [];
  return [
    condition('Initialized', true, input),
    condition('ContainersReady', false, input),
    condition('Ready', false, input),
  ];
}

function conditionsOfReady(input: StatusInput): readonly JsonObject[] {
  const containers = input.stage === 'gated' ? [] : [condition('ContainersReady', true, input)];
  return areGatesOpen(input.pod) ? [...containers, condition('Ready', true, input)] : containers;
}

/** Returns the conditions whose status the step changes; others keep their transition time. */
function conditions(step: StatusStep, input: StatusInput): readonly JsonObject[] {
  if (step === 'start' || step === 'fail-pull') return conditionsOfStart(input);
  if (step === 'become-ready') return conditionsOfReady(input);
  const { stage } = input;
  const hadContainers = stage === 'ready' || stage === 'gated';
  return [
    ...(hadContainers ? [condition('ContainersReady', false, input)] : []),
    ...(stage === 'ready' ? [condition('Ready', false, input)] : []),
  ];
}

function phaseAfter(step: StatusStep): string | undefined {
  if (step === 'start') return 'Running';
  if (step === 'fail') return 'Failed';
  return step === 'fail-pull' ? 'Pending' : undefined;
}

/** Returns the strategic merge patch of `/status` that a step of the pod's life writes; guarded by the pod's uid. */
export function statusPatch(step: StatusStep, input: StatusInput): JsonObject {
  const phase = phaseAfter(step);
  const placed = step === 'start' || step === 'fail-pull';
  const changed = conditions(step, input);
  return {
    metadata: { uid: input.pod.uid },
    status: {
      ...(phase === undefined ? {} : { phase }),
      ...(changed.length === 0 ? {} : { conditions: changed }),
      ...(placed ? { hostIP: input.hostIP, startTime: timestamp(input.now) } : {}),
      ...(step === 'start' ? { podIP: input.podIP, podIPs: [{ ip: input.podIP }] } : {}),
      containerStatuses: containerStatuses(step, input),
    },
  };
}
