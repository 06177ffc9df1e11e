import { parseAllDocuments } from 'yaml';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { canonicalJson, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { imageOf } from './pod-state.ts';

/** What the demo changes in the StatefulSets of the examples. */
export interface ManifestChanges {
  readonly pods: number | undefined;
  readonly maxUnavailable: number | undefined;
}

/** Returns the objects of the YAML `text`; `file` names it in errors. @throws {Error} for what is no object of Kubernetes */
export function parseManifests(file: string, text: string): readonly JsonObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`Cannot read ${file}: ${error.message}`);
    const object: unknown = document.toJS();
    if (object === null || object === undefined) return [];
    if (isJsonObject(object) && isManifest(object)) return [object];
    throw new Error(`Cannot use ${file}: each document needs apiVersion, kind and metadata.name`);
  });
}

function isManifest(object: JsonObject): boolean {
  const needed = [['apiVersion'], ['kind'], ['metadata', 'name']];
  return needed.every((path) => textAt(object, ...path) !== '');
}

/** Returns `objects` with namespaces first and workloads last, otherwise in their order. */
export function inOrderOfCreation(objects: readonly JsonObject[]): readonly JsonObject[] {
  const rank = (object: JsonObject): number => {
    const kind = textAt(object, 'kind');
    return kind === 'Namespace' ? 0 : kind === 'StatefulSet' ? 2 : 1;
  };
  return objects.toSorted((a, b) => rank(a) - rank(b));
}

/** Reports whether `object` is a StatefulSet that belongs to a group. */
export function isGroupMember(object: JsonObject): boolean {
  const isSet = textAt(object, 'kind') === 'StatefulSet';
  return isSet && textAt(object, 'metadata', 'labels', 'rollout-group') !== '';
}

/** Returns `object` with `changes`, if it is a StatefulSet of a group. */
export function changed(object: JsonObject, changes: ManifestChanges): JsonObject {
  if (!isGroupMember(object)) return object;
  const { pods, maxUnavailable } = changes;
  const metadata = objectAt(object, 'metadata');
  const annotations = {
    ...objectAt(metadata, 'annotations'),
    ...(maxUnavailable !== undefined && { 'rollout-max-unavailable': String(maxUnavailable) }),
  };
  return {
    ...object,
    metadata: { ...metadata, annotations },
    spec: { ...objectAt(object, 'spec'), ...(pods !== undefined && { replicas: pods }) },
  };
}

/** Returns the image of the first container of the stored or to be stored `set`. */
export function setImage(set: JsonObject): string {
  return imageOf(objectAt(set, 'spec', 'template'));
}

/** Returns the name of the first container of `set`. */
export function setContainer(set: JsonObject): string {
  return textAt(objectsAt(set, 'spec', 'template', 'spec', 'containers')[0], 'name');
}

/** Returns a strategic merge patch that gives the first container of `set` another image. */
export function imagePatch(set: JsonObject, image: string): JsonObject {
  const containers = [{ name: setContainer(set), image }];
  return { spec: { template: { spec: { containers } } } };
}

/** Returns the release after that of `image`: `:2.10.0` becomes `:2.11.0`; a tag that is no version becomes `1.0.0`. */
export function nextImage(image: string): string {
  const version = /:(\d+)\.(\d+)\.\d+$/.exec(image);
  const [, major, minor] = version ?? [];
  return withTag(image, minor === undefined ? '1.0.0' : `${major}.${Number(minor) + 1}.0`);
}

/** Returns `image` with another tag; a port of the registry is not taken for one. */
export function withTag(image: string, tag: string): string {
  return `${image.replace(/:[^/:]*$/, '')}:${tag}`;
}

/**
 * Returns `object` with the annotation, in the order in which kubectl writes it, by which `kubectl apply` knows the next
 * time what has gone from the manifest.
 */
export function asApplied(object: JsonObject): JsonObject {
  const metadata = objectAt(object, 'metadata');
  const annotations = objectAt(metadata, 'annotations');
  const last = { ...object, metadata: { ...metadata, annotations } };
  const lastApplied = {
    'kubectl.kubernetes.io/last-applied-configuration': `${canonicalJson(last)}\n`,
  };
  return { ...object, metadata: { ...metadata, annotations: { ...annotations, ...lastApplied } } };
}
