import { createHash } from 'node:crypto';
import { isJsonArray, isJsonObject, type JsonValue } from '#base/json.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import type { StatefulsetRolloutSpec } from '../api.ts';
import type { WantedRollout } from '../snapshot.ts';

/** Returns the text of `value` with the members of all objects in one order; those that are null or undefined are left out. */
function canonicalText(value: JsonValue | undefined): string {
  if (isJsonArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined && member !== null)
    .toSorted(([one], [other]) => (one < other ? -1 : Number(one > other)));
  const texts = members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`);
  return `{${texts.join(',')}}`;
}

/** Returns a hash of `value`, whatever the order of its members. */
export function hashOf(value: JsonValue): string {
  return createHash('sha256').update(canonicalText(value)).digest('hex').slice(0, 32);
}

/**
 * Returns by what this rollout is distinguished from the one before: another identity, another percentage, or another set but for its
 * number of replicas.
 */
export function wantedRollout({ set, identity, percent }: StatefulsetRolloutSpec): WantedRollout {
  const { object } = set;
  const { replicas: _replicas, ...spec } = objectAt(object, 'spec');
  const { metadata } = object;
  return {
    key: hashOf([identity, percent, metadata ?? null, spec]),
    templateHash: hashOf(spec['template'] ?? null),
  };
}
