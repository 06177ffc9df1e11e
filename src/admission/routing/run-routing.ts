import { aborted } from '#base/async/aborted.ts';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { millis, seconds } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { GaugeMetric, MetricsRegistry } from '#telemetry/metrics.ts';
import { labelOwnPod, type OwnNames, readOwnPod, readService, unlabelOwnPod } from './own-pod.ts';
import { LEADER_LABEL, planRouting, type Routing, routingReasons } from './plan-routing.ts';

/** What {@link runRouting} works with. */
export interface RoutingOptions extends OwnNames {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricsRegistry;
}

/** How soon is looked again while reviews do not come here: at first, and at last. */
const shortest = seconds(5);
const longest = seconds(60);

/** Declares the gauge of {@link runRouting} in `registry`; it has no series until something is wrong. */
export function declareRouting(registry: MetricsRegistry): GaugeMetric<'reason'> {
  return registry.gauge({
    name: 'rollout_operator_webhook_reviews_not_routed',
    help: 'Why the Service of the webhooks sends no review to this replica: 1 with the reason, else absent.',
    labels: ['reason'],
  });
}

/**
 * Has reviews come to this replica, which answers them whether it leads or not: gives its pod the label by which the Service
 * of the peer selects the one that leads, and looks whether the Service selects what the pod has. What is wrong is logged and
 * shown, and looked for again until it is mended. Takes the label off when `signal` aborts, which is when readiness ends. Outside
 * of a cluster, where neither variable names a pod, it does nothing.
 *
 * @throws never
 */
export async function runRouting(options: RoutingOptions, signal: AbortSignal): Promise<void> {
  if (options.podName === undefined && options.hostname === undefined) return;
  const shown = new ShownRouting(options.log, declareRouting(options.registry));
  const { client, clock } = options;
  let labelled = '';
  let pause = shortest;
  while (!signal.aborted) {
    const pod = await readOwnPod(client, options, signal);
    const label = await labelOwnPod(client, options, { pod, signal });
    // One without an answer may have been set.
    if (label.kind === 'set' || label.kind === 'failed') labelled = pod.uid || labelled;
    const service = await readService(client, options, signal);
    if (signal.aborted) break;
    const routing = planRouting({ service, pod: pod.reading, label });
    shown.show(routing);
    if (routing.kind !== 'not reached') await aborted(signal);
    else await clock.sleep(pause, { signal, background: true }).catch(() => undefined);
    pause = millis(Math.min(2 * pause, longest));
  }
  if (labelled !== '') await unlabel(options, labelled);
}

/** A pod that ends is no endpoint of its Service any more, whatever its labels. */
async function unlabel(options: RoutingOptions, uid: string): Promise<void> {
  try {
    await unlabelOwnPod(options.client, options, uid);
  } catch (error) {
    options.log.info('the label of the pod stays', { label: LEADER_LABEL, err: errorOf(error) });
  }
}

/** Says what has changed, and nothing twice. */
class ShownRouting {
  readonly #log: Logger;
  readonly #gauge: GaugeMetric<'reason'>;
  #said = '';

  constructor(log: Logger, gauge: GaugeMetric<'reason'>) {
    this.#log = log;
    this.#gauge = gauge;
  }

  show(routing: Routing): void {
    const shown = routing.kind === 'not reached' ? routing.reason : undefined;
    for (const reason of routingReasons) {
      if (reason === shown) this.#gauge.set({ reason }, 1);
      else this.#gauge.remove({ reason });
    }
    const text = routing.kind === 'reached' ? '' : routing.why;
    if (text === this.#said) return;
    this.#said = text;
    if (routing.kind === 'reached') this.#log.info('reviews reach this replica');
    else if (routing.kind === 'unknown') {
      this.#log.info('cannot find out whether reviews reach this replica', { why: text });
    } else {
      this.#log.warn('no review reaches this replica', { reason: routing.reason, why: text });
    }
  }
}
