import type { InvariantId, Violation } from '#support/invariants/invariant.ts';
import type { Fault } from './fault.ts';

/** Promises that a run with some fault need not keep. */
export interface Exemption {
  /** Why that follows from the fault, and from nothing in the operator. */
  readonly because: string;
  readonly test: Fault['test'];
  readonly spares: readonly InvariantId[];
  /** Only violations that read so. @default all */
  readonly text?: RegExp;
}

/** All that any run is spared; reviewed, and as short as can be (SWEEP-2 c). */
export const exemptions: readonly Exemption[] = [
  {
    because:
      'A dropped event breaks the contract of watches: what the operator believes may then be wrong, and ' +
      'only the strict promises and convergence are claimed (D-45).',
    test: 'cluster 57',
    spares: ['EXCL-2', 'MAXU-2', 'REV-2', 'SHOWN', 'D-7', 'LIVE-2', 'RC-23', 'RC-40'],
  },
  {
    because:
      'The uid in a request is that of the pod in the cache, which the dropped event would have taken out of it. ' +
      'That nothing with another uid goes is still judged.',
    test: 'cluster 57',
    spares: ['REV-1'],
    text: /^We sent a removal of pod .*; our view showed /,
  },
  {
    because:
      'For 60 s even consistent reads of the successor show the past, so the reason that it gives is true of the ' +
      'past. What it does is judged in full.',
    test: 'cluster 56',
    spares: ['LIVE-2'],
  },
];

/** Whether a run with `fault` is held to the promise that `violation` broke. */
export function isClaimed({ id, message }: Violation, fault: Fault | undefined): boolean {
  return !exemptions.some(
    ({ test, spares, text }) =>
      test === fault?.test && spares.includes(id) && (text === undefined || text.test(message)),
  );
}
