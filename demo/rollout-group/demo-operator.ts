import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { admissionOf } from '#command/process/admission.ts';
import { podHttpOf } from '#command/process/pod-http.ts';
import type { Config } from '#config/config.ts';
import { readConfig } from '#config/read-config.ts';
import type { Plan } from '#control/decision/decision.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { runOperator } from '#operator.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createReadiness, type Readiness } from '#telemetry/http/readiness.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { demoNamespace } from '../cluster/demo-namespace.ts';
import type { Scene } from './scene.ts';
import { horizonFlag } from './short-times.ts';

/** What the operator of the demo is given. */
export interface DemoOperatorOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly scene: Scene;
  /** Closed when the operator ends. */
  readonly transport: Transport;
  readonly kubeconfig: string;
  /** Names it in the Lease; new at every start. */
  readonly identity: string;
  /** Called with the port of the webhooks, where the scene has flags for them. */
  readonly onListening: (port: number) => void;
  /** Called when its caches are filled. */
  readonly onReady: () => void;
  readonly onPlan: (plan: Plan) => void;
}

/** Runs the operator as the program itself does, until `signal` aborts. */
export async function runDemoOperator(
  options: DemoOperatorOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, scene, transport, identity, onListening, onPlan } = options;
  const config = configOf(options);
  const registry = createMetricsRegistry();
  const metrics = createOperatorMetrics(registry);
  const budgetMetrics = new BudgetMetrics(registry);
  const podPorts = { clock, log, metrics, env: scene.podEnv };
  const podHttp = podHttpOf(config, podPorts);
  const httpMetrics = createHttpServerMetrics(registry);
  const admission = admissionOf(config, { ...podPorts, registry, httpMetrics });
  try {
    await runOperator(
      {
        config,
        clock,
        log,
        metrics,
        budgetMetrics,
        podHttp,
        readiness: toldReadiness(options),
        transport,
        identity,
        ...(admission !== undefined && {
          admission: { ...admission, host: '127.0.0.1', onListening },
        }),
        onPlan: (_key, plan) => onPlan(plan),
      },
      signal,
    );
  } finally {
    await Promise.all([transport.close(), podHttp.close(), admission?.podHttp.close()]);
  }
}

/** Returns the readiness of a process that is not ready yet, and says when it is. */
function toldReadiness({ onReady }: DemoOperatorOptions): Readiness {
  const readiness = createReadiness();
  const announce = (): void => {
    readiness.announce();
    onReady();
  };
  return { ...readiness, announce };
}

function configOf({ kubeconfig, scene }: DemoOperatorOptions): Config {
  const outcome = readConfig([
    `-kubernetes.namespace=${demoNamespace}`,
    `-kubernetes.config-file=${kubeconfig}`,
    horizonFlag,
    ...scene.operatorFlags,
  ]);
  if (outcome.kind === 'exit') throw new Error(outcome.stderr.trim());
  return outcome.config;
}
