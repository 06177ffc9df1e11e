import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { listAt, objectAt, textAt } from '../../json/members.ts';
import { quantityNanos } from '../../schema/quantity.ts';

const countedResources = ['cpu', 'memory'];

/** Returns `status.qosClass` of a pod with this spec, whose requests were defaulted. */
export function qosClassOf(spec: JsonObject): 'BestEffort' | 'Burstable' | 'Guaranteed' {
  const ownResources = objectAt(spec, 'resources');
  const all =
    ownResources === undefined
      ? [...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')].map(resourcesOf)
      : [ownResources];
  if (!all.some(asksForAnything)) return 'BestEffort';
  return all.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

function resourcesOf(container: JsonValue): JsonObject | undefined {
  return isJsonObject(container) ? objectAt(container, 'resources') : undefined;
}

function asksForAnything(resources: JsonObject | undefined): boolean {
  return countedResources.some(
    (name) =>
      isPositive(textAt(objectAt(resources, 'requests'), name)) ||
      isPositive(textAt(objectAt(resources, 'limits'), name)),
  );
}

function isGuaranteed(resources: JsonObject | undefined): boolean {
  return countedResources.every((name) => {
    const limit = textAt(objectAt(resources, 'limits'), name);
    const request = textAt(objectAt(resources, 'requests'), name) || limit;
    return isPositive(limit) && quantitiesEqual(limit, request);
  });
}

function isPositive(quantity: string): boolean {
  return quantity !== '' && quantity !== '0' && !quantity.startsWith('-');
}

function quantitiesEqual(a: string, b: string): boolean {
  return a === b || quantityNanos(a) === quantityNanos(b);
}
