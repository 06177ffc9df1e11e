import type { Client } from '#kubernetes/client.ts';
import { ownerAnnotation } from '#phased-rollout/parse-resource.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { WatchedSets } from '../cluster/watched-sets.ts';
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
  readonly #seen: WatchedSets;
  readonly #watched = new Map<string, Watched>();

  private constructor(client: Client, names: readonly string[]) {
    this.#seen = new WatchedSets(client);
    for (const name of names) this.#watched.set(name, { begun: 0, partition: 0, releases: [] });
    this.#seen.sets.onChange(() => this.#look());
    this.#seen.pods.onChange(() => this.#look());
  }

  /** Returns a watch that shows all sets. */
  static async start(client: Client, names: readonly string[]): Promise<SetWatch> {
    const watch = new SetWatch(client, names);
    await watch.#seen.start();
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
    const { problem } = this.#seen;
    if (problem !== undefined) throw problem;
    const { releases } = this.#of(name);
    const replicas = this.#set(name)?.spec.replicas ?? 0;
    return releases.length === replicas && releases.every(({ wholeAt }) => wholeAt !== undefined);
  }

  historyOf(name: string): SetHistory {
    return this.#of(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#seen[Symbol.asyncDispose]();
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
      const pod = this.#seen.pods.lister.get(namespace, `${name}-${ordinal}`);
      if (pod === undefined || pod.isTerminating || pod.readySince === undefined) return false;
      return ordinal < spec.partition || pod.revision === status.updateRevision;
    });
  }

  #set(name: string): StatefulSetView | undefined {
    return this.#seen.sets.lister.get(namespace, name);
  }

  /** @throws for a set that is not watched */
  #of(name: string): Watched {
    const watched = this.#watched.get(name);
    if (watched === undefined) throw new Error(`Nothing watches ${name}`);
    return watched;
  }
}
