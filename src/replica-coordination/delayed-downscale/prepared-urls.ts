import type { AnnotationKey } from '#statefulset/known-keys.ts';
import type { StatefulSetView } from '#statefulset/view.ts';

/**
 * The annotation that remembers where pods of a set were asked to prepare: once its other annotations are gone nothing else says
 * where a pod is notified that it stays.
 */
export const PREPARED_AT = 'rollout-operator/prepared-at' satisfies AnnotationKey;

/** Returns the URLs at which pods of `set` may be prepared. */
export function preparedUrlsOf(set: StatefulSetView): readonly string[] {
  const text = set.annotations[PREPARED_AT] ?? '';
  return text.split(/\s+/).filter((url) => url !== '');
}

/** Reports whether pods of `set` may be prepared that nobody asks to go any more. */
export function mayBePrepared(set: StatefulSetView): boolean {
  return !set.isDeleting && preparedUrlsOf(set).length > 0;
}
