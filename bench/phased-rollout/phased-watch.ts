import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ownerAnnotation } from '#phased-rollout/parse-resource.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { namespace } from '../cluster/workload.ts';

/** A pod that was let go; times in ms of the process. */
export interface Release {
  readonly at: number;
  /** When all pods of the set were ready again; undefined while they are not. */
  wholeAt: number | undefined;
}

/** How the rollout of one set went. */
export interface SetHistory {
  /** When the template was changed. */
  readonly begun: number;
  readonly releases: readonly Release[];
}

interface Watched {
  begun: number;
  partition: number;
  readonly releases: Release[];
}

/** Takes the times of what happens to sets, as a watch of the API server shows it. */
export class SetWatch {
  readonly #sets: Informer<StatefulSetView>;
  readonly #pods: Informer<PodView>;
  readonly #ending = new AbortController();
  readonly #watched = new Map<string, Watched>();
  readonly #problems: Error[] = [];
  #running: Promise<unknown> = Promise.resolve();

  private constructor(client: Client, names: readonly string[]) {
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
    this.#sets = createInformer({ ...common, type, project: parseStatefulSet });
    this.#pods = createInformer({ ...common, type: pods, project: parsePod });
    for (const name of names) this.#watched.set(name, { begun: 0, partition: 0, releases: [] });
    this.#sets.onChange(() => this.#look());
    this.#pods.onChange(() => this.#look());
  }

  /** Returns a watch that shows all sets. */
  static async start(client: Client, names: readonly string[]): Promise<SetWatch> {
    const watch = new SetWatch(client, names);
    const { signal } = watch.#ending;
    watch.#running = Promise.all([watch.#sets.run(signal), watch.#pods.run(signal)]);
    await Promise.all([watch.#sets.synced, watch.#pods.synced]);
    return watch;
  }

  isOwned(name: string): boolean {
    return this.#set(name)?.annotations[ownerAnnotation] === name;
  }

  /** The template is changed now. */
  begin(name: string): void {
    const watched = this.#of(name);
    watched.begun = performance.now();
    watched.partition = this.#set(name)?.spec.partition ?? 0;
  }

  /** Whether the last pod was let go, and all are ready. */
  isRolled(name: string): boolean {
    const [problem] = this.#problems;
    if (problem !== undefined) throw problem;
    const { releases } = this.#of(name);
    const replicas = this.#set(name)?.spec.replicas ?? 0;
    return releases.length === replicas && releases.every(({ wholeAt }) => wholeAt !== undefined);
  }

  historyOf(name: string): SetHistory {
    return this.#of(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#running.catch(() => undefined);
  }

  #look(): void {
    const now = performance.now();
    for (const [name, watched] of this.#watched) {
      const set = this.#set(name);
      if (watched.begun === 0 || set === undefined) continue;
      if (set.spec.partition < watched.partition) {
        watched.releases.push({ at: now, wholeAt: undefined });
      }
      watched.partition = set.spec.partition;
      const last = watched.releases.at(-1);
      if (last !== undefined && last.wholeAt === undefined && this.#isWhole(set))
        last.wholeAt = now;
    }
  }

  /** Whether every pod that was let go runs the new revision, and all are ready. */
  #isWhole({ name, spec, status }: StatefulSetView): boolean {
    return Array.from({ length: spec.replicas }, (_, ordinal) => ordinal).every((ordinal) => {
      const pod = this.#pods.lister.get(namespace, `${name}-${ordinal}`);
      if (pod === undefined || pod.isTerminating || pod.readySince === undefined) return false;
      return ordinal < spec.partition || pod.revision === status.updateRevision;
    });
  }

  #set(name: string): StatefulSetView | undefined {
    return this.#sets.lister.get(namespace, name);
  }

  /** @throws for a set that is not watched */
  #of(name: string): Watched {
    const watched = this.#watched.get(name);
    if (watched === undefined) throw new Error(`Nothing watches ${name}`);
    return watched;
  }
}
