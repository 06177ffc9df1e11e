import type { Brand } from '#base/brand.ts';
import type { Instant, Millis } from '#base/units.ts';

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
  /** Only keys that this operator knows; see each capability's `api.ts`. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: {
    readonly replicas: number;
    /** `OnDelete` or `RollingUpdate`; kept as text so that an unknown one can be named. */
    readonly updateStrategy: string;
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
  /** uid of the controlling owner; undefined when no owner reference has `controller: true`. */
  readonly controllerUid: string | undefined;
  /** The `controller-revision-hash` label; undefined when the pod carries none. */
  readonly revision: string | undefined;
  readonly isTerminating: boolean;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  /** `lastTransitionTime` of the Ready condition while it is True; undefined when it is not True. */
  readonly readySince: Instant | undefined;
  /**
   * How long after its start the Ready condition became other than True: about 0 for a pod that was never ready.
   * Undefined while it is True, or where the status does not tell.
   */
  readonly unreadyAfter: Millis | undefined;
  /** Whether every entry of `status.containerStatuses` is ready and running; true for an empty list (RC-32). */
  readonly areContainersReady: boolean;
  /** Why a container waits or ended, such as `CrashLoopBackOff`; undefined when none says so. */
  readonly trouble: string | undefined;
}
