import type { JsonObject } from '#base/json.ts';
import { emptyObject, mapListAt, mapObjectAt, withMissing } from '../../json/members.ts';
import { defaultPodTemplate } from './default-pod-spec.ts';
import { defaultClaimSpec } from './default-volume.ts';

const specDefaults: JsonObject = Object.freeze({
  persistentVolumeClaimRetentionPolicy: emptyObject,
  podManagementPolicy: 'OrderedReady',
  replicas: 1,
  revisionHistoryLimit: 10,
  updateStrategy: emptyObject,
});
const rollingUpdateDefaults: JsonObject = Object.freeze({ partition: 0 });
const ordinalDefaults: JsonObject = Object.freeze({ start: 0 });
const retentionDefaults: JsonObject = Object.freeze({
  whenDeleted: 'Retain',
  whenScaled: 'Retain',
});
const claimDefaults: JsonObject = Object.freeze({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: emptyObject,
  status: Object.freeze({ phase: 'Pending' }),
});

/** Returns a StatefulSet with the defaults of create and update (OB-16). */
export function defaultStatefulSet(set: JsonObject): JsonObject {
  return mapObjectAt(set, 'spec', (spec) => {
    let result = withMissing(spec, specDefaults);
    result = mapObjectAt(result, 'updateStrategy', defaultUpdateStrategy);
    result = mapObjectAt(result, 'persistentVolumeClaimRetentionPolicy', (policy) =>
      withMissing(policy, retentionDefaults),
    );
    result = mapObjectAt(result, 'template', defaultPodTemplate);
    result = mapObjectAt(result, 'ordinals', (ordinals) => withMissing(ordinals, ordinalDefaults));
    return mapListAt(result, 'volumeClaimTemplates', defaultClaimTemplate);
  });
}

/**
 * Returns the update strategy; a type that is given without `rollingUpdate` keeps it absent, which the controller reads
 * differently (SS-9).
 */
function defaultUpdateStrategy(strategy: JsonObject): JsonObject {
  const typed =
    strategy['type'] === undefined
      ? withMissing({ ...strategy, type: 'RollingUpdate' }, { rollingUpdate: emptyObject })
      : strategy;
  if (typed['type'] !== 'RollingUpdate') return typed;
  return mapObjectAt(typed, 'rollingUpdate', (rollingUpdate) =>
    withMissing(rollingUpdate, rollingUpdateDefaults),
  );
}

function defaultClaimTemplate(claim: JsonObject): JsonObject {
  return mapObjectAt(withMissing(claim, claimDefaults), 'spec', defaultClaimSpec);
}

/** Returns a new StatefulSet; its status starts from nothing (OB-2). */
export function prepareNewStatefulSet(set: JsonObject): JsonObject {
  return { ...set, status: { availableReplicas: 0, replicas: 0 } };
}
