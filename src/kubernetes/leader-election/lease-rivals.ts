import { errorOf } from '#base/error-of.ts';
import { minutes, seconds } from '#base/units.ts';
import type { CallOptions } from '../client.ts';
import { resourceTypes } from '../resource-type.ts';
import { isForbidden, isNotFound } from '../transport/api-error.ts';
import type { LeasePlace } from './lease-place.ts';
import { type LeaseRecord, SCOPE_LABEL } from './lease-record.ts';
import { parseLease } from './parse-lease.ts';

/** What {@link watchRivals} needs. */
export interface RivalOptions extends LeasePlace {
  /** Called with the names after each look, for a gauge. */
  readonly onLook: (names: readonly string[]) => void;
  /** Called at each look with whether the Role refuses to list Leases. */
  readonly onList: (isRefused: boolean) => void;
}

/** What the Leases of this program, and of the peers whose place it takes, are called unless a flag says otherwise. */
const usualNames = [
  'rollout-operator',
  'statefulset-rollout',
  'cebbe7b1.amp.aws',
  '304add93.sts.plus',
] as const;
const period = minutes(10);
const timeout = seconds(10);

/**
 * Looks at once and every 10 minutes whether another Lease is held for the same namespaces: two operators would then lead
 * at once. The usual names are read, and with the permission to list Leases, all that carry our label. Run it while
 * leading. @throws never
 */
export async function watchRivals(options: RivalOptions, signal: AbortSignal): Promise<void> {
  let told = '';
  while (!signal.aborted) {
    const names = await look(options, signal);
    if (names !== undefined) {
      options.onLook(names);
      const text = names.join(', ');
      if (text !== '' && text !== told) {
        const fields = { lease: options.name, others: text, scope: options.scope };
        options.log.warn('another lease is held for the same namespaces', fields);
      }
      told = text;
    }
    // An abort only wakes it: the loop looks.
    await options.clock
      .sleep(period, { signal, owner: 'lease-rivals', background: true })
      .catch(() => undefined);
  }
}

/** Returns the names of other Leases that are held for our scope, sorted; undefined where that cannot be known now. */
async function look(
  options: RivalOptions,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    const limits = { signal, timeout };
    const records = (await listed(options, limits)) ?? (await named(options, limits));
    return records
      .filter((record) => isRival(record, options))
      .map((record) => record.object.metadata.name)
      .sort();
  } catch (error) {
    if (!signal.aborted) options.log.debug('other leases not read', { err: errorOf(error) });
    return undefined;
  }
}

async function listed(
  { client, namespace, scope, onList }: RivalOptions,
  limits: CallOptions,
): Promise<readonly LeaseRecord[] | undefined> {
  const query = { namespace, labelSelector: `${SCOPE_LABEL}=${scope}` };
  try {
    const { items } = await client.list(resourceTypes.leases, query, limits);
    onList(false);
    return items.map((item) => parseLease(item));
  } catch (error) {
    if (!isForbidden(error)) throw error;
    onList(true);
    return undefined;
  }
}

async function named(
  { client, namespace, name }: RivalOptions,
  limits: CallOptions,
): Promise<readonly LeaseRecord[]> {
  const records: LeaseRecord[] = [];
  for (const other of usualNames) {
    if (other === name) continue;
    try {
      const key = { namespace, name: other };
      records.push(parseLease(await client.get(resourceTypes.leases, key, limits)));
    } catch (error) {
      if (!isNotFound(error) && !isForbidden(error)) throw error;
    }
  }
  return records;
}

/** Reports whether it is held for our namespaces. Without our label it is a peer's, whose capabilities are others than ours. */
function isRival({ object, holder }: LeaseRecord, { name, scope }: RivalOptions): boolean {
  const { metadata } = object;
  const isOurs = metadata.name === name;
  return !isOurs && holder !== undefined && metadata.labels?.[SCOPE_LABEL] === scope;
}
