import type { JsonObject } from '#base/json.ts';
import { objectAt, objectsAt, textAt } from '../read-json.ts';
import { ownerReferenceTo, type PodSource } from './revisions.ts';
import type { SetPod, SetView } from './views.ts';

/** The label that carries a pod's own name (SS-7). */
export const podNameLabel = 'statefulset.kubernetes.io/pod-name';
/** The label that carries a pod's ordinal (SS-7). */
export const podIndexLabel = 'apps.kubernetes.io/pod-index';
/** The label that carries the full name of a pod's revision (SS-7). */
export const revisionLabel = 'controller-revision-hash';

const ordinalPattern = /^(?:0|[1-9]\d*)$/;

/** The ordinal in a pod's name, or undefined when the name is not `<set>-<ordinal>` (SS-3). */
export function ordinalOf(podName: string, setName: string): number | undefined {
  if (!podName.startsWith(`${setName}-`)) return undefined;
  const tail = podName.slice(setName.length + 1);
  return ordinalPattern.test(tail) ? Number(tail) : undefined;
}

/** The name of a pod's claim for one claim template (SS-7). */
export function claimName(template: JsonObject, podName: string): string {
  return `${textAt(template, 'metadata', 'name')}-${podName}`;
}

/** The PersistentVolumeClaims of the pod `podName` (SS-8). */
export function claimsOf(set: SetView, podName: string): readonly JsonObject[] {
  return set.claimTemplates.map((template) => ({
    ...template,
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...objectAt(template, 'metadata'),
      name: claimName(template, podName),
      namespace: set.namespace,
      labels: {
        ...objectAt(template, 'metadata', 'labels'),
        ...objectAt(set.selector, 'matchLabels'),
      },
    },
  }));
}

function volumesOf(set: SetView, podName: string, spec: JsonObject): readonly JsonObject[] {
  const claims = set.claimTemplates.map((template) => ({
    name: textAt(template, 'metadata', 'name'),
    persistentVolumeClaim: { claimName: claimName(template, podName) },
  }));
  const replaced = new Set(claims.map((claim) => claim.name));
  return [
    ...claims,
    ...objectsAt(spec, 'volumes').filter((volume) => !replaced.has(textAt(volume, 'name'))),
  ];
}

/** The pod `<set>-<ordinal>` at a revision, ready to be created (SS-7). */
export function newPod(set: SetView, source: PodSource, ordinal: number): JsonObject {
  const name = `${set.name}-${ordinal}`;
  const metadata = objectAt(source.template, 'metadata');
  const spec = objectAt(source.template, 'spec');
  const volumes = volumesOf(set, name, spec);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      name,
      namespace: set.namespace,
      labels: {
        ...objectAt(metadata, 'labels'),
        [podNameLabel]: name,
        [podIndexLabel]: String(ordinal),
        [revisionLabel]: source.name,
      },
      ownerReferences: [ownerReferenceTo(set)],
    },
    spec: {
      ...spec,
      hostname: name,
      ...(set.serviceName === '' ? {} : { subdomain: set.serviceName }),
      ...(volumes.length === 0 ? {} : { volumes }),
    },
  };
}

/** The identity labels that `pod` lacks or has wrong (SS-13); undefined when all are right. */
export function identityLabelsToFix(
  pod: SetPod,
  ordinal: number,
): Readonly<Record<string, string>> | undefined {
  const wanted = { [podNameLabel]: pod.name, [podIndexLabel]: String(ordinal) };
  const isRight = Object.entries(wanted).every(([label, value]) => pod.labels[label] === value);
  return isRight ? undefined : wanted;
}
