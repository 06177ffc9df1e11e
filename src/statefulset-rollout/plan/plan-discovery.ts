import type { PodView } from '#statefulset/view.ts';
import { isTerminal, type RolloutProgress } from '../progress.ts';
import type { DiscoverySight } from '../snapshot.ts';
import type { BecauseRollout } from './plan-decision.ts';
import { because } from './plan-outcome.ts';

/** Reports whether service discovery does not keep `pod` from being healthy; what is unknown does. */
export function isDiscovered(discovery: DiscoverySight, pod: PodView | undefined): boolean {
  switch (discovery.kind) {
    case 'off':
    case 'ignored':
      return true;
    case 'known':
      return pod !== undefined && discovery.passing.has(pod.uid);
    default:
      return false;
  }
}

/** Returns why nothing goes on for service discovery alone; undefined where it says how the pods are, or need not. */
export function discoveryHold(discovery: DiscoverySight): BecauseRollout | undefined {
  if (discovery.kind === 'unknown') return because(discovery.code, discovery.message);
  if (discovery.kind !== 'awaited') return undefined;
  return because('AwaitingServiceDiscovery', 'waiting for the first answer of Consul');
}

/** Returns `progress` with the services that are there: one that vanishes in the same rollout passes no pod (CONSUL-13). */
export function withDiscovered(
  progress: RolloutProgress,
  discovery: DiscoverySight,
): RolloutProgress {
  if (discovery.kind !== 'known' || isTerminal(progress.phase)) return progress;
  const discovered = new Set([...progress.discovered, ...discovery.services]);
  return discovered.size === progress.discovered.size ? progress : { ...progress, discovered };
}
