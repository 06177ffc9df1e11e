import type { JsonObject } from '#base/json.ts';

/** An owner reference, as on the wire. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** The metadata members that every stored object has, as on the wire; others stay readable by name. */
export interface ObjectMeta extends JsonObject {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An object as the API server sent it: parsed JSON whose metadata was checked, deeply read-only. */
export interface KubernetesObject extends JsonObject {
  readonly metadata: ObjectMeta;
}
