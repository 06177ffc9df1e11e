import { isJsonObject, type JsonObject } from '#base/json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { defaultedFields } from '#phased-rollout/api.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import { allow, type PatchOperation, type Webhook } from '../review/review.ts';
import { webhookPaths } from '../webhook-configuration/webhook-paths.ts';
import { reviewedObject } from './reviewed-object.ts';

/**
 * Puts into a PhasedRollout the delay, the period and the threshold that its author left to the peer, or wrote as 0.
 * It asks nothing, and is the same for a dry run. What is deleted has no object, and stays as it is.
 */
export function phasedRolloutDefaults(): Webhook {
  return {
    path: webhookPaths.phasedRolloutDefaults,
    patience: undefined,
    objects: 'source',
    judge(request) {
      if (request.operation === 'DELETE') return allow;
      const reviewed = reviewedObject(request, resourceTypes.phasedRollouts);
      if (reviewed.kind === 'other') return reviewed.refusal;
      const patch = defaultsFor(reviewed.object);
      return patch.length === 0 ? allow : { isAllowed: true, patch };
    },
  };
}

/**
 * Returns the defaults that are to be added. Without a check there is no place for them; its schema, or the other webhook,
 * then refuses the object.
 */
function defaultsFor(object: JsonObject): readonly PatchOperation[] {
  if (!isJsonObject(objectAt(object, 'spec')['check'])) return [];
  return Object.entries(defaultedFields(object)).map(([field, value]) => ({
    op: 'add',
    path: `/spec/check/${field}`,
    value,
  }));
}
