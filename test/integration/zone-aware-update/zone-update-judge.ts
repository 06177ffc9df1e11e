/** Holds the history of a set over zones against what a step may take, by what the store saw and nothing else. */
import type { JsonObject } from '#base/json.ts';
import type { Commit } from '#cluster/event-log.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';

/** What a judgement is made on. */
export interface ZoneHistory {
  readonly commits: readonly Commit[];
  /** As many pods as a step may take. */
  readonly cap: number;
  readonly replicas: number;
}

interface Place {
  readonly zone: string;
  readonly isReady: boolean;
}

/**
 * Returns what is wrong, one sentence each: pods of two zones that are away at once, or more pods than a step may take, once
 * the set has been whole.
 */
export function zoneFaults({ commits, cap, replicas }: ZoneHistory): readonly string[] {
  const zones = new NodeZones();
  const places = new Map<string, Place>();
  let wasWhole = false;
  return commits.flatMap((commit) => {
    zones.see(commit);
    const { name, after, at } = commit;
    if (!isPodOfSet(commit)) return [];
    const zone = zones.ofPod(after) ?? places.get(name)?.zone ?? '';
    places.set(name, { zone, isReady: isReady(after) });
    const away = [...places.values()].filter((place) => !place.isReady);
    wasWhole ||= places.size === replicas && away.length === 0;
    return wasWhole ? faultsOf(away, cap).map((fault) => `at ${at} ${fault}`) : [];
  });
}

/**
 * Returns the pods that our program took without their reservation in the ledger of every budget of `budgets` by then, one
 * sentence each (BUDG-1).
 */
export function unreservedFaults(
  commits: readonly Commit[],
  budgets: readonly string[],
): readonly string[] {
  const ledgers = new Map<string, string>();
  return commits.flatMap((commit) => {
    const { resource, name, after, user, at, uid } = commit;
    if (resource === 'configmaps') ledgers.set(name, textAt(after, 'data', 'reservations'));
    if (!isPodOfSet(commit) || !user.startsWith('operator-') || !isTaken(commit)) return [];
    return budgets
      .filter((budget) => !(ledgers.get(budget) ?? '').includes(uid))
      .map((budget) => `at ${at} ${name} was taken, and ${budget} did not say so`);
  });
}

function isTaken({ before, after }: Commit): boolean {
  const isGoing = (pod: JsonObject | undefined): boolean =>
    pod === undefined || textAt(pod, 'metadata', 'deletionTimestamp') !== '';
  return isGoing(after) && !isGoing(before);
}

function isPodOfSet({ resource, name, namespace }: Commit): boolean {
  return resource === 'pods' && namespace === 'demo' && name.startsWith('db-');
}

class NodeZones {
  readonly #zones = new Map<string, string>();

  see({ resource, name, after }: Commit): void {
    if (resource !== 'nodes' || after === undefined) return;
    this.#zones.set(name, textAt(after, 'metadata', 'labels', 'topology.kubernetes.io/zone'));
  }

  ofPod(pod: JsonObject | undefined): string | undefined {
    return this.#zones.get(textAt(pod, 'spec', 'nodeName'));
  }
}

function faultsOf(away: readonly Place[], cap: number): readonly string[] {
  const zones = [...new Set(away.map(({ zone }) => zone))];
  return [
    ...(zones.length > 1 ? [`pods of ${zones.join(' and ')} were away`] : []),
    ...(away.length > cap ? [`${away.length} pods were away, and ${cap} may be`] : []),
  ];
}

function isReady(pod: JsonObject | undefined): boolean {
  if (textAt(pod, 'metadata', 'deletionTimestamp') !== '') return false;
  return objectsAt(pod, 'status', 'conditions').some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
}
