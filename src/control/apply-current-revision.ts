import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { CallOptions, Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Decision } from './decision.ts';

type SetCurrentRevision = Extract<Decision, { kind: 'set-current-revision' }>;

/** What became of a write of `status.currentRevision`. */
export type CurrentRevisionOutcome = 'written' | 'outdated';

/**
 * Writes `status.currentRevision` as RC-61 asks: a fresh GET and a PUT of `/status`, as the Role of an existing
 * installation permits (D-1). The PUT carries the resourceVersion just read, so that nothing is lost.
 *
 * @returns `outdated`, and writes nothing, when the set is not what was decided on any more
 */
export async function applyCurrentRevision(
  decision: SetCurrentRevision,
  client: Client,
  options: CallOptions,
): Promise<CurrentRevisionOutcome> {
  const { namespace, name, uid } = decision.set;
  const set = await client.get(resourceTypes.statefulSets, { namespace, name }, options);
  const status = isJsonObject(set['status']) ? set['status'] : {};
  const isSame =
    set.metadata.uid === uid &&
    status['updateRevision'] === decision.to &&
    status['currentRevision'] === decision.from;
  if (!isSame) return 'outdated';
  const body: JsonObject = { ...set, status: { ...status, currentRevision: decision.to } };
  await client.replace(
    resourceTypes.statefulSets,
    { namespace, name },
    { ...options, body, subresource: 'status' },
  );
  return 'written';
}
