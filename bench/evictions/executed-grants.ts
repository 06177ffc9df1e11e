import type { Executed } from '../cluster/eviction-commands.ts';
import type { EvictionStage } from './eviction-stage.ts';

/** Pods of a zone that are asked for in turns, and evicted as soon as the webhook lets them go. */
export class ExecutedGrants {
  /** What became of grants. */
  readonly counts: Record<Executed, number> = {
    reserved: 0,
    predecessor: 0,
    unreserved: 0,
    unready: 0,
    absent: 0,
  };
  readonly #stage: EvictionStage;
  readonly #pods: readonly string[];
  /** How long a pod that was evicted is not asked for, in ms. */
  readonly #pause: number;
  /** When each may be asked for again. */
  readonly #free = new Map<string, number>();
  /** Asked for, or let go and not evicted yet: by another answer its successor would be evicted. */
  readonly #asked = new Set<string>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #onExecuted: () => void;
  #next = 0;

  constructor(
    stage: EvictionStage,
    { set, pods, pause }: { readonly set: string; readonly pods: number; readonly pause: number },
    onExecuted: () => void = () => undefined,
  ) {
    this.#stage = stage;
    this.#pods = Array.from({ length: pods }, (_, ordinal) => `${set}-${ordinal}`);
    this.#pause = pause;
    this.#onExecuted = onExecuted;
  }

  /** Takes the next pod that is neither asked for nor was evicted a moment ago; undefined while there is none. */
  take(): string | undefined {
    const now = performance.now();
    for (let tries = 0; tries < this.#pods.length; tries += 1) {
      const pod = this.#turn();
      if ((this.#free.get(pod) ?? 0) > now || this.#asked.has(pod)) continue;
      this.#asked.add(pod);
      return pod;
    }
    return undefined;
  }

  /** The webhook has answered about `pod`, which is evicted if it is let go. */
  answered(pod: string, isLetGo: boolean): void {
    if (isLetGo) this.#begin(pod);
    else this.#asked.delete(pod);
  }

  /** Resolves once all that was let go is evicted. @throws what an eviction fails with */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  #begin(pod: string): void {
    const work = this.#execute(pod).finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  #turn(): string {
    const pod = this.#pods[this.#next % this.#pods.length];
    this.#next += 1;
    return pod ?? '';
  }

  async #execute(pod: string): Promise<void> {
    const outcome = await this.#stage.cluster.call('execute', { pod });
    this.counts[outcome] += 1;
    this.#free.set(pod, performance.now() + this.#pause);
    this.#asked.delete(pod);
    this.#onExecuted();
  }
}
