import type { JsonObject } from '#base/json.ts';
import type { GroupVersionKind } from '../review/review.ts';

/** The kinds whose replicas the webhooks compare. */
export type WorkloadKind = 'Deployment' | 'StatefulSet' | 'ReplicaSet' | 'Scale';

/** An object of a review, as far as the webhooks read it. */
export type ReviewedObject =
  /** One of the four kinds, well formed. */
  | {
      readonly kind: 'workload';
      readonly is: WorkloadKind;
      /** Null where the object does not say; a Scale always does. */
      readonly replicas: number | null;
      /** Labels of the object itself; never those of a Scale's target. */
      readonly labels: ReadonlyMap<string, string>;
      readonly raw: JsonObject;
    }
  /** A kind that has no replicas here; `text` is the peer's. */
  | { readonly kind: 'foreign'; readonly text: string }
  /** There is none. */
  | { readonly kind: 'absent'; readonly text: string }
  | {
      readonly kind: 'malformed';
      readonly text: string;
      /** Where they could be read all the same: they say whether the object is governed. */
      readonly labels: ReadonlyMap<string, string> | undefined;
    };

/** Returns which of the four kinds `kind` is; undefined for any other. */
export function workloadKindOf({
  group,
  version,
  kind,
}: GroupVersionKind): WorkloadKind | undefined {
  if (version !== 'v1') return undefined;
  if (group === 'autoscaling') return kind === 'Scale' ? 'Scale' : undefined;
  if (group !== 'apps') return undefined;
  return kind === 'StatefulSet' || kind === 'Deployment' || kind === 'ReplicaSet'
    ? kind
    : undefined;
}
