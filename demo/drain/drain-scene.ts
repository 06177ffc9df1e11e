import type { JsonObject } from '#base/json.ts';
import { type Millis, millis } from '#base/units.ts';
import { objectAt } from '#cluster/json/read-json.ts';
import type { NodeConfig } from '#cluster/kubelet/node-fleet-options.ts';
import { zoneAwarePodDisruptionBudgetDefinition } from '#disruption-budget/api.ts';
import { drainFolder } from '../cluster/apply-manifests.ts';
import { changed, isGroupMember, type ManifestChanges } from '../cluster/manifest.ts';
import type { Scene } from '../rollout-group/scene.ts';
import { webhookFlags } from '../rollout-group/trusted-webhooks.ts';

/** How many nodes of a zone are drained at once. */
export const drainedNodes = 3;

/** How long a ready pod counts as not up yet, in the demo: the fewest seconds that Kubernetes knows. */
export const settlesFor = 1;

/** The group under a disruption budget, and a zone with enough nodes to empty some. */
export class DrainScene implements Scene {
  readonly folder = drainFolder;
  readonly definitions: readonly JsonObject[] = [zoneAwarePodDisruptionBudgetDefinition];
  readonly podEnv = {};
  readonly operatorFlags = webhookFlags;
  readonly operators = ['operator'];
  readonly isRollout = true;
  readonly isPaced = false;
  readonly nodes: readonly NodeConfig[] = [
    ...Array.from({ length: 2 * drainedNodes }, (_, index) => ({
      name: `node-a-${index + 1}`,
      zone: 'zone-a',
    })),
    { name: 'node-b-1', zone: 'zone-b' },
    { name: 'node-c-1', zone: 'zone-c' },
  ];
  readonly #speed: number;
  readonly #changes: ManifestChanges;
  #panel: () => readonly string[] = () => [];

  constructor({ speed, ...changes }: ManifestChanges & { readonly speed: number }) {
    this.#speed = speed;
    this.#changes = changes;
  }

  /** Ten seconds become one, so that one can watch; the rest stays as it is in the manifests. */
  change(object: JsonObject): JsonObject {
    if (!isGroupMember(object)) return object;
    const set = changed(object, this.#changes);
    return { ...set, spec: { ...objectAt(set, 'spec'), minReadySeconds: settlesFor } };
  }

  /** Returns how long the drainer `number`, from 1 on, waits before it asks again: never all at one instant. */
  pauseOf(number: number): Millis {
    return millis((900 + 300 * number) / this.#speed);
  }

  /** Has the picture show `lines`, too, from now on. */
  tell(lines: () => readonly string[]): void {
    this.#panel = lines;
  }

  panel(): readonly string[] {
    return this.#panel();
  }
}
