import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import {
  readStatefulsetRolloutConfig,
  sharedStatefulsetConfig,
} from '#config/statefulset-config.ts';
import type { Transport } from '#kubernetes/transport.ts';
import { createSlackClient } from '#notification/slack-client.ts';
import { runStatefulsetRollout } from '#operator-statefulset-rollout.ts';
import { phases } from '#statefulset-rollout/progress.ts';
import { createHttpServerMetrics } from '#telemetry/http-server-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { createOperatorMetrics } from '#telemetry/operator-metrics.ts';
import { createReadiness } from '#telemetry/readiness.ts';
import { RolloutMetrics } from '#telemetry/rollout-metrics.ts';
import { openOutside } from '../rollout-outside.ts';
import { demoNamespace } from './demo-namespace.ts';
import type { DemoSlack } from './demo-slack.ts';

/** What the operator of the demo works with. */
export interface PercentOperatorOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Closed when the operator ends. */
  readonly transport: Transport;
  readonly slack: DemoSlack;
}

/** Runs the program as its Deployment starts it, but for probes, metrics and where Slack is. */
export async function runPercentOperator(
  { clock, log, transport, slack }: PercentOperatorOptions,
  signal: AbortSignal,
): Promise<void> {
  const off = ['--health-probe-bind-address=0', '--metrics-bind-address=0'];
  const outcome = readStatefulsetRolloutConfig([...off, '--cluster-name=demo'], {});
  if (outcome.kind === 'exit') throw new Error(outcome.stderr);
  const { config: door } = outcome;
  const registry = createMetricsRegistry();
  const opened = openOutside(door.outside, { clock, log });
  const baseUrl = new URL(slack.url);
  try {
    await runStatefulsetRollout(
      {
        door,
        config: sharedStatefulsetConfig(door, demoNamespace),
        clock,
        log,
        registry,
        transport,
        // No proxy of the environment stands between two ends of one process.
        env: {},
        outside: {
          ...opened,
          slack: {
            open: (token) => createSlackClient({ clock, env: {}, token, baseUrl }),
            ownToken: () => Promise.resolve(slack.token),
          },
        },
        metrics: createOperatorMetrics(registry),
        rolloutMetrics: new RolloutMetrics(registry, { clock, phases }),
        httpMetrics: createHttpServerMetrics(registry),
        readiness: createReadiness(),
        identity: 'demo',
      },
      signal,
    );
  } finally {
    await Promise.all([opened.close(), transport.close()]);
  }
}
