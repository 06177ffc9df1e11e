/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-assignment -- objects are looked into by path, and a lie that misses its target lets its scenario pass, which fails the run */
/** Lies of the store: something else is committed than was asked for. */
import type { EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Store, StoreWrite } from '#cluster/store/store.ts';

/** As commits name StatefulSets. */
export const SETS = 'statefulsets.apps';

/** A write, whose objects are looked into freely. */
export interface Committing {
  readonly resource: string;
  readonly key: string;
  readonly before: any;
  readonly after: any;
}

/** `change` answers what is stored in place of `after`; `null` to delete. */
export function lieInCommits(
  cluster: EmbeddedCluster,
  change: (write: Committing, store: Store) => any,
): void {
  const { store } = cluster.context;
  const honest = store.commit.bind(store);
  const commit = (write: StoreWrite): ReturnType<Store['commit']> => {
    if (write.after === undefined) return honest(write);
    const before = write.before?.object;
    const after = change({ ...write, before, after: structuredClone(write.after) }, store);
    return honest({ ...write, after: after ?? undefined });
  };
  Object.assign(store, { commit });
}

/** The objects of `resource`, looked into freely. */
export function stored(cluster: EmbeddedCluster, resource: string): readonly any[] {
  return cluster.context.store
    .collection(resource)
    .list()
    .map(({ object }) => object);
}
