import type { Clock } from '#base/clock.ts';
import { isJsonObject } from '#base/json.ts';
import { formatGoDuration } from '#base/time/go-duration.ts';
import { instant, type Millis, millis } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { numberAt, textAt } from '#cluster/json/read-json.ts';
import { resourcePath } from '#kubernetes/resource-path.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { LAST_DOWNSCALE } from '#statefulset/last-downscale.ts';
import type { AnsweringPods, PodCall } from '../cluster/answering-pods.ts';
import { createAll } from '../cluster/apply-manifests.ts';
import { demoNamespace } from '../cluster/demo-namespace.ts';
import { isComplete } from '../observer/zone-view.ts';
import type { OnPhase } from '../rollout-group/play.ts';
import { patienceFor, type Stage } from '../rollout-group/stage.ts';
import { podsText, type Summary } from '../rollout-group/summary.ts';
import { DownscaleProof } from './downscale-proof.ts';
import type { DownscaleScene } from './downscale-scene.ts';
import { summarizeDownscale } from './downscale-summary.ts';
import {
  lastDownscaleConfiguration,
  registerLastDownscaleWebhook,
} from './last-downscale-webhook.ts';

/** The object that the example's zones mirror. */
const template = { namespace: demoNamespace, name: 'ingester' };

/** As commits name their resource. */
const { plural, group } = resourceTypes.replicaTemplates;
const templates = `${plural}.${group}`;

/** Pods of each zone that go. */
const most = 3;

/** Ports of a {@link DownscalePlay}. */
export interface DownscalePlayOptions {
  readonly clock: Clock;
  readonly stage: Stage;
  readonly scene: DownscaleScene;
  readonly pods: AnsweringPods;
  readonly onPhase: OnPhase;
  readonly signal: AbortSignal;
}

/** Plays an autoscaler that takes pods away from three zones, and watches how they go. */
export class DownscalePlay {
  readonly #options: DownscalePlayOptions;
  readonly #proof: DownscaleProof;
  /** `status.replicas` of what the zones mirror. */
  #reported = 0;
  /** Names of pods that were called before the first run. */
  readonly #told = new Set<string>();
  /** How many pods a zone had before the first run; undefined until then. */
  #firstCount: number | undefined;

  constructor(options: DownscalePlayOptions) {
    this.#options = options;
    this.#proof = new DownscaleProof((pod) => options.pods.preparedAt(pod));
    options.stage.onCommit((commit) => this.#observe(commit));
  }

  /** Notes that a pod has answered a call. */
  called(call: PodCall): void {
    this.#proof.called(call);
    // After its start the operator takes back whatever its predecessor may have asked for (D-22).
    if (this.#firstCount === undefined) return void this.#told.add(call.pod);
    const zone = this.#zoneNamed(call.pod.slice(0, call.pod.lastIndexOf('-')));
    this.#options.stage.note(zone, `${call.pod}  ${callText(call)}`);
  }

  /** Waits until the group is installed, and the operator knows. */
  async install(): Promise<void> {
    const { stage, clock } = this.#options;
    registerLastDownscaleWebhook(stage.webhooks, clock);
    await createAll(stage.client, [lastDownscaleConfiguration]);
    await stage.startOperators((what, test) => this.#until(what, test));
    await this.#until(
      'the operator has notified all pods that they stay',
      () => stage.isIdle && this.#told.size >= stage.observer.podCount,
    );
  }

  /** Plays to the end. @throws {Error} when it does not come to one */
  async run(): Promise<Summary> {
    const { stage, scene, onPhase, pods } = this.#options;
    this.#firstCount ??= stage.observer.zones[0]?.cells.length ?? 0;
    const from = this.#firstCount;
    const going = Math.min(most, from - 1);
    stage.begin();
    if (stage.observer.podCount < from * stage.observer.zones.length) await this.#growBack(from);
    const to = from - going;
    const { delay, minimumTime, late, refusals } = scene.times;
    const [one = '', two = one] = stage.observer.zones.map(({ set }) => set);
    pods.behave(`${one}-${to}`, { refusals, after: millis(0) });
    pods.behave(`${two}-${to}`, { refusals: 0, after: late });
    this.#proof.reset();
    const startedAt = stage.elapsed;
    const rules = `${formatGoDuration(delay)} after each pod's word, ${formatGoDuration(minimumTime)} between zones`;
    onPhase(`from ${from} to ${podsText(to)} in each zone: ${rules}`, startedAt);
    stage.note('', `a webhook of the demo notes ${LAST_DOWNSCALE}, in place of the operator's own`);
    await this.#scale(to);
    const scaledAt = await this.#until(`all zones have ${to} pods`, () => this.#have(to));
    const isTold = (): boolean => stage.isIdle && !stage.narrator.isBehind;
    await this.#until('the operator sees that nothing is left to do', isTold);
    onPhase(`every zone has ${podsText(to)}`, undefined);
    const stillPrepared = stage.observer.zones
      .flatMap(({ cells }) => cells.map(({ pod }) => pod))
      .filter((pod) => pods.preparedAt(pod) !== undefined);
    const took = millis(scaledAt - startedAt);
    const zones = stage.observer.zones.length;
    const proof = this.#proof;
    return summarizeDownscale({ took, zones, from, to, delay, minimumTime, proof, stillPrepared });
  }

  async #growBack(from: number): Promise<void> {
    this.#options.onPhase(`back to ${from} pods in each zone`, this.#options.stage.elapsed);
    await this.#scale(from);
    await this.#until(`all zones have ${from} pods again`, () => this.#have(from));
  }

  /** Reports whether each zone has `count` pods, all ready and no other ones, and what they mirror says so. */
  #have(count: number): boolean {
    const { observer } = this.#options.stage;
    const isThere = observer.areAll((zone) => isComplete(zone) && zone.cells.length === count);
    const isAll = observer.podCount === count * observer.zones.length;
    return isThere && isAll && this.#reported === count;
  }

  /** Scales as an autoscaler does: reads the scale, and puts it back with another count. */
  async #scale(replicas: number): Promise<void> {
    const { stage, scene, signal } = this.#options;
    scene.want(replicas);
    const path = resourcePath(resourceTypes.replicaTemplates, {
      ...template,
      subresource: 'scale',
    });
    const scale = await stage.client.raw({ method: 'GET', path }, { signal });
    if (!isJsonObject(scale)) {
      throw new Error(
        `Cannot scale ReplicaTemplate "${template.name}": its scale is not an object`,
      );
    }
    stage.note(
      '',
      `the autoscaler asks ReplicaTemplate "${template.name}" for ${podsText(replicas)} in each zone`,
    );
    const body = { ...scale, spec: { replicas } };
    await stage.client.replace(resourceTypes.replicaTemplates, template, {
      body,
      subresource: 'scale',
      signal,
    });
  }

  #observe(commit: Commit): void {
    if (commit.namespace !== demoNamespace) return;
    const { resource, name, after } = commit;
    if (resource === 'pods' && after === undefined) this.#options.pods.forget(name);
    if (resource === templates) this.#reported = numberAt(after, 'status', 'replicas') ?? 0;
    if (resource === 'statefulsets.apps') this.#observeSet(commit);
  }

  #observeSet(commit: Commit): void {
    const { before, after } = commit;
    if (before === undefined || after === undefined) return;
    const from = numberAt(before, 'spec', 'replicas') ?? 1;
    const to = numberAt(after, 'spec', 'replicas') ?? 1;
    if (to < from) this.#shrunk(commit, from, to);
  }

  #shrunk({ name: set, at, after }: Commit, from: number, to: number): void {
    const zone = this.#zoneNamed(set);
    const noted = textAt(after, 'metadata', 'annotations', LAST_DOWNSCALE);
    const notedAt = noted === '' ? at : instant(Date.parse(noted));
    this.#proof.shrunk({ set, zone, from, to, at, notedAt });
  }

  #zoneNamed(set: string): string {
    return this.#options.stage.observer.zones.find((zone) => zone.set === set)?.zone ?? set;
  }

  #until(what: string, test: () => boolean): Promise<Millis> {
    const { stage, scene, signal } = this.#options;
    const { delay, minimumTime } = scene.times;
    return stage.until(what, test, {
      patience: patienceFor(millis(delay + 2 * minimumTime)),
      signal,
    });
  }
}

function callText({ method, status, took, preparedAt }: PodCall): string {
  const late = took >= 100 ? ` after ${(took / 1_000).toFixed(2)} s` : '';
  if (method !== 'POST') return `is to stay: it answers ${status}${late}`;
  if (status !== 200 || preparedAt === undefined)
    return `is asked to prepare, and answers${late}: ${status}, not yet`;
  return `is asked to prepare, and answers${late}: prepared since ${timeOfDay(preparedAt)}`;
}

function timeOfDay(at: number): string {
  return `${new Date(Math.ceil(at / 1_000) * 1_000).toISOString().slice(11, 19)} UTC`;
}
