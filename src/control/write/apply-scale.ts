import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { isJsonObject } from '#base/json.ts';
import type { Logger } from '#base/logger.ts';
import type { Monotonic } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError, isConflict, isNotFound } from '#kubernetes/transport/api-error.ts';
import { type Basis, maxDecisionAge, StaleBasisError } from '../consistent-read/basis.ts';
import type { Scale } from '../decision/decision.ts';
import { OverruledError } from './pod-deletions.ts';
import { statementOf } from './statement.ts';
import { unlessSent } from './unless-sent.ts';

/** What became of a write of `spec.replicas`. */
export type ScaleOutcome =
  | {
      readonly kind: 'scaled';
      /** The revision of the set that has them. */
      readonly revision: string;
      readonly sentAt: Monotonic;
    }
  /** Nothing was written: the set is not what was decided on any more, as `answer` says, or it was not sent at all. */
  | { readonly kind: 'outdated'; readonly answer: Error | undefined };

/** What a write of replicas goes through. */
export interface ScalePorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** See `Carrying.approve`. */
  readonly approve: (scale: Scale) => Basis | undefined;
}

/**
 * Writes `spec.replicas` by a JSON patch that tests the uid and the count that was decided on, and not the
 * resourceVersion, which webhooks move while they admit this very patch (D-19). It leaves only if it is still wanted in
 * that instant, and one that takes pods away only on a view that is fresh (D-3, D-49).
 *
 * @throws what the request fails with
 */
export async function applyScale(
  scale: Scale,
  { client, clock, log, approve }: ScalePorts,
  signal: AbortSignal,
): Promise<ScaleOutcome> {
  const { set, from, to } = scale;
  let sentAt = clock.monotonic();
  const sending = unlessSent(signal, () => {
    const basis = approve(scale);
    sentAt = clock.monotonic();
    throwIfAnswersAreOld(scale, sentAt);
    log.info('scaling statefulset', statementOf(scale, basis, sentAt));
    log.flush();
  });
  const operations = [
    { op: 'test', path: '/metadata/uid', value: set.uid },
    { op: 'test', path: '/spec/replicas', value: from },
    { op: 'replace', path: '/spec/replicas', value: to },
  ];
  const { namespace, name } = set;
  try {
    const body = { kind: 'json', operations } as const;
    const write = { body, ...sending };
    const { metadata } = await client.patch(resourceTypes.statefulSets, { namespace, name }, write);
    return { kind: 'scaled', revision: metadata.resourceVersion, sentAt };
  } catch (error) {
    if (error instanceof StaleBasisError || error instanceof OverruledError) {
      return { kind: 'outdated', answer: undefined };
    }
    if (isOutdated(error)) return { kind: 'outdated', answer: errorOf(error) };
    throw error;
  }
}

/** Throws when what pods said of themselves is too old by now. @throws {StaleBasisError} */
function throwIfAnswersAreOld({ provenAt }: Scale, now: Monotonic): void {
  const age = provenAt === undefined ? 0 : now - provenAt;
  if (age > maxDecisionAge) throw new StaleBasisError(age);
}

function isOutdated(error: unknown): boolean {
  return isNotFound(error) || isConflict(error) || isUnmetTest(error);
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
