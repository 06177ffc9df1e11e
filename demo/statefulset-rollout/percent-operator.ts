import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { openOutside } from '#command/process/rollout-outside.ts';
import {
  readStatefulsetRolloutConfig,
  sharedStatefulsetConfig,
} from '#config/statefulset-config.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { createSlackClient } from '#notification/slack-client/slack-client.ts';
import { runStatefulsetRollout } from '#operator/statefulset-rollout/statefulset-rollout.ts';
import { phases } from '#statefulset-rollout/progress.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createReadiness } from '#telemetry/http/readiness.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { RolloutMetrics } from '#telemetry/metrics/rollout-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { demoNamespace } from '../cluster/demo-namespace.ts';
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
        // No proxy of the environment is between two ends of one process.
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
