import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { SparseLog } from '#base/sparse-log.ts';
import type { Client } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { isNotFound } from '#kubernetes/transport/api-error.ts';
import type { ConcurrencyLimit } from '../review/concurrency-limit.ts';
import { callOf } from '../review/deadline.ts';
import { denyForFailure, failureKind, overloadText } from '../review/dependency.ts';
import {
  downscaleText,
  NO_DOWNSCALE,
  refusalText,
  unnamedResource,
} from '../review/downscale-text.ts';
import {
  type AdmissionRequest,
  allowWithWarning,
  deny,
  type ReviewContext,
  type ReviewDecision,
  type Webhook,
} from '../review/review.ts';
import { webhookPaths } from '../webhook-configuration/webhook-paths.ts';
import { labelsOf } from './parse-workload.ts';
import { type Decrease, judgeLabel, planNoDownscale } from './plan-no-downscale.ts';
import { scaleTarget } from './scale-target.ts';

/** What {@link noDownscale} works with. */
export interface NoDownscaleOptions {
  /** Its own, so that no other webhook can starve it. */
  readonly client: Client;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Logger;
  /** For reviews that ask the API server. */
  readonly limit: ConcurrencyLimit;
}

/**
 * Refuses to lower the replicas of a workload whose label says so. Dry runs are judged as all else. Only a
 * decrease through `/scale` asks the API server for the labels.
 */
export function noDownscale({ client, clock, log, limit }: NoDownscaleOptions): Webhook {
  const ports = { client, limit, failures: new SparseLog(log, clock) };
  return {
    path: webhookPaths.noDownscale,
    patience: undefined,
    judge(request, context) {
      const change = planNoDownscale(request);
      if (change.kind === 'settled') return change.decision;
      return judgeScale({ request, change }, context, ports);
    },
  };
}

interface Ports extends Pick<NoDownscaleOptions, 'client' | 'limit'> {
  /** Any client may cause failures, by reviews of what the Role does not permit reading. */
  readonly failures: SparseLog;
}

async function judgeScale(
  downscale: Decrease,
  context: ReviewContext,
  { client, limit, failures }: Ports,
): Promise<ReviewDecision> {
  const { request, change } = downscale;
  const { shrinkage } = change;
  const { resource, name, namespace } = request;
  const type = scaleTarget(request);
  if (resource === '') return deny(refusalText(request, shrinkage, unnamedResource), 'Unreadable');
  if (type === undefined) return unknownLabels(request, `unsupported resource ${resource}`);
  const leave = limit.acquire();
  if (leave === undefined)
    return deny(overloadText(downscaleText(request, shrinkage)), 'Overloaded');
  try {
    const live = await client.get(type, { namespace, name }, callOf(context.deadline()));
    return judgeLive(downscale, live);
  } catch (error) {
    if (isNotFound(error)) return unknownLabels(request, error.message);
    const fields = { resource, name, namespace, err: errorOf(error) };
    failures.warn(failureKind(error), 'labels of a down-scaled object cannot be read', fields);
    return denyForFailure(refusalText(request, shrinkage, unreadableLabels), error);
  } finally {
    leave();
  }
}

const unreadableLabels = `it cannot be found out whether it has the label '${NO_DOWNSCALE}=true'`;

function judgeLive(downscale: Decrease, live: KubernetesObject): ReviewDecision {
  const labels = labelsOf(live);
  if (labels.kind === 'valid') return judgeLabel(downscale, labels.value.get(NO_DOWNSCALE));
  const { request, change } = downscale;
  return deny(refusalText(request, change.shrinkage, unreadableLabels), 'Unreadable');
}

/** Lets a change go where the object that would say whether it is governed is not there, or none of ours. */
function unknownLabels(
  { resource, name, namespace }: AdmissionRequest,
  why: string,
): ReviewDecision {
  return allowWithWarning(
    `can't get ${resource}/${name} in namespace ${namespace}, allowing the change: ${why}`,
  );
}
