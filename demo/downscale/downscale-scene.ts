import type { JsonObject } from '#base/json.ts';
import { formatGoDuration } from '#base/time/go-duration.ts';
import { type Millis, millis } from '#base/units.ts';
import { objectAt, textAt } from '#cluster/json/read-json.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';
import { replicaTemplateDefinition } from '#replica-coordination/replica-template.ts';
import { MINIMUM_TIME } from '#statefulset/last-downscale.ts';
import { downscaleFolder } from '../cluster/apply-manifests.ts';
import { changed, isGroupMember } from '../cluster/manifest.ts';
import type { ZoneView } from '../observer/zone-view.ts';
import type { Scene } from '../rollout-group/scene.ts';
import { podsText } from '../rollout-group/summary.ts';

const DELAY = 'grafana.com/rollout-delayed-downscale';

/** How long a zone's pods must be prepared, and how far zones must be apart, in the demo. */
export interface DownscaleTimes {
  readonly delay: Millis;
  readonly minimumTime: Millis;
  /** How long the pod that is late takes to answer; well below the operator's limit of 5 s. */
  readonly late: Millis;
  /** How often the pod that is not ready to prepare says so; the operator asks again after 1, 2, 4 s. */
  readonly refusals: number;
}

/** Returns the times of the demo, divided by `speed`. */
export function downscaleTimesAt(speed: number): DownscaleTimes {
  return {
    delay: millis(Math.ceil(4_000 / speed)),
    minimumTime: millis(Math.ceil(6_000 / speed)),
    late: millis(1_500 / Math.max(1, speed)),
    refusals: Math.min(3, Math.ceil(3 / speed)),
  };
}

/** The group that is scaled through its ReplicaTemplate. */
export class DownscaleScene implements Scene {
  readonly folder = downscaleFolder;
  readonly definitions: readonly JsonObject[] = [replicaTemplateDefinition];
  readonly operatorFlags = [];
  readonly operators = ['operator'];
  readonly isRollout = false;
  readonly isPaced = false;
  readonly podEnv: Environment;
  readonly times: DownscaleTimes;
  readonly #pods: number | undefined;
  #wanted: number | undefined;

  constructor(options: {
    /** Where the pods answer. */
    readonly proxy: string;
    readonly times: DownscaleTimes;
    /** How many pods each zone has; undefined: as the manifests say. */
    readonly pods: number | undefined;
  }) {
    this.podEnv = { HTTP_PROXY: options.proxy };
    this.times = options.times;
    this.#pods = options.pods;
  }

  /** Hours become seconds, so that one can watch; the rest stays as it is in the manifests. */
  change(object: JsonObject): JsonObject {
    const pods = this.#pods;
    if (textAt(object, 'kind') === 'ReplicaTemplate') {
      return pods === undefined
        ? object
        : { ...object, spec: { ...objectAt(object, 'spec'), replicas: pods } };
    }
    if (!isGroupMember(object)) return object;
    const set = changed(object, { pods, maxUnavailable: undefined });
    const metadata = objectAt(set, 'metadata');
    const { delay, minimumTime } = this.times;
    const annotations = {
      ...objectAt(metadata, 'annotations'),
      [MINIMUM_TIME]: formatGoDuration(minimumTime),
      [DELAY]: `${delay}ms`,
    };
    return { ...set, metadata: { ...metadata, annotations } };
  }

  /** Notes the count that the autoscaler has asked for. */
  want(replicas: number): void {
    this.#wanted = replicas;
  }

  next(zones: readonly ZoneView[]): string {
    const wanted = this.#wanted;
    const behind = zones.filter(({ cells }) => cells.length !== wanted).map(({ zone }) => zone);
    if (wanted === undefined || behind.length === 0)
      return 'nothing: every zone has what is wanted';
    return `${behind.join(', then ')} ${behind.length === 1 ? 'goes' : 'go'} to ${podsText(wanted)}`;
  }
}
