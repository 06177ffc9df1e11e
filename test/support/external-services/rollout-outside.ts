import type { Clock } from '#base/clock.ts';
import { instant, monotonic } from '#base/units.ts';
import type { statefulsetCapability } from '#operator/statefulset-rollout/capability.ts';
import type { RolloutOutside } from '#operator/statefulset-rollout/rollout-outside.ts';
import { usualAging } from '#statefulset-rollout/events/partial-aging.ts';
import { phases } from '#statefulset-rollout/progress.ts';
import { RolloutMetrics } from '#telemetry/metrics/rollout-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { FakeReceiver } from './fake-receiver.ts';
import { FakeSlack } from './fake-slack.ts';

/** Returns an outside in which every server answers at once, and nothing that was sent is read. */
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

/** Returns what StatefulsetRollouts together with others take, with such an outside. */
export function quietCapability(clock: Clock): Parameters<typeof statefulsetCapability>[0] {
  return {
    outside: quietOutside(),
    isPinAssumed: false,
    partialAging: usualAging,
    rolloutMetrics: new RolloutMetrics(createMetricsRegistry(), { clock, phases }),
  };
}
