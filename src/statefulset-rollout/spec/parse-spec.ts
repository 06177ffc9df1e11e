import { isJsonObject, type JsonObject } from '#base/json.ts';
import { type Parsed, valid } from '#base/parsed.ts';
import { seconds } from '#base/units.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import type { CarriedSet, StatefulsetRolloutSpec } from '../api.ts';
import { callbackOf, discoveryOf, slackOf } from './parse-targets.ts';
import { RolloutFields } from './rollout-fields.ts';

/** A day, in seconds. */
const day = 86_400;
/** Names of objects whose kind has no rule of its own (RFC 1123). */
const subdomain = {
  pattern: /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/,
  wanted: 'must be a name of lower case letters, digits, "-" and "." with at most 253 characters',
  most: 253,
} as const;
const identity = {
  pattern: /^[A-Za-z0-9._-]*$/,
  wanted: 'must have letters, digits, ".", "_" and "-" alone, 253 at most',
  most: 253,
} as const;

/**
 * Reads the `spec` of a stored StatefulsetRollout, by the rules that its definition has for the API server: an object may be
 * older than those, or its server may not carry them out.
 */
export function parseStatefulsetRollout(object: JsonObject): Parsed<StatefulsetRolloutSpec> {
  const spec = objectAt(object, 'spec');
  const fields = new RolloutFields();
  const read: StatefulsetRolloutSpec = {
    set: setOf(spec, fields),
    percent: percentOf(spec, fields),
    isPauseRequested: fields.flag(spec, 'spec.pauseRequested'),
    identity: fields.matching(spec, 'spec.rolloutIdentity', identity) ?? '',
    ...slackOf(spec, fields),
    ...callbackOf(spec, fields),
    ...discoveryOf(spec, fields),
    ...deadlinesOf(spec, fields),
    ...intervalsOf(spec, fields),
    ...policiesOf(spec, fields),
    parallelWithoutBudget: fields.between(spec, 'spec.maxParallelWithoutBudget', [1, 100]) ?? 1,
  };
  const [problem] = fields.problems;
  return problem === undefined ? valid(read) : { kind: 'invalid', problem };
}

/** Returns the percentage. There is no default: a value that was forgotten must not mean all. */
function percentOf(spec: JsonObject, fields: RolloutFields): number {
  const isMissing = (spec['percent'] ?? undefined) === undefined;
  if (isMissing) fields.refuse('spec.percent', 'must be an integer from 0 to 100', undefined);
  return fields.between(spec, 'spec.percent', [0, 100]) ?? 0;
}

function deadlinesOf(
  spec: JsonObject,
  fields: RolloutFields,
): Pick<StatefulsetRolloutSpec, 'progressDeadline' | 'timeout'> {
  const progress = fields.between(spec, 'spec.progressDeadlineSeconds', [30, day]) ?? 1_800;
  const timeout = fields.between(spec, 'spec.rolloutTimeoutSeconds', [0, 7 * day]) ?? 0;
  return {
    progressDeadline: seconds(progress),
    ...(timeout > 0 && { timeout: seconds(timeout) }),
  };
}

function intervalsOf(
  spec: JsonObject,
  fields: RolloutFields,
): Pick<StatefulsetRolloutSpec, 'evictionInterval' | 'rollbackInterval' | 'unreadyPodsOfRollback'> {
  const field = 'minPodEvictionIntervalSeconds';
  const rollback = fields.object(spec, 'spec.rollback') ?? {};
  const interval = fields.between(spec, `spec.${field}`, [0, day]) ?? 0;
  const back = fields.between(rollback, `spec.rollback.${field}`, [0, day]) ?? interval;
  return {
    evictionInterval: seconds(interval),
    rollbackInterval: seconds(back),
    unreadyPodsOfRollback: fields.word(rollback, 'spec.rollback.unreadyPods', ['Delete', 'Evict']),
  };
}

function policiesOf(
  spec: JsonObject,
  fields: RolloutFields,
): Pick<
  StatefulsetRolloutSpec,
  'replicasOwnership' | 'onImmutableChange' | 'deletionPolicy' | 'leakPolicy' | 'isLeakRepaired'
> {
  const leak = fields.object(spec, 'spec.versionLeak') ?? {};
  const leakPolicy = fields.word(leak, 'spec.versionLeak.policy', ['Report', 'Pin']);
  const isLeakRepaired = fields.flag(leak, 'spec.versionLeak.repair');
  if (isLeakRepaired && leakPolicy !== 'Pin')
    fields.refuse('spec.versionLeak.repair', 'needs spec.versionLeak.policy Pin', true);
  return {
    replicasOwnership: fields.choice(spec, 'spec.replicasOwnership', [
      'Auto',
      'Rollout',
      'External',
    ]),
    onImmutableChange: fields.word(spec, 'spec.immutableFieldPolicy', ['Fail', 'RecreateOrphan']),
    deletionPolicy: fields.choice(spec, 'spec.deletionPolicy', ['Auto', 'Delete', 'Orphan']),
    leakPolicy,
    isLeakRepaired,
  };
}

function setOf(spec: JsonObject, fields: RolloutFields): CarriedSet {
  const path = 'spec.statefulset';
  const object = spec['statefulset'];
  if (!isJsonObject(object)) {
    fields.refuse(path, 'must be a StatefulSet of apps/v1', object);
    return { name: '', namespace: undefined, replicas: undefined, object: {} };
  }
  const { apiVersion, kind } = object;
  if (apiVersion !== 'apps/v1') fields.refuse(`${path}.apiVersion`, 'must be apps/v1', apiVersion);
  if (kind !== 'StatefulSet') fields.refuse(`${path}.kind`, 'must be StatefulSet', kind);
  const metadata = fields.object(object, `${path}.metadata`) ?? {};
  const { namespace } = metadata;
  return {
    name: fields.required(metadata, `${path}.metadata.name`, subdomain),
    namespace: typeof namespace === 'string' && namespace !== '' ? namespace : undefined,
    replicas: replicasOf(object, `${path}.spec`, fields),
    object,
  };
}

/** Looks at those parts of the set's own spec that the rollout rests on; all others are the API server's to judge. */
function replicasOf(object: JsonObject, path: string, fields: RolloutFields): number | undefined {
  const setSpec = fields.object(object, path) ?? {};
  for (const part of ['selector', 'template']) {
    if (!isJsonObject(setSpec[part]))
      fields.refuse(`${path}.${part}`, 'must be there', setSpec[part]);
  }
  const { type = 'OnDelete' } = fields.object(setSpec, `${path}.updateStrategy`) ?? {};
  const wanted = 'must be OnDelete, or left out: the controller would delete pods by itself';
  if (type !== 'OnDelete') fields.refuse(`${path}.updateStrategy.type`, wanted, type);
  return fields.count(setSpec, `${path}.replicas`, 0);
}
