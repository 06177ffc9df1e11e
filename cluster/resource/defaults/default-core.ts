import { Buffer } from 'node:buffer';
import type { JsonObject } from '#base/json.ts';
import {
  emptyObject,
  listAt,
  mapObjectAt,
  objectAt,
  textAt,
  withMember,
  withMissing,
  withoutMember,
} from '../../json/members.ts';

const eventDefaults: JsonObject = Object.freeze({
  reportingComponent: '',
  reportingInstance: '',
  source: emptyObject,
});

/** Returns an Event with the members that a server always answers. */
export function defaultEvent(event: JsonObject): JsonObject {
  return withMissing(event, eventDefaults);
}

/** Returns a Secret with its type; `stringData` is moved into `data`, over a key that is in both. */
export function defaultSecret(secret: JsonObject): JsonObject {
  const typed = withMissing(secret, { type: 'Opaque' });
  const plain = objectAt(typed, 'stringData');
  if (plain === undefined) return typed;
  const encoded = Object.fromEntries(
    Object.keys(plain).map((key) => [key, Buffer.from(textAt(plain, key)).toString('base64')]),
  );
  const data = { ...objectAt(typed, 'data'), ...encoded };
  return withMember(withoutMember(typed, 'stringData'), 'data', data);
}

const finalizer = 'kubernetes';
const nameLabel = 'kubernetes.io/metadata.name';

/** Returns a new Namespace: active, labelled with its name, kept by its finalizer (OB-2, GC-5). */
export function prepareNewNamespace(namespace: JsonObject): JsonObject {
  const spec = objectAt(namespace, 'spec') ?? emptyObject;
  const given = listAt(spec, 'finalizers');
  const finalizers = given.includes(finalizer) ? given : [...given, finalizer];
  const born = { ...namespace, spec: { ...spec, finalizers }, status: { phase: 'Active' } };
  return labelledWithName(born);
}

/** Returns a Namespace whose deletion has begun, which shows it in its phase. */
export function terminatingNamespace(namespace: JsonObject): JsonObject {
  const status = objectAt(namespace, 'status') ?? emptyObject;
  return { ...namespace, status: { ...status, phase: 'Terminating' } };
}

/** Returns a changed Namespace with its finalizers, which only /finalize changes, and its label. */
export function prepareChangedNamespace(namespace: JsonObject, old: JsonObject): JsonObject {
  const stored = objectAt(old, 'spec');
  const kept = stored === undefined ? namespace : withMember(namespace, 'spec', stored);
  return labelledWithName(kept);
}

function labelledWithName(namespace: JsonObject): JsonObject {
  const name = textAt(objectAt(namespace, 'metadata'), 'name');
  if (name === '') return namespace;
  return mapObjectAt(namespace, 'metadata', (metadata) =>
    mapObjectAt(withMissing(metadata, { labels: emptyObject }), 'labels', (labels) =>
      withMember(labels, nameLabel, name),
    ),
  );
}
