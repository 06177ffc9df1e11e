import { member, outlineOf, type Wanted } from './outline.ts';
import { parseDocument } from './parse-document.ts';
import type { Review } from './review.ts';

/** Each member that {@link parseReview} or a verdict at sight reads: one that is missing here would be read as absent. */
const wantedOfObject: Wanted = [
  member('apiVersion'),
  member('kind'),
  member('metadata', [member('labels')]),
  member('spec', [member('replicas')]),
];
const wantedOfRequest: Wanted = [
  member('uid'),
  member('kind'),
  member('resource'),
  member('subResource'),
  member('name'),
  member('namespace'),
  member('operation'),
  member('dryRun'),
  member('userInfo', [member('username')]),
  member('object', wantedOfObject),
  member('oldObject', wantedOfObject),
];
const wantedOfReview: Wanted = [
  member('apiVersion'),
  member('kind'),
  member('request', wantedOfRequest),
];

/**
 * Reads a review as {@link parseReview} would, but of its objects only the kind, the labels and the replicas. Total.
 *
 * @returns undefined for what is no such review in JSON, or an unusual one: then parse the whole
 */
export function parseOutline(body: Buffer): Review | undefined {
  const outline = outlineOf(body, wantedOfReview);
  if (outline === undefined) return undefined;
  const parsed = parseDocument(outline);
  return parsed.kind === 'review' ? parsed.review : undefined;
}
