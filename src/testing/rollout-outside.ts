import { instant, monotonic } from '#base/units.ts';
import type { RolloutOutside } from '#operator-rollout-outside.ts';
import { FakeReceiver } from './fake-receiver.ts';
import { FakeSlack } from './fake-slack.ts';

/** Returns an outside in which everybody answers at once, and nobody reads what they were told. */
export function quietOutside(
  receiver = new FakeReceiver(() => instant(0)),
  slack = new FakeSlack(() => monotonic(0)),
): RolloutOutside {
  return {
    cluster: 'prod-1',
    callback: { sender: receiver, signingKey: undefined, mostAttempts: 10, random: () => 0 },
    slack: { open: () => slack, ownToken: undefined },
  };
}
