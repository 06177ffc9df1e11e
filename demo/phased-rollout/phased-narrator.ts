import type { JsonObject } from '#base/json.ts';
import { parseTimestamp } from '#base/time/timestamp.ts';
import type { Instant } from '#base/units.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';

/** One change of the demo's cluster, as far as it is reported. */
export interface PhasedSight {
  readonly resource: string;
  readonly name: string;
  readonly after?: JsonObject;
}

/**
 * Reports what has changed in a PhasedRollout with each commit: its partition, what its step waits for, what was counted and
 * answered, and pods that became ready on a new image.
 */
export class PhasedNarrator {
  readonly #set: string;
  readonly #initialDelay: number;
  /** All values that the partition had, newest last. */
  readonly partitions: number[] = [];
  readonly #pods = new Map<string, string>();
  #said = '';

  /** @param initialDelay in seconds */
  constructor(set: string, initialDelay: number) {
    this.#set = set;
    this.#initialDelay = initialDelay;
  }

  /** Returns the lines to show for one commit; none for what changes nothing that people follow. */
  tell({ resource, name, after }: PhasedSight, now: Instant): readonly string[] {
    if (after === undefined) return [];
    if (resource === 'statefulsets.apps' && name === this.#set) return this.#ofSet(after);
    if (resource === 'phasedrollouts.sts.plus') return this.#ofRollout(after, now);
    return resource === 'pods' && name.startsWith(`${this.#set}-`) ? this.#ofPod(name, after) : [];
  }

  #ofSet(set: JsonObject): readonly string[] {
    const strategy = ['spec', 'updateStrategy', 'rollingUpdate', 'partition'];
    const partition = numberAt(set, ...strategy) ?? 0;
    const before = this.partitions.at(-1);
    if (partition === before) return [];
    this.partitions.push(partition);
    if (before === undefined) return [];
    if (partition > before) {
      return [`partition ${partition}: updates are blocked`];
    }
    return [`partition ${partition}: ${this.#set}-${partition} may be updated`];
  }

  #ofPod(name: string, pod: JsonObject): readonly string[] {
    const isReady = objectsAt(pod, 'status', 'conditions').some(
      (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
    );
    const image = textAt(objectsAt(pod, 'spec', 'containers')[0], 'image');
    if (!isReady || this.#pods.get(name) === image) return [];
    const isFirst = !this.#pods.has(name);
    this.#pods.set(name, image);
    return isFirst ? [] : [`${name} is ready with ${image}`];
  }

  #ofRollout(rollout: JsonObject, now: Instant): readonly string[] {
    const said = this.#saying(rollout, now);
    if (said === '' || said === this.#said) return [];
    this.#said = said;
    return [said];
  }

  #saying(rollout: JsonObject, now: Instant): string {
    const phase = textAt(rollout, 'status', 'phase');
    const step = objectAt(rollout, 'status', 'rollingPodStatus');
    if (phase !== 'Rolling') return phase === '' ? '' : `phase ${phase}`;
    switch (textAt(step, 'status')) {
      case 'WaitForInitialDelay':
        return `all pods are available: the first check in ${this.#leftOf(step, now)} s`;
      case 'WaitForChecks':
      case 'PrometheusError':
        return textAt(step, 'lastCheckTime') === '' ? '' : messageOf(rollout, 'Updated');
      case 'WaitForAllPodsToBeAvailable':
        return 'waiting for all pods to be available';
      case 'WaitForPodToBeUpdated':
        return 'waiting for the pod that was let go';
      default:
        return '';
    }
  }

  #leftOf(step: JsonObject, now: Instant): number {
    const begun = parseTimestamp(textAt(step, 'analisysStartTime'), '');
    const since = begun.kind === 'valid' ? begun.value : now;
    return Math.max(0, Math.round(this.#initialDelay - (now - since) / 1_000));
  }
}

function messageOf(rollout: JsonObject, type: string): string {
  const conditions = objectsAt(rollout, 'status', 'conditions');
  return textAt(
    conditions.find((each) => textAt(each, 'type') === type),
    'message',
  );
}
