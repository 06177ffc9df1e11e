import { aborted } from '#base/async/aborted.ts';
import { seconds } from '#base/units.ts';
import type { OwnersOfSets } from '#control/watch/owners-of-sets.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { objectKey } from '#kubernetes/object-key.ts';
import { createWorkQueue } from '#kubernetes/queue/rate-limited-queue.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { parseAddressedPod } from '#statefulset/parse-addressed-pod.ts';
import { limitedEvents } from '#statefulset-rollout/events/limited-events.ts';
import { rolloutKind, rolloutsOf } from '#statefulset-rollout/owners.ts';
import type { RolloutView } from '#statefulset-rollout/parse-resource.ts';
import { statefulsetRolloutPermissions } from '#statefulset-rollout/permissions.ts';
import { createDiscovery } from '#statefulset-rollout/reconcile/discovery-sight.ts';
import { runStatefulsetRollouts } from '#statefulset-rollout/run-statefulset-rollouts.ts';
import {
  budgetsFor,
  type ResourceCapability,
  type ResourceTerm,
  standingOf,
} from '../resources.ts';
import { type OperatorConsul, watchesOf } from './consul.ts';
import { showRollouts } from './figures.ts';
import { type StatefulsetPortSettings, statefulsetPorts } from './ports.ts';

/** Its name to people, and to budgets. */
const name = 'statefulset-rollouts';
const longestBackoff = seconds(60);

/** What carrying them out takes besides what all capabilities share. */
interface StatefulsetCapabilitySettings
  extends Pick<
    StatefulsetPortSettings,
    'outside' | 'isPinAssumed' | 'rolloutMetrics' | 'partialAging'
  > {
  /** @default no Consul is asked */
  readonly consul?: OperatorConsul | undefined;
}

/** Carries StatefulsetRollouts out along with groups; what evictions ask of disruption budgets, our webhook answers. */
export function statefulsetCapability(settings: StatefulsetCapabilitySettings): ResourceCapability {
  return {
    name,
    permissions: statefulsetRolloutPermissions,
    webhooks: [],
    hasNativeBudgets: true,
    needs: ({ statefulsetRollouts, nativeBudgets }) => [
      statefulsetRollouts,
      ...(nativeBudgets === undefined ? [] : [nativeBudgets]),
    ],
    run: (term, signal) => reconcile({ ...term, ...settings }, signal),
  };
}

async function reconcile(
  term: ResourceTerm & StatefulsetCapabilitySettings,
  signal: AbortSignal,
): Promise<{ readonly isSettled: boolean }> {
  const { clock, client, events, open, owners } = term;
  const { statefulsetRollouts, nativeBudgets, statefulSets, pods } = term.caches;
  if (nativeBudgets === undefined) throw new Error('Cannot roll out without a view of budgets');
  const rollouts = statefulsetRollouts.informer;
  const budgets = nativeBudgets.informer;
  const synced = Promise.all([rollouts.synced, budgets.synced]);
  await Promise.race([synced.catch(() => undefined), aborted(signal)]);
  if (signal.aborted) return { isSettled: true };
  const { rolloutMetrics } = term;
  showRollouts(rollouts, rolloutMetrics);
  const queue = createWorkQueue({ clock, name: 'statefulsetrollout', maxDelay: longestBackoff });
  wakeByOwners(owners, rollouts, queue);
  const caches = { rollouts, statefulSets, pods, budgets };
  const standing = standingOf(term, rolloutKind);
  const watches = watchesOf(term.consul, { ...term, queue });
  const asked = budgetsFor(name, term);
  const ports = statefulsetPorts(term, {
    client,
    caches,
    events: limitedEvents(events, rollouts),
    queue,
    open,
    leads: standing.leads,
    discovery: createDiscovery(watches),
    zoneBudgets: asked.budgets,
    parsePod: parseAddressedPod,
  });
  asked.budgets.follow(ports.letGo);
  asked.onBudgetChange(() => {
    for (const each of rollouts.lister.list()) queue.add(objectKey(each));
  });
  try {
    return await runStatefulsetRollouts({ ...ports, ...standing }, signal);
  } finally {
    await watches?.close();
    // The present leader shows them.
    rolloutMetrics.forgetAll();
    rolloutMetrics.watchQueue(undefined);
    rolloutMetrics.watchConsul(undefined);
  }
}

/** Wakes those whose sets something else names, or names no longer (D-63). */
function wakeByOwners(
  owners: OwnersOfSets,
  rollouts: Pick<Informer<RolloutView>, 'lister'>,
  queue: WorkQueue,
): void {
  owners.onChange((set) => {
    for (const each of rolloutsOf(rollouts, set)) queue.add(objectKey(each));
  });
}
