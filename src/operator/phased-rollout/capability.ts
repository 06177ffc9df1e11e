import { phasedRolloutDefaults } from '#admission/custom-resource/phased-rollout-defaults.ts';
import { phasedRolloutValidation } from '#admission/custom-resource/phased-rollout-validation.ts';
import { aborted } from '#base/async/aborted.ts';
import { seconds } from '#base/units.ts';
import type { Prometheus } from '#check/prometheus/prometheus.ts';
import { createWorkQueue } from '#kubernetes/queue/rate-limited-queue.ts';
import { phasedKind, rolloutsOf } from '#phased-rollout/owners.ts';
import { phasedRolloutPermissions } from '#phased-rollout/permissions.ts';
import { runPhasedRollouts } from '#phased-rollout/run-phased-rollouts.ts';
import {
  budgetsFor,
  type ResourceCapability,
  type ResourceTerm,
  standingOf,
} from '../resources.ts';
import { phasedPorts } from './ports.ts';

const longestBackoff = seconds(30);

/** Its name to people, and to budgets. */
const name = 'phased-rollouts';

/** Reconciles PhasedRollouts along with groups. @param prometheus its maker ends it */
export function phasedCapability(prometheus: Prometheus): ResourceCapability {
  return {
    name,
    permissions: phasedRolloutPermissions,
    webhooks: [phasedRolloutDefaults(), phasedRolloutValidation()],
    needs: ({ rollouts }) => [rollouts],
    run: (term, signal) => reconcile(prometheus, term, signal),
  };
}

async function reconcile(
  prometheus: Prometheus,
  term: ResourceTerm,
  signal: AbortSignal,
): Promise<{ readonly isSettled: boolean }> {
  const { clock, client, events, open, owners } = term;
  const { rollouts, statefulSets, pods } = term.caches;
  const queue = createWorkQueue({ clock, name: 'phasedrollout', maxDelay: longestBackoff });
  const caches = { rollouts: rollouts.informer, statefulSets, pods };
  const ports = phasedPorts({ ...term, prometheus }, { client, caches, events, queue, open });
  const asked = budgetsFor(name, term);
  // What else names their sets, or names them no longer, concerns them (D-63).
  owners.onChange((set) => {
    for (const each of rolloutsOf(caches.rollouts, set)) {
      queue.add(`${each.namespace}/${each.name}`);
    }
  });
  // Also while nothing is known of PhasedRollouts: the partitions stand, no matter who lowered them.
  asked.budgets.follow(ports.letGo);
  await Promise.race([caches.rollouts.synced.catch(() => undefined), aborted(signal)]);
  if (signal.aborted) return { isSettled: true };
  return runPhasedRollouts(
    {
      ...ports,
      ...standingOf(term, phasedKind),
      ...asked,
    },
    signal,
  );
}
