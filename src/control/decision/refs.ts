import type { Because } from '#base/because.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { PodRef, SetRef } from './decision.ts';
import type { Reason } from './reasons.ts';

/** Returns the reference to `set` that decisions carry. */
export function setRef(set: StatefulSetView): SetRef {
  return { namespace: set.namespace, name: set.name, uid: set.uid };
}

/** Returns the reference to `pod`, with the state that a decision rests on as its precondition. */
export function podRef(pod: PodView): PodRef {
  const { namespace, name, uid, resourceVersion, revision } = pod;
  return { namespace, name, uid, resourceVersion, revision };
}

/** Returns a reason with its message. */
export function because(reason: Reason, message: string): Because<Reason> {
  return { reason, message };
}
