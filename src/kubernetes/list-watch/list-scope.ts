import type { ListQuery } from '../client.ts';
import type { ResourceType } from '../resource-type.ts';

/** Which objects of a type are listed and watched; absent members leave none out. */
export type ListScope = Pick<ListQuery, 'namespace' | 'labelSelector'>;

/** Returns the part of `options` that a list asks by. */
export function scopeOf({ namespace, labelSelector }: ListScope): ListScope {
  return {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
  };
}

/** Returns what is listed and watched, in words: `pods in namespace "demo"`. */
export function subjectOf({
  type,
  namespace,
}: Pick<ListScope, 'namespace'> & { readonly type: ResourceType }): string {
  return namespace === undefined ? type.plural : `${type.plural} in namespace "${namespace}"`;
}
