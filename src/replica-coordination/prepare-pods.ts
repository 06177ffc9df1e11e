import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { PodHttp } from '#pod-http/pod-http.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { PlannedPodCall, PodPreparation } from './delayed-downscale-plan.ts';

/** What calls to pods go through. */
export interface PodPreparationPorts {
  readonly podHttp: PodHttp;
  readonly clock: Clock;
  readonly log: Logger;
  /** Last part of pods' names, used as it is (FL-19). */
  readonly clusterDomain: string;
  /** Answers came for `set`: its key is to be planned again. */
  wake(set: StatefulSetView): void;
}

/** Sketch of the effects: `start` returns at once, answers come back through `of` after `wake`. */
export declare class PodPreparations {
  constructor(ports: PodPreparationPorts);
  /** What is known of the pods of `set` when they are called at `url`; slots beyond its replicas are forgotten. */
  of(set: StatefulSetView, url: string): ReadonlyMap<number, PodPreparation>;
  /** Starts `calls`; the end of all POSTs of the set wakes it, and so does the end of all its DELETEs. */
  start(
    work: {
      readonly set: StatefulSetView;
      readonly url: string;
      readonly calls: readonly PlannedPodCall[];
    },
    signal: AbortSignal,
  ): void;
  /** The set is gone, or asks for no delay any more. */
  forget(set: { readonly uid: string }): void;
  /** The lease was gained: nothing is known any more (D-22). */
  clear(): void;
}
