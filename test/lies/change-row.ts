import type { EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { ResourceRow } from '#cluster/resource-row.ts';

/** Changes what `cluster` does with one resource. */
export function changeRow(
  cluster: EmbeddedCluster,
  [apiVersion, plural]: readonly [string, string],
  change: (row: ResourceRow) => Partial<ResourceRow>,
): void {
  const { rows } = cluster.context;
  const row = rows.find(apiVersion, plural);
  if (row !== undefined) rows.add({ ...row, ...change(row) });
}

/** The StatefulSets, for {@link changeRow}. */
export const sets = ['apps/v1', 'statefulsets'] as const;
