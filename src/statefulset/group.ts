import type { LabelKey } from './known-keys.ts';
import type { StatefulSetView } from './view.ts';

/** The label that makes a StatefulSet part of a group (IN-10); its value, even the empty one, is the group. */
export const GROUP_LABEL = 'rollout-group' satisfies LabelKey;

/** Returns the group of `set`; undefined when it is not labelled, and so not ours. The empty text is a legal name. */
export function groupOf(set: StatefulSetView): string | undefined {
  return set.labels[GROUP_LABEL];
}

/** Returns the queue key of a group: `namespace/group`; the group may be empty. */
export function groupKey(namespace: string, group: string): string {
  return `${namespace}/${group}`;
}

/** Returns the queue key of the group of `set`; undefined when it is in none. */
export function groupKeyOf(set: StatefulSetView): string | undefined {
  const group = groupOf(set);
  return group === undefined ? undefined : groupKey(set.namespace, group);
}

/** Returns the namespace and the group of a queue key. */
export function parseGroupKey(key: string): { readonly namespace: string; readonly group: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), group: key.slice(slash + 1) };
}
