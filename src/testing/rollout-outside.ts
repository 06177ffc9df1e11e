import { instant } from '#base/units.ts';
import type { RolloutOutside } from '#operator-rollout-outside.ts';
import { FakeReceiver } from './fake-receiver.ts';

/** Returns an outside in which every receiver answers at once, and nobody reads what it was told. */
export function quietOutside(receiver = new FakeReceiver(() => instant(0))): RolloutOutside {
  return {
    cluster: 'prod-1',
    callback: { sender: receiver, signingKey: undefined, mostAttempts: 10, random: () => 0 },
  };
}
