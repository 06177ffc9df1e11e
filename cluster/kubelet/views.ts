import type { JsonObject } from '#base/json.ts';
import type { Millis } from '#base/units.ts';
import type { Cached } from '#kubernetes/informer/informer.ts';

/** A container of a pod, and the image that it should run. */
export interface Container {
  readonly name: string;
  readonly image: string;
}

/** What the scheduler reads of a pod (KU-2); members are absent where the pod does not ask for them. */
export interface Constraints {
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** `nodeSelectorTerms` of the required node affinity; empty means no affinity. */
  readonly affinityTerms: readonly JsonObject[];
  readonly tolerations: readonly JsonObject[];
}

/** What scheduler and kubelet read of a pod. */
export interface KubeletPod extends Cached {
  readonly labels: Readonly<Record<string, string>>;
  /** Empty until the pod is bound. */
  readonly nodeName: string;
  readonly phase: string;
  readonly isTerminating: boolean;
  /** Time between the DELETE and the kill; of the deletion where there is one, else of the spec. */
  readonly grace: Millis;
  readonly containers: readonly Container[];
  readonly constraints: Constraints;
  /** Condition types that must be True before the pod is Ready. */
  readonly readinessGates: readonly string[];
  /** Types of the conditions that are True. */
  readonly trueConditions: readonly string[];
  /** Why the first container that waits does so, such as `CrashLoopBackOff`; empty when none waits. */
  readonly waitingReason: string;
  readonly restarts: number;
  readonly podIP: string;
}

/** What the scheduler reads of a node (KU-2). */
export interface NodeView extends Cached {
  readonly labels: Readonly<Record<string, string>>;
  readonly isUnschedulable: boolean;
  readonly isReady: boolean;
  readonly taints: readonly JsonObject[];
  /** Pods that fit; from `status.allocatable.pods`. @default 110 */
  readonly podCapacity: number;
}

/** A PersistentVolumeClaim that waits for its volume, or has it. */
export interface ClaimView extends Cached {
  readonly isBound: boolean;
  readonly spec: JsonObject;
}
