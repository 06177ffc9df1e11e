import type { JsonObject } from '#base/json.ts';
import { formatGoDuration } from '#base/time/go-duration.ts';
import { type Millis, seconds } from '#base/units.ts';
import { objectAt, textAt } from '#cluster/json/read-json.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';
import { MINIMUM_TIME } from '#statefulset/last-downscale.ts';
import { webhookFolder } from '../cluster/apply-manifests.ts';
import { changed, isGroupMember } from '../cluster/manifest.ts';
import type { Scene } from '../rollout-group/scene.ts';
import { webhookFlags } from '../rollout-group/trusted-webhooks.ts';

/** The group whose scale-downs are reviewed. */
export class WebhookScene implements Scene {
  readonly folder = webhookFolder;
  readonly definitions: readonly JsonObject[] = [];
  readonly operatorFlags = webhookFlags;
  readonly operators = ['operator'];
  readonly isRollout = false;
  readonly isPaced = false;
  readonly podEnv: Environment;
  /** Between two zones that shrink; it is noted in whole seconds, so fewer would often be none. */
  readonly minimumTime: Millis;
  readonly #pods: number | undefined;

  constructor(options: {
    /** Where the pods answer. */
    readonly proxy: string;
    readonly speed: number;
    /** How many pods each zone has; undefined: as the manifests say. */
    readonly pods: number | undefined;
  }) {
    this.podEnv = { HTTP_PROXY: options.proxy };
    this.minimumTime = seconds(Math.max(3, Math.ceil(6 / options.speed)));
    this.#pods = options.pods;
  }

  /** Hours become seconds, so that one can watch; the rest stays as it is in the manifests. */
  change(object: JsonObject): JsonObject {
    if (!isGroupMember(object)) return object;
    const set = changed(object, { pods: this.#pods, maxUnavailable: undefined });
    const metadata = objectAt(set, 'metadata');
    if (textAt(metadata, 'annotations', MINIMUM_TIME) === '') return set;
    const annotations = {
      ...objectAt(metadata, 'annotations'),
      [MINIMUM_TIME]: formatGoDuration(this.minimumTime),
    };
    return { ...set, metadata: { ...metadata, annotations } };
  }
}
