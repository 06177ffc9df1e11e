import type { JsonObject } from '#base/json.ts';

/** What a `bedrock.yaml` says, defaults put in. */
export interface BedrockFile {
  readonly services: ReadonlyMap<string, Service>;
  /** Names of all images that are built. */
  readonly images: ReadonlySet<string>;
}

/** A service: one with stages, or one of a kind that nothing here is made of. */
export type Service =
  | { readonly kind: 'stateful-set'; readonly stages: ReadonlyMap<string, Stage> }
  | { readonly kind: 'unsupported'; readonly unsupported: UnsupportedKind };

/** Where a kind is that nothing here is made of. */
export interface UnsupportedKind {
  readonly kind: string;
  readonly path: string;
  readonly line: number | undefined;
}

/** Where a service runs, and how it gets there; what it says itself replaces what its service says. */
export interface Stage {
  readonly service: string;
  readonly name: string;
  /** In the file. */
  readonly path: string;
  readonly unsupported: UnsupportedKind | undefined;
  readonly namespace: string;
  /** Undefined: nothing looks into service discovery. */
  readonly dc: string | undefined;
  /** Each once; empty where the file names none. */
  readonly clusters: readonly string[];
  /** Undefined: decided by another owner. */
  readonly replicas: number | undefined;
  /** Percentages, ascending; at least one. */
  readonly phases: readonly number[];
  /** Undefined: not given. */
  readonly minPodEvictionIntervalSeconds: number | undefined;
  readonly workload: Workload;
}

/** What the pods are, and how they may go. */
export interface Workload {
  readonly containers: readonly Container[];
  /** Pods that may be away at once: a number, or a share such as `50%`. Undefined: not given. */
  readonly maxUnavailable: number | string | undefined;
  readonly notify: { readonly channel?: string; readonly level?: string };
  readonly serviceName: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly volumeClaimTemplates: readonly JsonObject[];
  /** Without containers. */
  readonly podSpec: JsonObject;
}

/** A container, and which image runs in it. */
export interface Container {
  /** Name of an image of the file. */
  readonly image: string;
  readonly name: string;
  /** In the file. */
  readonly path: string;
  /** As core/v1 has them, without `image`. */
  readonly fields: JsonObject;
}
