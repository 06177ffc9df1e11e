import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { ClusterHost } from './cluster-host.ts';
import type { PercentCommands, RolloutSight, Rotated } from './percent-commands.ts';
import { PercentWatch } from './percent-watch.ts';
import { namespace } from './workload.ts';

/** What the process of the cluster does about StatefulsetRollouts on command. */
export class PercentHost implements PercentCommands {
  readonly #host: ClusterHost;
  #watch: PercentWatch | undefined;
  #stop: () => void = () => undefined;
  #done = Promise.withResolvers<Rotated>();

  constructor(host: ClusterHost) {
    this.#host = host;
  }

  async watchRotation({
    set,
    pods: count,
    image,
  }: Parameters<PercentCommands['watchRotation']>[0]): Promise<void> {
    this.#stop();
    const { cluster } = this.#host;
    const { items } = await this.#host.client().list(resourceTypes.pods, { namespace });
    const pods = items
      .filter(({ metadata }) => metadata.name.startsWith(`${set}-`))
      .map((after) => ({ name: after.metadata.name, after }));
    if (pods.length !== count) throw new Error(`${set} has ${pods.length} pods, not ${count}`);
    const watch = new PercentWatch(() => cluster.clock.monotonic(), { set, image, pods });
    const done = Promise.withResolvers<Rotated>();
    this.#watch = watch;
    this.#done = done;
    const stops = [
      cluster.eventLog.onCommit((commit) => {
        watch.committed(commit);
        if (watch.left === 0) done.resolve({ wall: watch.age, mostAway: watch.mostAway });
      }),
      cluster.eventLog.onCall((call) => watch.called(call)),
    ];
    this.#stop = (): void => {
      for (const stop of stops) stop();
    };
  }

  async rotated({ patience }: { readonly patience: number }): Promise<Rotated> {
    const late = setTimeout(
      () => this.#done.reject(new Error(`${this.#watch?.left} pods are left after ${patience} ms`)),
      patience,
    );
    try {
      return await this.#done.promise;
    } finally {
      clearTimeout(late);
    }
  }

  seenRollouts(): Promise<RolloutSight> {
    if (this.#watch === undefined) throw new Error('Cannot tell of rollouts that nothing watches');
    return Promise.resolve(this.#watch.seen());
  }
}
