import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import type { Call } from '#cluster/event-log.ts';
import type { FaultAction, FaultMatch } from '#cluster/faults.ts';
import type { OperatorPodCall } from '#support/world/world.ts';
import { type Change, changes } from './change.ts';

/** One call of an operator: the `nth` of its kind that this process sends. */
export interface CallPoint {
  readonly client: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** From 1. */
  readonly nth: number;
}

/** One call of a pod by an operator: the `nth` of its kind that this process sends. */
export interface PodCallPoint extends OperatorPodCall {
  /** From 1. */
  readonly nth: number;
}

/**
 * One change that a watch of an operator is to show: the `nth` commit of its resource since the operator
 * was ready. */
export interface EventPoint {
  readonly resource: string;
  /** From 1. */
  readonly nth: number;
}

/** What happens to an event of a watch (cluster 54, 57). */
export type EventEffect = 'break' | 'expire' | 'garbage' | 'split' | 'skip';

/** What goes wrong, once, in one run. */
export type Fault =
  | {
      readonly kind: 'answer';
      readonly test: 'cluster 53';
      readonly at: CallPoint;
      readonly effect: string;
      readonly action: FaultAction;
    }
  | {
      readonly kind: 'event';
      readonly test: 'cluster 54' | 'cluster 57';
      readonly at: EventPoint;
      readonly effect: EventEffect;
    }
  | {
      readonly kind: 'kill';
      readonly test: 'cluster 55';
      readonly at: CallPoint;
      readonly moment: 'before' | 'after';
    }
  /** The operator dies before the write arrives, which it does `late` after. */
  | {
      readonly kind: 'late-kill';
      readonly test: 'LATE';
      readonly at: CallPoint;
      readonly late: Millis;
    }
  /** The operator is stopped, as by SIGSTOP, when its write has arrived, and runs on after `span`. */
  | {
      readonly kind: 'pause';
      readonly test: 'PAUSE';
      readonly at: CallPoint;
      readonly span: Millis;
    }
  /** A read takes 30 s, and 2 s after it was sent the world changes. */
  | {
      readonly kind: 'slow-read';
      readonly test: 'SLOW';
      readonly at: CallPoint;
      readonly change: Change;
    }
  /** All probes fail for 2 s just after a write took effect. */
  | {
      readonly kind: 'hiccup';
      readonly test: 'HICCUP';
      readonly at: CallPoint;
      readonly where: 'one zone' | 'all zones';
    }
  /** The world changes right after the `nth` deletion (from 1) was sent. */
  | {
      readonly kind: 'change';
      readonly test: 'CHANGE';
      readonly nth: number;
      readonly change: Change;
    }
  /** The wall clock of the operator is set after a write took effect. */
  | {
      readonly kind: 'clock';
      readonly test: 'CLOCK';
      readonly at: CallPoint;
      readonly step: Millis;
    }
  | {
      readonly kind: 'pod-kill';
      readonly test: 'cluster 55';
      readonly at: PodCallPoint;
      readonly moment: 'before' | 'after';
    }
  /** The operator dies after the write; its successor sees the state from before it for {@link staleFor}. */
  | { readonly kind: 'stale'; readonly test: 'cluster 56'; readonly at: CallPoint };

/** How long the successor of a stale restart is held in the past (SWEEP-1). */
export const staleFor: Millis = seconds(60);

/** How long an event stays lost: then the watch expires, and its client lists again. */
export const lostFor: Millis = seconds(60);

/** How long a killed operator is away. */
export const awayFor: Millis = seconds(1);

/** How late what a killed operator had sent arrives, where it does. */
const latenesses: readonly Millis[] = [seconds(3), seconds(60), seconds(119)];
/** How long an operator is stopped where another one may take over: half a Lease, one and a half, and for long. */
const pauses: readonly Millis[] = [seconds(18), seconds(54), minutes(10)];
/** How long a slow read takes, and how long after its sending the world changes. */
export const slowFor: Millis = seconds(30);
export const changeAfter: Millis = seconds(2);
/** How long a change lasts: so long that the slow read ends in the middle of it; and otherwise. */
export const lastingBeyondRead: Millis = seconds(45);
export const lastingChange: Millis = seconds(20);
/** How far wall clocks are set. */
const clockSteps: readonly Millis[] = [minutes(60), millis(0 - minutes(60))];

const writeVerbs = new Set(['create', 'update', 'patch', 'delete']);

/** What may happen to the answer of a call of each sort. */
const onEveryCall: Readonly<Record<string, FaultAction>> = {
  '500': { kind: 'error', code: 500 },
  '429': { kind: 'throttle', retryAfterSeconds: 1 },
  'reset before': { kind: 'drop', when: 'before' },
  'delay 30 s': { kind: 'delay', delay: slowFor },
};
const onWrites: Readonly<Record<string, FaultAction>> = {
  ...onEveryCall,
  '409': { kind: 'error', code: 409 },
  'reset after': { kind: 'drop', when: 'after' },
  'answer after 30 s': { kind: 'delay', delay: seconds(30), when: 'after' },
};
const onReads: Readonly<Record<string, FaultAction>> = {
  ...onEveryCall,
  'reset after': { kind: 'drop', when: 'after' },
};
const onOneRead: Readonly<Record<string, FaultAction>> = {
  ...onReads,
  'never answered': { kind: 'delay', delay: minutes(600) },
};
const onWatches: Readonly<Record<string, FaultAction>> = {
  ...onEveryCall,
  '410': { kind: 'watch', action: 'expireHttp' },
};

const eventEffects: readonly EventEffect[] = ['break', 'expire', 'garbage', 'split', 'skip'];

/** What a hostile world does (D-57). */
export type HostileFault = Extract<
  Fault,
  { test: 'LATE' | 'PAUSE' | 'SLOW' | 'HICCUP' | 'CHANGE' | 'CLOCK' }
>;

/** Any other fault. */
export type PlainFault = Exclude<Fault, HostileFault>;

const hostileTests: ReadonlySet<Fault['test']> = new Set([
  'LATE',
  'PAUSE',
  'SLOW',
  'HICCUP',
  'CHANGE',
  'CLOCK',
]);

/** Whether `fault` is one of a hostile world. */
export function isHostile(fault: Fault): fault is HostileFault {
  return hostileTests.has(fault.test);
}

/** What a rule or a hook has to match to strike at `point`, together with `nth`. */
export function matchOf({ client, verb, group, resource, subresource }: CallPoint): FaultMatch {
  return { client, verb, group, resource, subresource };
}

/** Numbers the calls of operators, in the order in which they reached the server. */
export function callPoints(calls: readonly Call[]): readonly CallPoint[] {
  const seen = new Map<string, number>();
  return [...calls]
    .sort((one, other) => one.callId - other.callId)
    .map(({ client, verb, resource, subresource }) => {
      const [plural = '', ...group] = resource.split('.');
      const point = { client, verb, group: group.join('.'), resource: plural, subresource };
      const key = Object.values(point).join(' ');
      const nth = (seen.get(key) ?? 0) + 1;
      seen.set(key, nth);
      return { ...point, nth };
    });
}

/** All that can go wrong at `point`. */
export function callFaults(point: CallPoint): readonly Fault[] {
  const isWrite = writeVerbs.has(point.verb);
  const actions = isWrite ? onWrites : point.verb === 'watch' ? onWatches : onOneRead;
  const answers = Object.entries(actions).map(
    ([effect, action]): Fault => ({
      kind: 'answer',
      test: 'cluster 53',
      at: point,
      effect,
      action,
    }),
  );
  if (!isWrite) return answers;
  return [
    ...answers,
    { kind: 'kill', test: 'cluster 55', at: point, moment: 'before' },
    { kind: 'kill', test: 'cluster 55', at: point, moment: 'after' },
    { kind: 'stale', test: 'cluster 56', at: point },
  ];
}

/**
 * What a hostile world does at `point` (D-57): a killed operator's request arrives late, probes fail all at once, the
 * clock is set; and while a read is slow, the world changes.
 */
export function hostileFaults(at: CallPoint): readonly Fault[] {
  // A read of the Lease is no part of a pass.
  if (at.resource === 'leases' && !isDeed(at)) return [];
  if (at.verb === 'get' || at.verb === 'list') {
    return changes.map((change) => ({ kind: 'slow-read', test: 'SLOW', at, change }));
  }
  if (!isDeed(at)) return [];
  const late = latenesses.map((late): Fault => ({ kind: 'late-kill', test: 'LATE', at, late }));
  // A renewal changes nothing of the group, and goes on when the story is over.
  if (at.resource === 'leases') return late;
  return [
    ...late,
    ...(['one zone', 'all zones'] as const).map(
      (where): Fault => ({ kind: 'hiccup', test: 'HICCUP', at, where }),
    ),
    ...clockSteps.map((step): Fault => ({ kind: 'clock', test: 'CLOCK', at, step })),
  ];
}

/** Where there are several replicas: the one that writes at `at` is stopped for a while. */
export function pauseFaults(at: CallPoint): readonly Fault[] {
  if (!isDeed(at)) return [];
  return pauses.map((span): Fault => ({ kind: 'pause', test: 'PAUSE', at, span }));
}

/** Whether a call changes what is rolled: not an Event, nor a question about permissions. */
function isDeed({ verb, resource }: CallPoint): boolean {
  return ['update', 'patch', 'delete'].includes(verb) && resource !== 'events';
}

/** Each change right after each of `count` deletions. */
export function changeFaults(count: number): readonly Fault[] {
  return Array.from({ length: count }, (_, index) => index + 1).flatMap((nth) =>
    changes.map((change): Fault => ({ kind: 'change', test: 'CHANGE', nth, change })),
  );
}

/** Numbers the calls of pods, in the order in which they were made. */
export function podCallPoints(calls: readonly OperatorPodCall[]): readonly PodCallPoint[] {
  const seen = new Map<string, number>();
  return calls.map(({ client, method, pod }) => {
    const key = `${client} ${method} ${pod}`;
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    return { client, method, pod, nth };
  });
}

/** The operator dies before the call arrives, and after the pod has acted on it. */
export function podCallFaults(at: PodCallPoint): readonly Fault[] {
  const moments = ['before', 'after'] as const;
  return moments.map((moment): Fault => ({ kind: 'pod-kill', test: 'cluster 55', at, moment }));
}

/** All that can go wrong with the events of `resource`, of which there were `count`. */
export function eventFaults(resource: string, count: number): readonly Fault[] {
  return Array.from({ length: count }, (_, index) => index + 1).flatMap((nth) =>
    eventEffects.flatMap((effect): readonly Fault[] => {
      if (effect !== 'skip')
        return [{ kind: 'event', test: 'cluster 54', at: { resource, nth }, effect }];
      // Only an event that a later one follows may be dropped (D-45).
      if (nth === count) return [];
      return [{ kind: 'event', test: 'cluster 57', at: { resource, nth }, effect }];
    }),
  );
}

/** What {@link isRoutine} leaves out of `npm test`: `npm run sweep` tells all. */
const effectsByTurns: readonly EventEffect[] = eventEffects.filter((effect) => effect !== 'skip');

/**
 * Whether `fault` is among those of `npm test` (D-45): of the four ways in which an event breaks its watch each event
 * has two, by turns; all else is there in full.
 */
export function isRoutine(fault: Fault): boolean {
  if (fault.test !== 'cluster 54') return true;
  return (effectsByTurns.indexOf(fault.effect) + fault.at.nth) % 2 === 0;
}
