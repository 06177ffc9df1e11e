import type { Instant } from '#base/units.ts';
import type { Cached } from '#kubernetes/informer/informer.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';

/** What controls a pod. */
export interface ControllerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** What the disruption controller reads of a pod. */
export interface BudgetPod extends Cached {
  readonly labels: Readonly<Record<string, string>>;
  readonly isReady: boolean;
  readonly isTerminating: boolean;
  readonly controller: ControllerReference | undefined;
}

/** An integer, or a percentage such as `50%`. */
export type IntOrPercent = number | string;

/** The numbers of a budget's status. */
export interface BudgetCounts {
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly disruptionsAllowed: number;
  readonly expectedPods: number;
}

/** What the disruption controller reads of a PodDisruptionBudget. */
export interface BudgetView extends Cached {
  readonly generation: number;
  readonly maxUnavailable: IntOrPercent | undefined;
  readonly minAvailable: IntOrPercent | undefined;
  readonly selects: (labels: Readonly<Record<string, string>>) => boolean;
  /** When evictions took their disruption, by pod. */
  readonly disruptedPods: ReadonlyMap<string, Instant>;
  /** The whole object: a write of the status sends it back. */
  readonly object: KubernetesObject;
}

/** A StatefulSet, as far as budgets are concerned. */
export interface ScaledSet extends Cached {
  readonly replicas: number;
}

/** What one sync of a budget knows. */
export interface BudgetSnapshot {
  readonly budget: BudgetView;
  /** The pods that it selects. */
  readonly pods: readonly BudgetPod[];
  /** `spec.replicas` by the uid of the controller; one that was not found is absent. */
  readonly replicas: ReadonlyMap<string, number>;
}
