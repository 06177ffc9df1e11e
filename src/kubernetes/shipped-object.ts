import type { KubernetesObject } from './object.ts';
import { isForbidden } from './transport/api-error.ts';

/** An object that manifests of ours make empty, so that the Role need not permit creating it. */
export interface ShippedObject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Returns what `create` makes. Where the Role does not permit that, the object was never applied, or a user has deleted
 * it.
 *
 * @throws what `create` throws; in place of a 403 what {@link missingObject} is
 */
export async function createdUnlessShipped(
  object: ShippedObject,
  create: () => Promise<KubernetesObject>,
): Promise<KubernetesObject> {
  try {
    return await create();
  } catch (error) {
    throw isForbidden(error) ? missingObject(object, error) : error;
  }
}

/** Says that `object` is missing, and what to do. */
export function missingObject({ kind, namespace, name }: ShippedObject, cause: Error): Error {
  return new Error(
    `${kind} "${namespace}/${name}" is missing, and the Role does not permit creating it: create it without data (${cause.message})`,
    { cause },
  );
}
