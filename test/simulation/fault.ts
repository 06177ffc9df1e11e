import { type Millis, seconds } from '#base/units.ts';
import type { FaultAction, FaultMatch } from '#cluster/faults.ts';
import type { OperatorPodCall } from '#support/world/world.ts';
import type { Change } from './change.ts';

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

/** How long a slow read takes, and how long after its sending the world changes. */
export const slowFor: Millis = seconds(30);
export const changeAfter: Millis = seconds(2);
/** How long a change lasts: so long that the slow read ends in the middle of it; and otherwise. */
export const lastingBeyondRead: Millis = seconds(45);
export const lastingChange: Millis = seconds(20);
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
