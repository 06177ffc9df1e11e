import type { Clock } from '#base/clock.ts';
import { type Monotonic, seconds } from '#base/units.ts';
import type { PodView } from '#statefulset/view.ts';
import type { BegunDisruption, DisruptionsUnderWay } from '../budget/group-budgets.ts';
import type { OpenDisruptions } from './open-disruptions.ts';
import type { PodDeletions } from './pod-deletions.ts';

/** What {@link OwnDisruptions} reads. */
export interface OwnDisruptionPorts {
  readonly clock: Clock;
  readonly open: OpenDisruptions;
  readonly deletions: Pick<PodDeletions, 'isUnderWay'>;
}

/** How long a request for fewer replicas may still take pods (D-50); by then they show that they go, or stay. */
const horizon = seconds(120);

/** The disruptions that this process has under way: their reservations hold, wanted or not. */
export class OwnDisruptions implements DisruptionsUnderWay {
  readonly #ports: OwnDisruptionPorts;
  /** Pods that a request for fewer replicas takes, and when that left, by uid; oldest first. */
  readonly #scaled = new Map<string, { readonly pod: PodView; readonly at: Monotonic }>();

  constructor(ports: OwnDisruptionPorts) {
    this.#ports = ports;
  }

  /** Notes that a request for fewer replicas leaves now, which takes `pods`. */
  scaled(pods: Iterable<PodView>, at: Monotonic): void {
    for (const pod of pods) {
      this.#scaled.delete(pod.uid);
      this.#scaled.set(pod.uid, { pod, at });
    }
  }

  isUnderWay(uid: string): boolean {
    const { open, deletions } = this.#ports;
    this.#forgetOld();
    return open.has(uid) || deletions.isUnderWay(uid) || this.#scaled.has(uid);
  }

  begun(): readonly BegunDisruption[] {
    this.#forgetOld();
    const deleted = this.#ports.open.pods().map((pod): BegunDisruption => ({ pod, by: 'rollout' }));
    const scaled = [...this.#scaled.values()].map(
      ({ pod }): BegunDisruption => ({ pod, by: 'scale-down' }),
    );
    return [...deleted, ...scaled];
  }

  #forgetOld(): void {
    const now = this.#ports.clock.monotonic();
    for (const [uid, { at }] of this.#scaled) {
      if (now - at < horizon) break;
      this.#scaled.delete(uid);
    }
  }
}
