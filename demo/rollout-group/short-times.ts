import { type Millis, seconds } from '#base/units.ts';

/** Every operator of the demo has it. */
export const horizonFlag = '-rollout.predecessor-horizon=6s';

/** What is said where a caller waits for that long. */
export const horizonSentence =
  'the demo shortens this wait to 6 s; it is 120 s unless -rollout.predecessor-horizon says otherwise';

/** How long the holder of a Lease of the demo acts after its last renewal: no other leads before that. */
export const demoLease: Millis = seconds(2);

/** How long a Lease of the demo lasts where it changes hands. */
export const leaseFlags: readonly string[] = [
  '-leader-election.lease-duration=3s',
  '-leader-election.renew-deadline=2s',
  '-leader-election.retry-period=500ms',
];

/** What is said where it does. */
export const shortenedSentence =
  'shortened for the demo: a Lease lasts 3 s (15 s by default), its holder acts for 2 s after each renewal (10 s), ' +
  'others try for it every 0.5 s (2 s), and a request that may still arrive after a crash is waited for for 6 s at most (120 s)';
