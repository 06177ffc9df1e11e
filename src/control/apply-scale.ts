import type { Clock } from '#base/clock.ts';
import { isJsonObject } from '#base/json.ts';
import type { Logger } from '#base/logger.ts';
import type { Monotonic } from '#base/units.ts';
import { ApiError, isConflict, isNotFound } from '#kubernetes/api-error.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ageOf, type Basis, maxDecisionAge, StaleBasisError } from './basis.ts';
import { isDisruptive, type Scale } from './decision.ts';

/** What became of a write of `spec.replicas`. */
export type ScaleOutcome =
  | {
      readonly kind: 'scaled';
      /** The revision of the set that has them. */
      readonly revision: string;
      readonly sentAt: Monotonic;
    }
  /** Nothing was written: the set is not what was decided on any more, or the view became too old. */
  | { readonly kind: 'outdated' };

/** What a write of replicas goes through. */
export interface ScalePorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Writes `spec.replicas` by a JSON patch that tests the uid and the count that was decided on, and not the
 * resourceVersion, which webhooks move while they admit this very patch (D-19). One that takes pods away leaves only
 * while what it rests on is fresh (D-3).
 *
 * @param basis what the decision rests on; undefined where it takes nothing away
 * @throws what the request fails with
 */
export async function applyScale(
  { scale, basis }: { readonly scale: Scale; readonly basis: Basis | undefined },
  ports: ScalePorts,
  signal: AbortSignal,
): Promise<ScaleOutcome> {
  const { client, clock, log } = ports;
  const { set, from, to, because } = scale;
  let sentAt = clock.monotonic();
  const beforeSend = (): void => {
    signal.throwIfAborted();
    sentAt = clock.monotonic();
    throwIfStale(scale, basis, sentAt);
    const fields = { name: set.name, replicas: to, currentReplicas: from };
    log.info('scaling statefulset', {
      ...fields,
      reason: because.reason,
      because: because.message,
    });
    log.flush();
  };
  const operations = [
    { op: 'test', path: '/metadata/uid', value: set.uid },
    { op: 'test', path: '/spec/replicas', value: from },
    { op: 'replace', path: '/spec/replicas', value: to },
  ];
  const { namespace, name } = set;
  try {
    const body = { kind: 'json', operations } as const;
    const write = { body, signal, beforeSend };
    const { metadata } = await client.patch(resourceTypes.statefulSets, { namespace, name }, write);
    return { kind: 'scaled', revision: metadata.resourceVersion, sentAt };
  } catch (error) {
    if (isOutdated(error)) return { kind: 'outdated' };
    throw error;
  }
}

/** @throws {StaleBasisError} when `scale` takes pods away and rests on what was proven too long ago */
function throwIfStale(scale: Scale, basis: Basis | undefined, now: Monotonic): void {
  if (!isDisruptive(scale)) return;
  const proven = basis === undefined ? Number.POSITIVE_INFINITY : ageOf(basis, now);
  const answered = scale.provenAt === undefined ? 0 : now - scale.provenAt;
  const age = Math.max(proven, answered);
  if (age > maxDecisionAge) throw new StaleBasisError(age);
}

function isOutdated(error: unknown): boolean {
  const isStale = error instanceof StaleBasisError;
  return isStale || isNotFound(error) || isConflict(error) || isUnmetTest(error);
}

/**
 * A JSON patch whose test fails is answered 422 with this text and no more; some servers add a cause that names the
 * test. A webhook that refuses says so, and a value that is not valid is named.
 */
function isUnmetTest(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.status !== 422) return false;
  const { causes } = error.details;
  const messages = Array.isArray(causes) ? causes.filter(isJsonObject) : [];
  return (
    error.message.includes('rejected our request due to an error in our request') ||
    messages.some(
      ({ message }) => typeof message === 'string' && message.startsWith('testing value'),
    )
  );
}
