import { isJsonArray, isJsonObject, type JsonObject } from '#base/json.ts';
import type { AnnotationKey } from '../known-keys.ts';
import { objectAt, stringAt } from '../parse-fields.ts';
import type { StatefulSetView } from '../view.ts';

/** As long as the API server lets the name of a manager be. */
const longestManager = 128;

/** The annotation that a StatefulsetRollout alone writes: it tells the name of our own field manager. */
const ownAnnotation = 'bedrock.operator.slack.com/applied-hash' satisfies AnnotationKey;
const strategy = ['f:spec', 'f:updateStrategy'] as const;
/** Of which fields it matters who wrote them. */
const paths = {
  replicas: ['f:spec', 'f:replicas'],
  strategy: [...strategy, 'f:type'],
  partition: [...strategy, 'f:rollingUpdate', 'f:partition'],
  applied: ['f:metadata', 'f:annotations', `f:${ownAnnotation}`],
} as const;

/**
 * Returns who has the fields of a set, as `metadata.managedFields` says: who changes a value takes the field from all others.
 * A field that was taken out has no owner, even where the API server shows a default in its place; all that is known then
 * is who wrote the object last. Of those that it does not say there is nothing.
 */
export function writersIn(metadata: JsonObject): Pick<StatefulSetView, 'writers'> {
  const { managedFields } = metadata;
  const entries = (isJsonArray(managedFields) ? managedFields : []).filter(isJsonObject);
  if (entries.length === 0) return {};
  const writers = Object.entries(paths).flatMap(([field, path]) => {
    const text = managersOf(entries.filter((entry) => hasField(entry, path)));
    return text === '' ? [] : [[field, text] as const];
  });
  const newest = managersOf(newestOf(entries));
  const last = newest === '' ? {} : { newest };
  return { writers: Object.freeze({ ...Object.fromEntries(writers), ...last }) };
}

function managersOf(entries: readonly JsonObject[]): string {
  const names = [...new Set(entries.map((entry) => stringAt(entry, 'manager') ?? ''))];
  return names
    .filter((name) => name !== '')
    .join(' and ')
    .slice(0, longestManager);
}

/** Returns the entries of those that wrote last, but for controllers that write its status; times are of whole seconds, as UTC. */
function newestOf(entries: readonly JsonObject[]): readonly JsonObject[] {
  const own = entries.filter((entry) => stringAt(entry, 'subresource') !== 'status');
  const times = own.map((entry) => stringAt(entry, 'time') ?? '').toSorted();
  const last = times.at(-1) ?? '';
  return last === '' ? [] : own.filter((entry) => stringAt(entry, 'time') === last);
}

function hasField(entry: JsonObject, path: readonly string[]): boolean {
  let fields = objectAt(entry, 'fieldsV1');
  for (const name of path) {
    if (!isJsonObject(fields[name])) return false;
    fields = objectAt(fields, name);
  }
  return true;
}
