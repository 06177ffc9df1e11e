import { type Millis, millis, seconds } from '#base/units.ts';
import { takeoverFor } from '#support/world/world-operator.ts';
import {
  awayFor,
  changeAfter,
  type Fault,
  type HostileFault,
  isHostile,
  lastingBeyondRead,
  lastingChange,
  lostFor,
  type PlainFault,
  staleFor,
} from './fault.ts';

/** An answer that never comes is given up by its client within this time (D-53). */
const givenUpAfter: Millis = seconds(60);

/** When a fault at `now` no longer has any effect. */
export function faultEnd(fault: Fault, now: number): Millis {
  return isHostile(fault) ? hostileEnd(fault, now) : plainEnd(fault, now);
}

function hostileEnd(fault: HostileFault, now: number): Millis {
  switch (fault.kind) {
    case 'late-kill':
      return millis(now + Math.max(awayFor + takeoverFor, fault.late));
    case 'pause':
      return millis(now + fault.span + takeoverFor);
    case 'slow-read':
      return millis(now + changeAfter + lastingBeyondRead);
    case 'hiccup':
      return millis(now + seconds(3));
    case 'change':
      return millis(now + lastingChange);
    case 'clock':
      return millis(now);
    default:
      return fault satisfies never;
  }
}

function plainEnd(fault: PlainFault, now: number): Millis {
  if (fault.kind === 'stale') return millis(now + awayFor + Math.max(staleFor, takeoverFor));
  if (fault.kind === 'kill' || fault.kind === 'pod-kill')
    return millis(now + awayFor + takeoverFor);
  if (fault.test === 'cluster 57') return millis(now + lostFor);
  if (fault.kind !== 'answer') return millis(now);
  // A group that is in motion when a process first leads waits for what another program may have sent.
  if (fault.at.resource === 'leases') return millis(now + givenUpAfter + takeoverFor);
  return fault.action.kind === 'delay'
    ? millis(now + Math.min(fault.action.delay, givenUpAfter))
    : millis(now);
}
