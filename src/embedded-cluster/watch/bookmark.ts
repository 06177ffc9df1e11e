import type { ResourceRow } from '#embedded-cluster/resource-row.ts';
import { isCustom } from '#embedded-cluster/rest/metadata.ts';
import { encodeLine } from '#embedded-cluster/store/change.ts';
import { apiVersionOf } from '#kubernetes/resource-type.ts';
import type { WatchLine } from './watch-session.ts';

/** A BOOKMARK event at `revision`; `isEnd` marks the end of the initial events (LW-8, LW-9). */
export function bookmark(row: ResourceRow, revision: number, isEnd = false): WatchLine {
  const metadata = {
    resourceVersion: String(revision),
    ...(isCustom(row) ? {} : { creationTimestamp: null }),
    ...(isEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  };
  const parts = row.subresources.some(({ name }) => name === 'status') && !isCustom(row);
  const object = {
    kind: row.type.kind,
    apiVersion: apiVersionOf(row.type),
    metadata,
    ...(parts ? { spec: {}, status: {} } : {}),
  };
  return { bytes: encodeLine('BOOKMARK', Buffer.from(JSON.stringify(object))), revision };
}
