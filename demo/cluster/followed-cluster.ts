import { aborted } from '#base/async/aborted.ts';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { Monotonic } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import type { LocalCluster } from './local-cluster.ts';

/** What {@link FollowedCluster} works with. */
export interface FollowedClusterPorts {
  readonly clock: Clock;
  readonly cluster: Pick<LocalCluster, 'eventLog'>;
  readonly say: (line: string) => void;
}

/** A cluster whose every commit is reported in lines, for plays that wait for what the cluster comes to. */
export class FollowedCluster {
  readonly #ports: FollowedClusterPorts;
  readonly #begun: Monotonic;
  readonly #stored = new Map<string, JsonObject>();
  readonly #wakers = new Set<() => void>();

  /** @param tell the lines to show for a commit */
  constructor(ports: FollowedClusterPorts, tell: (commit: Commit) => readonly string[]) {
    this.#ports = ports;
    this.#begun = ports.clock.monotonic();
    ports.cluster.eventLog.onCommit((commit) => {
      const { resource, name, after } = commit;
      if (after !== undefined) this.#stored.set(`${resource} ${name}`, after);
      for (const line of tell(commit)) this.say(line);
      for (const wake of this.#wakers) wake();
    });
  }

  /** Returns the object as it was stored last. @param resource as in `pods`, `statefulsets.apps` */
  stored(resource: string, name: string): JsonObject | undefined {
    return this.#stored.get(`${resource} ${name}`);
  }

  /** Waits for what `holds` asks, which is looked at with each commit. @throws the reason of `signal` when that aborts first */
  async until(holds: () => boolean, signal: AbortSignal): Promise<void> {
    if (holds()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => {
      if (holds()) resolve();
    };
    this.#wakers.add(wake);
    await Promise.race([promise, aborted(signal)]);
    this.#wakers.delete(wake);
    signal.throwIfAborted();
  }

  /** Says `line`, with the time that has passed. */
  say(line: string): void {
    const { clock, say } = this.#ports;
    const passed = (clock.monotonic() - this.#begun) / 1_000;
    say(`${passed.toFixed(1).padStart(6)} s  ${line}`);
  }
}
