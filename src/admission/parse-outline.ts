import type { JsonObject } from '#base/json.ts';
import { outlineOf, type Wanted } from './outline.ts';
import { parseDocument } from './parse-document.ts';
import type { Review } from './review.ts';

/** Each member that {@link parseReview} or a verdict at sight reads: one that is missing here would be read as null. */
const wantedOfObject: Wanted = wholes('apiVersion', 'kind')
  .set('metadata', wholes('labels'))
  .set('spec', wholes('replicas'));
const wantedOfRequest: Wanted = wholes('uid', 'kind', 'resource', 'subResource', 'name')
  .set('namespace', 'whole')
  .set('operation', 'whole')
  .set('dryRun', 'whole')
  .set('userInfo', wholes('username'))
  .set('object', wantedOfObject)
  .set('oldObject', wantedOfObject);
const wantedOfReview: Wanted = wholes('apiVersion', 'kind').set('request', wantedOfRequest);

function wholes(...members: readonly string[]): Map<string, Wanted | 'whole'> {
  return new Map(members.map((member) => [member, 'whole']));
}

/**
 * Reads a review as {@link parseReview} would, but of its objects only the kind, the labels and the replicas. Total.
 *
 * @returns undefined for what is no such review in JSON, or an unusual one: then parse the whole
 */
export function parseOutline(body: Buffer): Review | undefined {
  const outline = outlineOf(body, wantedOfReview);
  if (outline === undefined) return undefined;
  const parsed = parseDocument(JSON.parse(outline) as JsonObject);
  return parsed.kind === 'review' ? parsed.review : undefined;
}
