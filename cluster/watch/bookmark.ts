import type { JsonObject } from '#base/json.ts';
import { apiVersionOf } from '#kubernetes/resource-type.ts';
import type { ResourceRow } from '../resource-row.ts';
import { hasStatus, isCustom } from '../rest/verbs/metadata.ts';

/** Returns the object of a BOOKMARK event at `revision`; `isEnd` marks the end of the initial events (LW-8, LW-9). */
export function bookmarkObject(row: ResourceRow, revision: number, isEnd = false): JsonObject {
  const metadata = {
    resourceVersion: String(revision),
    ...(isEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  };
  return {
    kind: row.type.kind,
    apiVersion: apiVersionOf(row.type),
    metadata,
    ...(hasStatus(row) && !isCustom(row) ? { spec: {}, status: {} } : {}),
  };
}
