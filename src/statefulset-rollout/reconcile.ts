import { millis } from '#base/units.ts';
import { isViewError } from '#control/consistent-read/view-error.ts';
import type { Requeue } from '#control/decision/decision.ts';
import { hasMoved, type ResourcePasses } from '#control/resource/resource-reconciler.ts';
import { isGivenUp } from '#control/write/unless-sent.ts';
import { parseObjectKey } from '#kubernetes/object-key.ts';
import { isRequestFailure } from '#kubernetes/transport/api-error.ts';
import type { ReconcileOutcome } from '#telemetry/metrics/rollout-metrics.ts';
import type { PartialAging } from './events/partial-aging.ts';
import type { RolloutView } from './parse-resource.ts';
import {
  type RolloutPassEnd,
  type RolloutPassPorts,
  RolloutPassRun,
} from './reconcile/rollout-pass.ts';
import { ofStatefulsetRollouts } from './rollout-reasons.ts';

/** What reconciling StatefulsetRollouts goes through. */
export interface RolloutPassesPorts extends RolloutPassPorts {
  readonly aging: PartialAging;
}

/** The passes over StatefulsetRollouts. */
export class RolloutPasses implements ResourcePasses<RolloutView> {
  readonly about = ofStatefulsetRollouts;
  readonly resources: RolloutPassesPorts['rollouts'];
  readonly #ports: RolloutPassesPorts;

  constructor(ports: RolloutPassesPorts) {
    this.resources = ports.rollouts;
    this.#ports = ports;
  }

  async run(key: string, signal: AbortSignal): Promise<RolloutPassEnd> {
    const { clock, refusals, witness } = this.#ports;
    const begun = clock.monotonic();
    const end = (outcome: ReconcileOutcome): void =>
      witness.reconciled(parseObjectKey(key), outcome, millis(clock.monotonic() - begun));
    try {
      const pass = await new RolloutPassRun(key, this.#ports).run(signal);
      if (pass.kind === 'gone') return pass;
      end('ended');
      refusals.recovered(key, clock.monotonic());
      return pass;
    } catch (error) {
      end(outcomeOf(error, signal));
      throw error;
    }
  }

  remind(rollout: RolloutView): Requeue {
    return this.#ports.aging.look(rollout);
  }

  forget(key: string, uid: string | undefined): void {
    const { writes, sights, evictions, held, slack, discovery, witness, aging, callbacks } =
      this.#ports;
    held.forget(key);
    discovery.forget(key);
    if (uid !== undefined) {
      writes.forget(uid);
      sights.forget(uid);
      evictions.forget(uid);
      slack.forget(uid);
      callbacks.forget(uid);
      aging.forget(uid);
    }
    witness.forget(parseObjectKey(key), uid);
  }
}

function outcomeOf(error: unknown, signal: AbortSignal): ReconcileOutcome {
  if (isGivenUp(error, signal) || hasMoved(error) || isViewError(error)) return 'retried';
  return isRequestFailure(error) ? 'failed' : 'faulty';
}
