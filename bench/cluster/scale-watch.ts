import type { JsonObject } from '#base/json.ts';
import type { Commit } from '#cluster/event-log.ts';
import { operatorUser } from './workload.ts';

/** Times from a change of a template to the write of the set that mirrors it, as the server commits them. */
export class ScaleWatch {
  readonly #monotonic: () => number;
  /** When templates were changed whose sets have not followed yet, with what they ask for, by name. */
  readonly #open = new Map<string, { readonly at: number; readonly replicas: number }>();
  #samples: number[] = [];
  #whenDone: (() => void) | undefined;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Templates whose sets have not followed yet. */
  get open(): number {
    return this.#open.size;
  }

  /** The times since the last call of this, in ms. */
  taken(): readonly number[] {
    const samples = this.#samples;
    this.#samples = [];
    return samples;
  }

  /** Resolves when every set has followed. */
  async done(): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenDone = resolve;
    });
  }

  /** Takes one commit; a set has the name of the template that it mirrors. */
  committed({ resource, name, user, before, after }: Commit): void {
    const replicas = countOf(after);
    if (before === undefined || replicas === countOf(before)) return;
    if (resource === 'replicatemplates.rollout-operator.grafana.com') {
      this.#open.set(name, { at: this.#monotonic(), replicas });
    } else if (resource === 'statefulsets.apps' && user === operatorUser) {
      this.#followed(name, replicas);
    }
  }

  #followed(name: string, replicas: number): void {
    const asked = this.#open.get(name);
    if (asked?.replicas !== replicas) return;
    this.#open.delete(name);
    this.#samples.push(this.#monotonic() - asked.at);
    if (this.#open.size > 0) return;
    this.#whenDone?.();
    this.#whenDone = undefined;
  }
}

function countOf(object: JsonObject | undefined): number {
  const shape = object as unknown as { readonly spec?: { readonly replicas?: number } } | undefined;
  return shape?.spec?.replicas ?? 0;
}
