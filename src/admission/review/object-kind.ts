import type { JsonObject } from '#base/json.ts';
import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { splitApiVersion } from '#kubernetes/resource-type.ts';
import type { GroupVersionKind } from './review.ts';

/** Returns the kind that an object says it is. The texts are Go's. */
export function kindOf(object: JsonObject): Parsed<GroupVersionKind> {
  const { apiVersion, kind } = object;
  if (typeof kind !== 'string' || kind === '') return missing('Kind');
  if (typeof apiVersion !== 'string' || apiVersion === '') return missing('apiVersion');
  const [group, version] = splitApiVersion(apiVersion);
  return valid({ group, version, kind });
}

function missing(member: string): Parsed<never> {
  return invalid(member, `Object '${member}' is missing`);
}

/** Returns what the peer's decoder says of a kind that it does not know. */
export function unknownKindText({ group, version, kind }: GroupVersionKind): string {
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`;
}

/** Returns a kind as Go prints it: `apps/v1, Kind=StatefulSet`. */
export function formatKind({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}, Kind=${kind}`;
}
