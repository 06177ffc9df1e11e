/** Which faults are tried, and at which calls and events of a run. */
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import type { Call } from '#cluster/event-log.ts';
import type { FaultAction } from '#cluster/faults.ts';
import type { OperatorPodCall } from '#support/world/world.ts';
import { changes } from './change.ts';
import {
  type CallPoint,
  type EventEffect,
  type Fault,
  type PodCallPoint,
  slowFor,
} from './fault.ts';

/** How late what a killed operator had sent arrives, where it does. */
const latenesses: readonly Millis[] = [seconds(3), seconds(60), seconds(119)];
/** How long an operator is stopped where another one may take over: half a Lease, one and a half, and for long. */
const pauses: readonly Millis[] = [seconds(18), seconds(54), minutes(10)];
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

/** What {@link isRoutine} leaves out of `npm test`: `npm run do sweep` tells all. */
const effectsByTurns: readonly EventEffect[] = eventEffects.filter((effect) => effect !== 'skip');

/**
 * Whether `fault` is among those of `npm test` (D-45): of the four ways in which an event breaks its watch each event
 * has two, by turns; all else is there in full.
 */
export function isRoutine(fault: Fault): boolean {
  if (fault.test !== 'cluster 54') return true;
  return (effectsByTurns.indexOf(fault.effect) + fault.at.nth) % 2 === 0;
}
