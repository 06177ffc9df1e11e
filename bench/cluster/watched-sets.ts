import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { namespace } from './workload.ts';

/** The sets of the workload and their pods, with the names of their nodes, as a watch of the API server shows them. */
export class WatchedSets {
  readonly sets: Informer<StatefulSetView>;
  readonly pods: Informer<PodView>;
  readonly #ending = new AbortController();
  readonly #problems: Error[] = [];
  #running: Promise<unknown> = Promise.resolve();

  constructor(client: Client) {
    const common = {
      client,
      clock: systemClock(),
      namespace,
      indexers: {},
      report: (problem: unknown): void => {
        this.#problems.push(new Error(`A watch has a problem: ${JSON.stringify(problem)}`));
      },
    };
    const { statefulSets: type, pods } = resourceTypes;
    this.sets = createInformer({ ...common, type, project: parseStatefulSet });
    this.pods = createInformer({
      ...common,
      type: pods,
      isSpecRead: 'node-name',
      project: parsePod,
    });
  }

  /** What the watch met first; nothing that it shows can be trusted then. */
  get problem(): Error | undefined {
    return this.#problems[0];
  }

  /** Resolves once all is shown. */
  async start(): Promise<void> {
    const { signal } = this.#ending;
    this.#running = Promise.all([this.sets.run(signal), this.pods.run(signal)]);
    await Promise.all([this.sets.synced, this.pods.synced]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#running.catch(() => undefined);
  }
}
