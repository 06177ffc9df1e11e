import type { Clock } from '#base/clock.ts';
import { type Monotonic, seconds } from '#base/units.ts';
import type { Begun } from '#disruption/decide.ts';
import type { DisruptionsUnderWay } from './group-budgets.ts';
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
  /** When a request for fewer replicas left that takes the pod, by uid; oldest first. */
  readonly #scaled = new Map<string, Monotonic>();

  constructor(ports: OwnDisruptionPorts) {
    this.#ports = ports;
  }

  /** A request for fewer replicas leaves now that takes the pods `uids`. */
  scaled(uids: Iterable<string>, now: Monotonic): void {
    for (const uid of uids) {
      this.#scaled.delete(uid);
      this.#scaled.set(uid, now);
    }
  }

  isUnderWay(uid: string): boolean {
    const { open, deletions } = this.#ports;
    this.#forgetOld();
    return open.has(uid) || deletions.isUnderWay(uid) || this.#scaled.has(uid);
  }

  begun(): readonly Omit<Begun, 'asking'>[] {
    return this.#ports.open.pods().map(({ name, uid }) => ({
      pod: { name, uid, controllerUid: undefined },
    }));
  }

  #forgetOld(): void {
    const now = this.#ports.clock.monotonic();
    for (const [uid, at] of this.#scaled) {
      if (now - at < horizon) break;
      this.#scaled.delete(uid);
    }
  }
}
