import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { parseIdentity } from '#kubernetes/informer/parse-identity.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { parseTimestamp } from '../../clock/timestamp.ts';
import { numberAt, objectAt, objectsAt, textAt, textMapAt } from '../../json/read-json.ts';
import { compileSelector } from '../label-selector.ts';
import type {
  BudgetPod,
  BudgetView,
  ControllerReference,
  IntOrPercent,
  ScaledSet,
} from './views.ts';

function controllerOf(object: KubernetesObject): ControllerReference | undefined {
  const reference = objectsAt(object, 'metadata', 'ownerReferences').find(
    ({ controller }) => controller === true,
  );
  if (reference === undefined) return undefined;
  return {
    apiVersion: textAt(reference, 'apiVersion'),
    kind: textAt(reference, 'kind'),
    name: textAt(reference, 'name'),
    uid: textAt(reference, 'uid'),
  };
}

/** Returns a Pod, as far as budgets are concerned. */
export function parseBudgetPod(object: KubernetesObject): BudgetPod {
  return Object.freeze({
    ...parseIdentity(object),
    labels: object.metadata.labels ?? {},
    isReady: objectsAt(object, 'status', 'conditions').some(
      ({ type, status }) => type === 'Ready' && status === 'True',
    ),
    isTerminating: object.metadata.deletionTimestamp !== undefined,
    controller: controllerOf(object),
  });
}

function intOrPercent(value: JsonValue | undefined): IntOrPercent | undefined {
  return typeof value === 'number' || typeof value === 'string' ? value : undefined;
}

function disruptedPods(status: JsonObject): ReadonlyMap<string, Instant> {
  const open = new Map<string, Instant>();
  for (const [pod, text] of Object.entries(textMapAt(status, 'disruptedPods'))) {
    const at = parseTimestamp(text);
    if (at !== undefined) open.set(pod, at);
  }
  return open;
}

/** Returns a PodDisruptionBudget; an absent selector selects nothing, an empty one everything (SU-6). */
export function parseBudget(object: KubernetesObject): BudgetView {
  const spec = objectAt(object, 'spec');
  const { selector } = spec;
  return Object.freeze({
    ...parseIdentity(object),
    generation: numberAt(object, 'metadata', 'generation') ?? 0,
    maxUnavailable: intOrPercent(spec['maxUnavailable']),
    minAvailable: intOrPercent(spec['minAvailable']),
    selects: compileSelector(isJsonObject(selector) ? selector : undefined),
    disruptedPods: disruptedPods(objectAt(object, 'status')),
    object,
  });
}

/** Returns a StatefulSet, as far as budgets are concerned. */
export function parseScaledSet(object: KubernetesObject): ScaledSet {
  return Object.freeze({ ...parseIdentity(object), replicas: parseReplicas(object).replicas });
}

/** Returns the uid of a controller with its wanted number of pods, as its Scale or the object itself shows. */
export function parseReplicas(object: JsonValue): {
  readonly uid: string;
  readonly replicas: number;
} {
  return {
    uid: textAt(object, 'metadata', 'uid'),
    replicas: numberAt(object, 'spec', 'replicas') ?? 0,
  };
}
