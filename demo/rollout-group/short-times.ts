import { type Millis, seconds } from '#base/units.ts';

/** How long a leader of the demo waits for the requests of one that was killed, so that one can watch; else 120 s. */
export const demoHorizon: Millis = seconds(6);

/** Every operator of the demo has it. */
export const horizonFlag = '-rollout.predecessor-horizon=6s';

/** What is said where a caller waits for that long. */
export const horizonSentence =
  'the demo shortens this wait to 6 s; it is 120 s unless -rollout.predecessor-horizon says otherwise';

/** How long a Lease of the demo lasts where it changes hands. */
export const leaseFlags: readonly string[] = [
  '-leader-election.lease-duration=3s',
  '-leader-election.renew-deadline=2s',
  '-leader-election.retry-period=500ms',
];

/** What is said where it does. */
export const shortenedSentence =
  'shortened for the demo: a Lease lasts 3 s (15 s by default), its holder acts for 2 s after each renewal (10 s), ' +
  'others try for it every 0.5 s (2 s), and after a crash 6 s are waited out (120 s)';
