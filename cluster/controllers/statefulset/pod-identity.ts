import type { JsonObject } from '#base/json.ts';
import { objectAt, objectsAt, textAt } from '../../json/read-json.ts';
import { podIndexLabel, podNameLabel, revisionLabel } from './pod-labels.ts';
import { ownerReferenceTo, type PodSource } from './revisions.ts';
import type { SetPod, SetView } from './views.ts';

/** Returns the name of a pod's claim for one claim template (SS-7). */
function claimName(template: JsonObject, podName: string): string {
  return `${textAt(template, 'metadata', 'name')}-${podName}`;
}

/** Returns the PersistentVolumeClaims of the pod `podName` (SS-8). */
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

/** Returns the pod `<set>-<ordinal>` at a revision, ready to be created (SS-7). */
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
      generateName: `${set.name}-`,
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

/** Returns the labels that repeat the name and ordinal of `pod` (SS-13). */
export function identityLabels(pod: SetPod): Readonly<Record<string, string>> {
  return { [podNameLabel]: pod.name, [podIndexLabel]: String(pod.ordinal) };
}
