import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isConflict } from '#kubernetes/transport/api-error.ts';
import type { Decision } from '../decision/decision.ts';
import { unlessSent } from './unless-sent.ts';

type SetCurrentRevision = Extract<Decision, { kind: 'set-current-revision' }>;

/** What became of a write of `status.currentRevision`. */
export type CurrentRevisionOutcome =
  /** The set has it since `revision`. */
  { readonly kind: 'written'; readonly revision: string } | { readonly kind: 'outdated' };

const outdated: CurrentRevisionOutcome = { kind: 'outdated' };

/**
 * Writes `status.currentRevision` as RC-61 asks: a fresh GET and a PUT of `/status`, as the Role of an existing
 * installation permits (D-1). The PUT carries the resourceVersion just read, so that nothing is lost. When `signal`
 * aborts, what was not sent yet never is, and what was sent gets its answer (D-50).
 *
 * @returns `outdated`, and nothing is written, when the set is not what was decided on any more, or changes meanwhile
 */
export async function applyCurrentRevision(
  decision: SetCurrentRevision,
  client: Client,
  signal: AbortSignal,
): Promise<CurrentRevisionOutcome> {
  const { namespace, name, uid } = decision.set;
  const set = await client.get(resourceTypes.statefulSets, { namespace, name }, { signal });
  const status = isJsonObject(set['status']) ? set['status'] : {};
  const isSame =
    set.metadata.uid === uid &&
    status['updateRevision'] === decision.to &&
    status['currentRevision'] === decision.from;
  if (!isSame) return outdated;
  const body: JsonObject = { ...set, status: { ...status, currentRevision: decision.to } };
  try {
    const write = { body, subresource: 'status', ...unlessSent(signal) } as const;
    const { metadata } = await client.replace(
      resourceTypes.statefulSets,
      { namespace, name },
      write,
    );
    return { kind: 'written', revision: metadata.resourceVersion };
  } catch (error) {
    // The StatefulSet controller writes the same status at the same time: plan again, it is no failure (KW-9).
    if (isConflict(error)) return outdated;
    throw error;
  }
}
