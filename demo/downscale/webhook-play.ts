import type { Clock } from '#base/clock.ts';
import { formatGoDuration } from '#base/time/go-duration.ts';
import { type Millis, millis } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { numberAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError } from '#kubernetes/transport/api-error.ts';
import { LAST_DOWNSCALE } from '#statefulset/last-downscale.ts';
import type { AnsweringPods, PodCall } from '../cluster/answering-pods.ts';
import { demoNamespace } from '../cluster/demo-namespace.ts';
import { kubectlText } from '../cluster/kubectl-text.ts';
import { isComplete } from '../observer/zone-view.ts';
import type { OnPhase } from '../rollout-group/play.ts';
import { patienceFor, type Stage } from '../rollout-group/stage.ts';
import { podsText, type Summary } from '../rollout-group/summary.ts';
import { trustWebhooks } from '../rollout-group/trusted-webhooks.ts';
import { DownscaleProof } from './downscale-proof.ts';
import type { WebhookScene } from './webhook-scene.ts';
import { type ScaleDown, summarizeWebhooks } from './webhook-summary.ts';

/** Pods of a zone that go. */
const most = 2;

/** Ports of a {@link WebhookPlay}. */
export interface WebhookPlayOptions {
  readonly clock: Clock;
  readonly stage: Stage;
  readonly scene: WebhookScene;
  readonly pods: AnsweringPods;
  readonly onPhase: OnPhase;
  readonly signal: AbortSignal;
}

/** Plays a person who scales zones down with kubectl, and what the webhooks have that person read. */
export class WebhookPlay {
  readonly #options: WebhookPlayOptions;
  readonly #proof: DownscaleProof;
  #scaleDowns: ScaleDown[] = [];
  /** How many pods a zone had before the first run; undefined until then. */
  #firstCount: number | undefined;

  constructor(options: WebhookPlayOptions) {
    this.#options = options;
    this.#proof = new DownscaleProof((pod) => options.pods.preparedAt(pod));
    options.stage.onCommit((commit) => this.#observe(commit));
  }

  /** Notes that a pod has answered a call. */
  called(call: PodCall): void {
    this.#proof.called(call);
    const set = call.pod.slice(0, call.pod.lastIndexOf('-'));
    this.#options.stage.note(this.#zoneOf(set), `${call.pod}  ${callText(call)}`);
  }

  /** Waits until the group is installed, and the API server trusts the webhooks. */
  async install(): Promise<void> {
    const { stage } = this.#options;
    const until = (what: string, test: () => boolean): Promise<Millis> => this.#until(what, test);
    await trustWebhooks(stage, await stage.startOperators(until), until);
  }

  /** Plays to the end. @throws {Error} when it does not come to one */
  async run(): Promise<Summary> {
    const { stage, onPhase, pods } = this.#options;
    this.#firstCount ??= stage.observer.zones[0]?.cells.length ?? 0;
    const from = this.#firstCount;
    const to = from - Math.min(most, from - 1);
    if (stage.observer.podCount < from * stage.observer.zones.length) await this.#growBack(from);
    this.#proof.reset();
    this.#scaleDowns = [];
    stage.begin();
    onPhase(`from ${from} to ${podsText(to)} in zone-a and zone-b, by kubectl`, stage.elapsed);
    await this.#refuse('zone-c, by its label', to);
    await this.#shrink('zone-a', to);
    const waiting = formatGoDuration(this.#options.scene.minimumTime);
    await this.#refuse(`zone-b, within ${waiting} of zone-a`, to);
    await this.#have('zone-a', to);
    await this.#untilAllowed('zone-a');
    const stubborn = `${this.#setOf('zone-b')}-${to}`;
    pods.behave(stubborn, { refusals: 1, after: millis(0) });
    await this.#refuse(`zone-b, as ${stubborn} could not prepare`, to);
    await this.#shrink('zone-b', to);
    await this.#have('zone-b', to);
    onPhase(`zone-a and zone-b have ${podsText(to)}, zone-c has ${from}`, undefined);
    return this.#summary(2 * (from - to));
  }

  #summary(wanted: number): Summary {
    const { stage, pods } = this.#options;
    const { departures } = this.#proof;
    const staying = stage.observer.zones.flatMap(({ cells }) => cells.map(({ pod }) => pod));
    return summarizeWebhooks({
      scaleDowns: this.#scaleDowns,
      gone: departures.length,
      prepared: departures.filter(({ waited }) => waited !== undefined).length,
      wanted,
      staying: staying.length,
      stillPrepared: staying.filter((pod) => pods.preparedAt(pod) !== undefined),
    });
  }

  async #growBack(from: number): Promise<void> {
    const { stage, onPhase } = this.#options;
    onPhase(`back to ${from} pods in each zone`, stage.elapsed);
    for (const zone of ['zone-a', 'zone-b']) await this.#scale(zone, from);
    for (const zone of ['zone-a', 'zone-b']) await this.#have(zone, from);
    await this.#untilAllowed('zone-b');
  }

  async #refuse(about: string, to: number): Promise<void> {
    const zone = about.slice(0, 'zone-x'.length);
    const want = wants.find(([word]) => about.includes(word))?.[1] ?? /^$/;
    this.#scaleDowns.push({ about, want, refusal: await this.#scale(zone, to) });
  }

  async #shrink(zone: string, to: number): Promise<void> {
    this.#scaleDowns.push({ about: zone, want: undefined, refusal: await this.#scale(zone, to) });
  }

  /** Scales as kubectl does. @returns what it would print when it is refused */
  async #scale(zone: string, replicas: number): Promise<string | undefined> {
    const { stage, signal } = this.#options;
    const set = this.#setOf(zone);
    stage.note(zone, `$ kubectl -n ${demoNamespace} scale sts ${set} --replicas=${replicas}`);
    try {
      await stage.client.patch(
        resourceTypes.statefulSets,
        { namespace: demoNamespace, name: set },
        {
          body: { kind: 'merge', document: { spec: { replicas } } },
          subresource: 'scale',
          signal,
        },
      );
      stage.note(zone, `statefulset.apps/${set} scaled`);
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const text = kubectlText(error);
      stage.note(zone, text);
      return text;
    }
  }

  #observe(commit: Commit): void {
    const { namespace, resource, name, after } = commit;
    if (namespace !== demoNamespace) return;
    if (resource === 'pods' && after === undefined) this.#options.pods.forget(name);
    if (resource === 'statefulsets.apps') this.#observeSet(commit);
  }

  #observeSet({ name, before, after, at }: Commit): void {
    if (before === undefined || after === undefined) return;
    const from = numberAt(before, 'spec', 'replicas') ?? 1;
    const to = numberAt(after, 'spec', 'replicas') ?? 1;
    if (to >= from) return;
    this.#proof.shrunk({ set: name, zone: this.#zoneOf(name), from, to, at, notedAt: at });
  }

  /** Waits until other zones than `zone` may shrink. */
  async #untilAllowed(zone: string): Promise<void> {
    const { stage, scene, clock, signal } = this.#options;
    const key = { namespace: demoNamespace, name: this.#setOf(zone) };
    const set = await stage.client.get(resourceTypes.statefulSets, key);
    const notedAt = Date.parse(textAt(set, 'metadata', 'annotations', LAST_DOWNSCALE));
    await clock.sleep(millis(Math.max(0, notedAt + scene.minimumTime - clock.now())), { signal });
  }

  /** Waits until `zone` has `count` pods, all ready and no other ones. */
  async #have(zone: string, count: number): Promise<void> {
    await this.#until(`${zone} has ${podsText(count)}`, () =>
      this.#options.stage.observer.zones.some(
        (each) => each.zone === zone && isComplete(each) && each.cells.length === count,
      ),
    );
  }

  #zoneOf(set: string): string {
    return this.#options.stage.observer.zones.find((zone) => zone.set === set)?.zone ?? set;
  }

  #setOf(zone: string): string {
    return this.#options.stage.observer.zones.find((each) => each.zone === zone)?.set ?? zone;
  }

  #until(what: string, test: () => boolean): Promise<Millis> {
    const { stage, signal } = this.#options;
    return stage.until(what, test, { patience: patienceFor(millis(10_000)), signal });
  }
}

/** What the text of each refusal must say. */
const wants: readonly (readonly [word: string, want: RegExp])[] = [
  ['label', /because it has the label 'grafana\.com\/no-downscale=true'$/],
  ['within', /was downscaled at .* and is labelled to wait .* between zone downscales$/],
  ['could not prepare', /because one or more pods failed to prepare for shutdown\.$/],
];

function callText({ method, status }: PodCall): string {
  if (method === 'DELETE') return `is to stay after all: it answers ${status}`;
  return `is asked to prepare, and answers ${status}${status === 200 ? '' : ': not yet'}`;
}
