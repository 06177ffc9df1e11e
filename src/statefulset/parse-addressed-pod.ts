import type { JsonObject } from '#base/json.ts';
import { objectAt, stringAt } from './parse-fields.ts';
import { parsePod } from './parse-pod.ts';
import type { PodView } from './view.ts';

/** Returns the view of a Pod with its address, for those who compare it with what others know; the address takes room in memory. */
export function parseAddressedPod(object: JsonObject): PodView {
  const view = parsePod(object);
  const status = objectAt(object, 'status');
  const pod = stringAt(status, 'podIP') ?? '';
  if (pod === '') return view;
  const host = stringAt(status, 'hostIP') || undefined;
  return Object.freeze({ ...view, address: Object.freeze({ pod, host }) });
}
