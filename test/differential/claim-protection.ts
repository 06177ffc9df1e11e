/**
 * What a claim looks like that the real server protects: it stays, going, until a controller takes the finalizer off that
 * admission gave it. The finalizer itself has an entry of its own.
 */
import { isJsonObject, type JsonValue } from '#base/json.ts';
import type { Difference } from './compare.ts';

const isOfClaims = ({ conversation }: Difference): boolean =>
  conversation.startsWith('persistentvolumeclaims:');

/** Whether a claim that was deleted is going there, and gone here. */
export function isGoingClaim(difference: Difference): boolean {
  return isOfClaims(difference) && shapes.some((is) => is(difference));
}

/** Whether a patch that says nothing new was given a revision there. */
export function isFirstPatchOfClaim(difference: Difference): boolean {
  const { step, path, real, embedded } = difference;
  return (
    isOfClaims(difference) &&
    / PATCH .*\?fieldValidation=Ignore$/.test(step) &&
    path === 'body.metadata.resourceVersion' &&
    real === '<revision 2>' &&
    embedded === '<revision 1>'
  );
}

const shapes: readonly ((difference: Difference) => boolean)[] = [
  ({ path, real, embedded }) =>
    path.endsWith('metadata.deletionTimestamp') && real === '<time>' && embedded === undefined,
  ({ path, real, embedded }) =>
    path.endsWith('metadata.deletionGracePeriodSeconds') && real === 0 && embedded === undefined,
  ({ path, real, embedded }) =>
    /^events\[\d+\]\.type$/.test(path) && real === 'MODIFIED' && embedded === 'DELETED',
  ({ path, real, embedded }) => path === 'status' && real === 200 && embedded === 404,
  ({ path, real, embedded }) =>
    path === 'message' && real === null && embedded === 'persistentvolumeclaims "a" not found',
  ({ path, real, embedded }) => path === 'body.items' && staying(real) === names(embedded),
  // Of the list that still has it: its deletion there was a change, and is the newest one.
  ({ step, path, real, embedded }) =>
    step.includes('?labelSelector=go') &&
    path === 'body.metadata.resourceVersion' &&
    real === '<since revision 3>' &&
    embedded === '<since revision 2>',
];

/** The names of the objects of a list that are not going. */
function staying(list: JsonValue | undefined): string {
  const objects = Array.isArray(list) ? list : [];
  return names(objects.filter((each) => metadataOf(each)['deletionTimestamp'] === undefined));
}

function names(list: JsonValue | undefined): string {
  return Array.isArray(list)
    ? list.map((each) => JSON.stringify(metadataOf(each)['name'])).join()
    : '';
}

function metadataOf(object: JsonValue): Readonly<Record<string, JsonValue | undefined>> {
  const metadata = isJsonObject(object) ? object['metadata'] : undefined;
  return isJsonObject(metadata) ? metadata : {};
}
