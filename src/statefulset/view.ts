/**
 * StatefulSets and pods as every capability sees them: what is kept of an object, and what it means. The room is pure, and
 * moves nothing; all that counts pods counts them by this room.
 */
import type { Brand } from '#base/brand.ts';
import type { Instant, Millis, Monotonic } from '#base/units.ts';
import type { KeptKey } from './known-keys.ts';

/** The index in a pod's name; starts at the set's `spec.ordinals.start`. */
export type Ordinal = Brand<number, 'Ordinal'>;

/**
 * The fields of a StatefulSet that any decision reads, parsed and deeply frozen. Absent fields have the value
 * that the API server defaults them to.
 */
export interface StatefulSetView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly isDeleting: boolean;
  /** In whole seconds; undefined where it cannot be read. */
  readonly createdAt: Instant | undefined;
  /** uid of the controlling owner; absent where there is none. */
  readonly controllerUid?: string;
  /** Its kind and name, as people know it. */
  readonly controllerName?: string;
  /** Its own; budgets select by any of them. */
  readonly labels: Readonly<Record<string, string>>;
  /** Only those that are read, and labels that are there by mistake. */
  readonly annotations: Readonly<Partial<Record<KeptKey, string>>>;
  /** Which clients have fields of the object, as it says itself. No pod is let go by it. Absent where it does not say. */
  readonly writers?: {
    readonly replicas?: string;
    readonly strategy?: string;
    readonly partition?: string;
    /** Who wrote what a StatefulsetRollout has wanted last: this operator. */
    readonly applied?: string;
    /** Who wrote the object last, whatever of it. */
    readonly newest?: string;
  };
  readonly spec: {
    readonly replicas: number;
    /** `OnDelete` or `RollingUpdate`; kept as text so that an unknown one can be named. */
    readonly updateStrategy: string;
    /** The partition of a `RollingUpdate`: ordinals below it, counted from `ordinalsStart`, keep the current revision; else 0. */
    readonly partition: number;
    /** Whether a `RollingUpdate` has a `maxUnavailable` of its own. */
    readonly hasMaxUnavailable: boolean;
    /** Whether pods are made one after the other, each once all below it are ready; otherwise all at once. */
    readonly isOrdered: boolean;
    readonly minReady: Millis;
    readonly ordinalsStart: number;
    readonly serviceName: string;
    /** `spec.selector` in the API's string form, for consistent lists of this set's pods (D-4). */
    readonly selector: string;
    /** Labels of the pod template: what budgets select by, and `name` (IN-11). */
    readonly templateLabels: Readonly<Record<string, string>>;
  };
  readonly status: {
    readonly observedGeneration: number;
    readonly replicas: number;
    readonly readyReplicas: number;
    /** Empty until the controller has set it. */
    readonly currentRevision: string;
    /** Empty until the controller has set it. */
    readonly updateRevision: string;
  };
}

/** The fields of a Pod that any decision reads, parsed and deeply frozen. */
export interface PodView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** In whole seconds; undefined where it cannot be read. */
  readonly createdAt: Instant | undefined;
  /** uid of the controlling owner; undefined when no owner reference has `controller: true`. */
  readonly controllerUid: string | undefined;
  /** The `controller-revision-hash` label; undefined when the pod carries none. */
  readonly revision: string | undefined;
  /** Shared with other pods of the template; `labelsOf` returns them as they are. */
  readonly labels: Readonly<Record<string, string>>;
  readonly isTerminating: boolean;
  /** When its grace period ends, or ended; absent where it is not terminating, or the time cannot be read. */
  readonly goneBy?: Instant;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  /** `lastTransitionTime` of the Ready condition while it is True; undefined when it is not, or the time cannot be read. */
  readonly readySince: Instant | undefined;
  /** What the status reports about a pod with a Ready condition other than True; undefined while it is True. */
  readonly unready: Unready | undefined;
  /**
   * How long after its start the Ready condition became other than True: about 0 for a pod that was never ready.
   * Undefined while it is True, or where the status does not say.
   */
  readonly unreadyAfter: Millis | undefined;
  /** Whether every entry of `status.containerStatuses` is ready and running; true for an empty list (RC-32). */
  readonly areContainersReady: boolean;
  /** What keeps a container from running, such as `CrashLoopBackOff`, or the pod from a node; undefined when nothing says so. */
  readonly trouble: string | undefined;
  /**
   * The node that it runs on, or is about to; undefined where there is none, or where the cache keeps nothing of the spec. Lists
   * of ours show it in any case, so that no reader may take a pod for changed by it.
   */
  readonly nodeName: string | undefined;
  /** The annotation `grafana.com/ready-time` as it is there; undefined when the pod carries none. */
  readonly readyTime: string | undefined;
  /** Absent before it has one, and in caches of those who need none. */
  readonly address?: PodAddress;
}

/** Where a pod is found. */
export interface PodAddress {
  readonly pod: string;
  /** The address of its node: the same where the pod uses the node's network. Undefined where the status does not say. */
  readonly host: string | undefined;
}

/** The part of a {@link PodView} that only pods without a true Ready condition have: few, so that the rest stay small. */
export interface Unready {
  /** Status of the Ready condition; undefined where there is none, or none that can be read. */
  readonly condition: 'False' | 'Unknown' | undefined;
  /** Since when the condition is so, or since when the pod has no node where that is what it says; undefined: unreadable. */
  readonly since: Instant | undefined;
  /** Whether it says that no node has been found for it, so that it never ran. */
  readonly isUnscheduled: boolean;
  /** Whether a container waits for a reason that the kubelet repeats; `trouble` is that reason. */
  readonly isBackingOff: boolean;
  /** Whether a container runs whose start-up probe has not succeeded yet. */
  readonly isStartingUp: boolean;
  /** Whether its node may be out of reach, so that its status is old and the pod may serve. */
  readonly isOutOfReach: boolean;
}

/** What this process has seen of pods itself, whatever the clocks of others say. */
export interface Watched {
  /** The time of the snapshot. */
  readonly now: Monotonic;
  /** Since when the Ready condition of a pod has been seen as it is now, by uid; a pod that is not in it was just seen. */
  readonly since: ReadonlyMap<string, Monotonic>;
  /** Those of them that were seen to become so: of these no time counts that others wrote. By uid. */
  readonly witnessed: ReadonlySet<string>;
  /**
   * Those of them, not ready now, that were seen Ready in the last minute, or in the last one before they were seen to
   * terminate: until they went they were no more than not ready. By uid.
   */
  readonly served: ReadonlySet<string>;
  /** When pods that had not served were seen to be gone, by name, of those of the last minute whose place is empty. */
  readonly gone: ReadonlyMap<string, Monotonic>;
  /** Since when this process watches pods; what went before that it does not know. */
  readonly begun: Monotonic;
}
