import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { StatusError } from '../errors/status-error.ts';
import { internalError } from '../errors/status-errors.ts';
import { applyJsonPatch } from '../patch/json-patch.ts';
import type { AdmissionAttributes } from '../rest/request/server-context.ts';
import { isWhole } from './admission-review.ts';
import { shownAs, storedAs } from './equivalent-rows.ts';
import type { Invocation } from './match-webhook.ts';

/**
 * Returns the object after the JSON patch of a webhook: unknown fields dropped, defaults filled in.
 *
 * @throws {StatusError} 500 where there is nothing to patch, or the patch does not fit; no failure policy helps
 */
export function patchedBy(
  attributes: AdmissionAttributes,
  { webhook, row }: Invocation,
  patch: readonly JsonValue[],
): JsonObject {
  const { call, object, oldObject } = attributes;
  if (object === undefined) {
    throw internalError(
      `admission webhook "${webhook.name}" attempted to modify the object, which is not supported for this operation`,
    );
  }
  const { subresource, row: stored } = call.route;
  if (!isWhole(subresource)) return applied(object, patch);
  const patched = applied(shownAs(row, object), patch);
  const decoded = stored.decode(storedAs(row, stored, patched)).object;
  return stored.prepareForUpdate(decoded, oldObject ?? decoded);
}

function applied(object: JsonObject, patch: readonly JsonValue[]): JsonObject {
  try {
    const patched = applyJsonPatch(object, patch);
    if (isJsonObject(patched)) return patched;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const [cause] = error.details?.causes ?? [];
    throw internalError(cause?.message ?? error.message);
  }
  throw internalError('the patch of a webhook left no object');
}
