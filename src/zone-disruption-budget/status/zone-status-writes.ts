import type { Because } from '#base/because.ts';
import type { Clock } from '#base/clock.ts';
import { type Millis, millis } from '#base/units.ts';
import { ResourceWrites } from '#control/resource/resource-writes.ts';
import { unlessSent } from '#control/write/unless-sent.ts';
import type { UnseenWrites } from '#control/write/unseen-writes.ts';
import { WriteAttempts } from '#control/write/write-attempts.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { ZoneBudgetView } from '../cache/zone-budget-view.ts';
import { formatZoneStatus, parseZoneStatus, type ZoneBudgetStatus } from '../status.ts';

/** What statuses are written through. */
export interface ZoneStatusWritePorts {
  readonly client: Client;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly unseen: UnseenWrites;
}

/** What became of the last write. */
interface Answered {
  readonly sent: string;
  readonly stored: string;
}

/** No status is stored, as another client changes it again and again. */
export interface StatusPause {
  readonly left: Millis;
  readonly because: Because<'StatusContested'>;
}

const type = resourceTypes.zoneDisruptionBudgets;

/** Stores the status of ZoneDisruptionBudgets. */
export class ZoneStatusWrites {
  readonly #ports: ZoneStatusWritePorts;
  readonly #resources: ResourceWrites;
  /** Keyed by uid. */
  readonly #answered = new Map<string, Answered>();
  /** Writes of statuses over ones that another client had changed, by uid. */
  readonly #contests = new WriteAttempts<'status', 'StatusContested'>();

  constructor(ports: ZoneStatusWritePorts) {
    this.#ports = ports;
    this.#resources = new ResourceWrites({ ...ports, type });
  }

  /** Reports whether the cache does not show what was written last. */
  isAwaited({ uid }: ZoneBudgetView): boolean {
    return this.#ports.unseen.of(uid) !== undefined;
  }

  /** Returns why no status of `budget` is stored yet, and for how long; undefined where one may be. */
  pauseOf({ uid }: ZoneBudgetView): StatusPause | undefined {
    const now = this.#ports.clock.monotonic();
    const pause = this.#contests.of(uid, now);
    if (pause === undefined) return undefined;
    return { left: millis(pause.until - now), because: pause.because };
  }

  /**
   * Stores `status` in the place of that of `budget`, which must be as it is there; not again where the definition that is
   * installed has kept less of it before (D-35).
   *
   * @throws what the request fails with
   */
  async store(
    budget: ZoneBudgetView,
    status: ZoneBudgetStatus,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid } = budget;
    const written = formatZoneStatus(status);
    const sent = JSON.stringify(written);
    const answered = this.#answered.get(uid);
    if (answered?.sent === sent && answered.stored === textOf(budget.status)) return;
    if (answered !== undefined && answered.stored !== textOf(budget.status))
      this.#contested(budget);
    const stored = await this.#resources.storeStatus(budget, written, unlessSent(signal));
    this.#answered.set(uid, { sent, stored: textOf(parseZoneStatus(stored)) });
  }

  /** Pauses where another client writes, too: both sides would answer one another as fast as the API server lets them. */
  #contested({ uid, name }: ZoneBudgetView): void {
    const at = this.#ports.clock.monotonic();
    this.#contests.sweep(at);
    this.#contests.written({ key: uid, to: 'status', at }, (writes, wait) => ({
      reason: 'StatusContested',
      message:
        `the status of ${name} was written ${writes} times, and another client changes it each time; ` +
        `it is written again after ${wait / 1_000} s`,
    }));
  }

  /** Forgets the budget, which is gone. */
  forget(uid: string): void {
    this.#answered.delete(uid);
  }
}

function textOf(status: ZoneBudgetStatus): string {
  return JSON.stringify(formatZoneStatus(status));
}
