import type { Clock } from '#base/clock.ts';
import type { Monotonic } from '#base/units.ts';
import type { Client, ListResult } from '#kubernetes/client.ts';
import type { Freshness } from '#kubernetes/freshness.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { GROUP_LABEL, parseGroupKey } from '#statefulset/group.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { Basis, TypeBasis } from './basis.ts';
import { type SetSnapshot, setsFromLists } from './group-sets.ts';

/** What a consistent read goes through. */
export interface ConfirmPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly pods: Freshness;
  readonly statefulSets: Freshness;
}

/** A group as the API server has it, and what a decision on it may say that it rests on. */
export interface ConfirmedSets {
  readonly sets: readonly SetSnapshot[];
  readonly basis: Basis;
}

interface SentList {
  readonly sentAt: Monotonic;
  readonly result: ListResult;
}

/**
 * Reads a group consistently (D-4): its sets by group label, each set's pods by its own selector, all without
 * resourceVersion. The answer stands alone; it is never mixed with a cache that may lag. The caches' own
 * freshness learns of the reads, so that it is proven again once it has caught up.
 *
 * @throws what a list throws; a group that cannot be read is not disrupted
 */
export async function confirmGroup(
  key: string,
  ports: ConfirmPorts,
  signal: AbortSignal,
): Promise<ConfirmedSets> {
  const { namespace, group } = parseGroupKey(key);
  const list = async (
    type: typeof resourceTypes.pods,
    labelSelector: string,
  ): Promise<SentList> => {
    const sentAt = ports.clock.monotonic();
    const result = await ports.client.list(type, { namespace, labelSelector }, { signal });
    return { sentAt, result };
  };
  const setList = await list(resourceTypes.statefulSets, `${GROUP_LABEL}=${group}`);
  const sets = setList.result.items.map(parseStatefulSet);
  const podLists = await Promise.all(
    sets.map(async (set) => ({ set, list: await list(resourceTypes.pods, set.spec.selector) })),
  );
  ports.statefulSets.consistentRead(setList.result.resourceVersion, setList.sentAt);
  for (const { list } of podLists) {
    ports.pods.consistentRead(list.result.resourceVersion, list.sentAt);
  }
  const pods = new Map<string, readonly PodView[]>(
    podLists.map(({ set, list }) => [set.uid, list.result.items.map(parsePod)]),
  );
  return {
    sets: setsFromLists(sets, pods),
    basis: { pods: podBasis(podLists, setList), statefulSets: typeBasis(setList) },
  };
}

function typeBasis({ result, sentAt }: SentList): TypeBasis {
  return { view: result.resourceVersion, proof: result.resourceVersion, provenAt: sentAt };
}

/** As old as the list that was sent first; each set's pods are shown as of its own list. */
function podBasis(
  lists: readonly { readonly set: StatefulSetView; readonly list: SentList }[],
  setList: SentList,
): TypeBasis {
  const oldest = lists.reduce(
    (first, { list }) => (list.sentAt < first.sentAt ? list : first),
    lists[0]?.list ?? setList,
  );
  return {
    ...typeBasis(oldest),
    view: Object.fromEntries(lists.map(({ set, list }) => [set.name, list.result.resourceVersion])),
  };
}
