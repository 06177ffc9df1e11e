import { isJsonObject, type JsonObject } from '#base/json.ts';
import { apiVersionOf, type ResourceType } from '#kubernetes/resource-type.ts';
import type { AdmissionRequest, ReviewRefusal } from '../review/review.ts';

/** The object under review, or the answer where there is none of the wanted type. */
export type ReviewedObject =
  | { readonly kind: 'object'; readonly object: JsonObject }
  | { readonly kind: 'other'; readonly refusal: ReviewRefusal };

/**
 * Reads the object of a review as one of `type`. What the configurations of that type send is nothing else, so that all else
 * is refused with 400, and its kind named. Total.
 *
 * @param request read with `objects: 'source'`
 */
export function reviewedObject(request: AdmissionRequest, type: ResourceType): ReviewedObject {
  const { object: source } = request;
  // The reader has gone over it: it is well-formed, and of bounded length (D-58).
  const object: unknown = typeof source === 'string' ? JSON.parse(source) : undefined;
  if (!isJsonObject(object)) return other(`the review has no object, where one must be`, type);
  const { apiVersion, kind } = object;
  if (apiVersion === apiVersionOf(type) && kind === type.kind) return { kind: 'object', object };
  return other(`the object is of ${shown(apiVersion)}, kind ${shown(kind)}`, type);
}

function other(what: string, type: ResourceType): ReviewedObject {
  const message = `${what}: only ${type.kind} of ${apiVersionOf(type)} is reviewed here`;
  return { kind: 'other', refusal: { isAllowed: false, message, code: 400 } };
}

const longestShown = 100;

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, longestShown)) : 'no name';
}
