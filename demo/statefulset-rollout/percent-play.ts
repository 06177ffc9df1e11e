import type { JsonObject } from '#base/json.ts';
import { podsText } from '#base/text/pods-text.ts';
import { type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import { createAll, install } from '../cluster/apply-manifests.ts';
import { demoNamespace } from '../cluster/demo-namespace.ts';
import { FollowedCluster } from '../cluster/followed-cluster.ts';
import type { LocalCluster } from '../cluster/local-cluster.ts';
import { withTag } from '../cluster/manifest.ts';
import { imageOf } from '../cluster/pod-state.ts';
import type { LinesPorts } from '../lines-demo.ts';
import type { DemoSlack, StoredSlackMessage } from './demo-slack.ts';
import { runPercentOperator } from './percent-operator.ts';
import { PercentProof, type PercentWanted } from './percent-proof.ts';
import { RolloutNarrator } from './rollout-narrator.ts';
import { shownText, slackPicture } from './slack-picture.ts';

/** What {@link PercentPlay} works with. */
export interface PercentPlayPorts extends LinesPorts {
  readonly cluster: LocalCluster;
  readonly slack: DemoSlack;
  readonly speed: number;
  readonly wanted: PercentWanted;
  readonly objects: readonly JsonObject[];
}

/** One step of the play: a version at a percentage. */
interface Stage {
  readonly version: string;
  readonly percent: number;
  /** @default false */
  readonly fails?: boolean;
  /** How much of what Slack shows is waited for at its end, and printed. @default none of it */
  readonly shows?: 'message' | 'message and pods';
  /** What is said before it. @default who wants what */
  readonly says?: string;
}

const rollouts = 'statefulsetrollouts.bedrock.operator.slack.com';
const [broken, good] = ['2.5.0', '2.5.1'];
const versionLabel = 'app.kubernetes.io/version';
/** Instead of the half an hour without progress, for which no viewer would wait. */
const timeoutAt = (speed: number): number => Math.max(2, Math.round(8 / speed));
/** A user who then takes the version back. */
const readsFor = seconds(3);
const legend = '● runs the version, · another one, ○ is not ready, ✗ cannot become ready';
const mostPictured = 24;

/** A version that breaks and is taken back, and the next one. */
export class PercentPlay {
  readonly #ports: PercentPlayPorts;
  readonly #proof: PercentProof;
  readonly #narrator = new RolloutNarrator();
  readonly #followed: FollowedCluster;
  readonly #set: JsonObject;
  readonly #formerImage: string;

  constructor(ports: PercentPlayPorts) {
    this.#ports = ports;
    this.#proof = new PercentProof(ports.wanted);
    this.#followed = new FollowedCluster(ports, (commit) => this.#tell(commit));
    const rollout = ports.objects.find((each) => textAt(each, 'kind') === 'StatefulsetRollout');
    this.#set = objectAt(rollout, 'spec', 'statefulset');
    this.#formerImage = imageOf(objectAt(this.#set, 'spec', 'template'));
  }

  async run(signal: AbortSignal): Promise<number> {
    const { cluster, clock, log, slack, objects, wanted } = this.#ports;
    await install(cluster.client, [statefulsetRolloutDefinition], clock);
    const { replicas, maxUnavailable } = wanted;
    this.#followed.say(
      `installing examples/statefulset-rollout: ${podsText(replicas)}, of which the budget lets ${maxUnavailable} be away`,
    );
    if (this.#isPictured) this.#followed.say(legend);
    await createAll(cluster.client, objects);
    const ending = new AbortController();
    const transport = cluster.connect();
    const stop = AbortSignal.any([signal, ending.signal]);
    const operator = runPercentOperator({ clock, log, transport, slack }, stop);
    try {
      const ended = operator.then(() => {
        throw new Error('The operator ended before the rollout did');
      });
      return await Promise.race([this.#play(signal), ended]);
    } finally {
      ending.abort();
      await operator.catch(() => undefined);
    }
  }

  /** Takes what Slack was sent; pages of pods are shown with their message. */
  hear({ text, thread }: StoredSlackMessage): void {
    if (thread === '') this.#followed.say(this.#beside('', `Slack: ${shownText(text)}`));
  }

  async #play(signal: AbortSignal): Promise<number> {
    const { clock, speed, wanted } = this.#ports;
    const former = this.#formerImage.split(':').at(-1) ?? '';
    this.#proof.begin(this.#formerImage);
    await this.#end({ version: former, percent: 50 }, 0, signal);
    // A rollback is known by the age of revisions, which has whole seconds.
    await clock.sleep(seconds(1), { signal });
    await this.#roll({ version: broken, percent: 1, shows: 'message' }, signal);
    this.#break();
    this.#proof.limit(this.#proof.takenNow.length + wanted.maxUnavailable);
    const failing = {
      version: broken,
      percent: 50,
      fails: true,
      shows: 'message and pods',
    } as const;
    await this.#roll(failing, signal);
    await clock.sleep(millis(readsFor / speed), { signal });
    const says = `a user takes v${broken} back: v${former} at 100 percent`;
    const back = await this.#roll(
      { version: former, percent: 100, shows: 'message', says },
      signal,
    );
    const first = await this.#roll({ version: good, percent: 1 }, signal);
    const half = await this.#roll({ version: good, percent: 50 }, signal);
    const whole = { version: good, percent: 100, shows: 'message and pods' } as const;
    const last = await this.#roll(whole, signal);
    return this.#judge({ back, whole: millis(first + half + last) });
  }

  /** Lets the broken version run only where it does already, from now on. */
  #break(): void {
    const { cluster, speed } = this.#ports;
    const image = `*:${broken}`;
    const runsFor = millis(500 / speed);
    cluster.behaviours.add({ match: { image }, behave: 'crashLoop', runsFor });
    const first = this.#proof.takenNow;
    for (const name of first) {
      cluster.behaviours.add({ match: { image, name }, behave: 'slow', by: millis(0) });
    }
    this.#ports.say('');
    this.#followed.say(`v${broken} has a bug: it crashes in every pod but ${first.join(', ')}`);
    this.#followed.say(
      `spec.rolloutTimeoutSeconds gives the next rollout ${timeoutAt(speed)} s; else it would fail after 30 min without progress`,
    );
  }

  #judge({ back, whole }: { readonly back: Millis; readonly whole: Millis }): number {
    const { say, wanted } = this.#ports;
    const faults = this.#proof.faults();
    say('');
    for (const fault of faults) say(`broken: ${fault}`);
    const [, reached = 0, taken = 0, all = 0] = this.#proof.taken.map(({ pods }) => pods.length);
    const { replicas, maxUnavailable } = wanted;
    if (faults.length === 0) {
      say(`most pods unavailable at once: ${this.#proof.mostAway} of ${maxUnavailable} allowed`);
      say(
        `no pod went twice for one version: ${reached} went for v${broken}, ${taken} back, ${all} for v${good}`,
      );
      say(`after v${broken} had failed no pod went until it was taken back`);
    }
    say(
      `the rollback took ${timeText(back)}: it replaced ${podsText(taken)} and left ${replicas - taken} alone; the rollout took ${timeText(whole)} for ${podsText(all)}`,
    );
    return faults.length === 0 ? 0 : 1;
  }

  #tell(commit: Commit): readonly string[] {
    this.#proof.see(commit);
    const { resource, after } = commit;
    if (resource !== rollouts || after === undefined) return [];
    return this.#narrator.tell(after).map((line) => this.#beside(this.#proof.picture(), line));
  }

  /** Returns a line next to the picture of the pods, where that is short. */
  #beside(picture: string, line: string): string {
    return this.#isPictured ? `${picture.padEnd(this.#ports.wanted.replicas)}  ${line}` : line;
  }

  get #isPictured(): boolean {
    return this.#ports.wanted.replicas <= mostPictured;
  }

  /** Rolls once. @returns how long it took */
  async #roll(stage: Stage, signal: AbortSignal): Promise<Millis> {
    const { clock, cluster, wanted } = this.#ports;
    const begun = clock.monotonic();
    const { version, percent } = stage;
    this.#ports.say('');
    this.#followed.say(stage.says ?? `a user wants v${version} at ${percent} percent`);
    this.#proof.forbid(false);
    this.#proof.begin(withTag(this.#formerImage, version));
    const { metadata } = await cluster.client.patch(
      resourceTypes.statefulsetRollouts,
      { namespace: demoNamespace, name: wanted.set },
      { body: { kind: 'merge', document: this.#edit(stage) } },
    );
    const ended = await this.#end(stage, metadata.generation ?? 0, signal);
    return millis(ended - begun);
  }

  /** Returns what a user changes of the resource. */
  #edit({ version, percent, fails }: Stage): JsonObject {
    const labels = { [versionLabel]: `v${version}` };
    const [container] = objectsAt(this.#set, 'spec', 'template', 'spec', 'containers');
    const containers = [{ ...container, image: withTag(this.#formerImage, version) }];
    return {
      metadata: { labels },
      spec: {
        percent,
        rolloutIdentity: `deploy-v${version}`,
        rolloutTimeoutSeconds: fails === true ? timeoutAt(this.#ports.speed) : null,
        statefulset: { spec: { template: { metadata: { labels }, spec: { containers } } } },
      },
    };
  }

  /** Waits for the end of `stage`, and until Slack shows it where that is shown. @returns when it ended */
  async #end(stage: Stage, generation: number, signal: AbortSignal): Promise<Monotonic> {
    await this.#followed.until(() => this.#hasEnded(stage, generation), signal);
    const ended = this.#ports.clock.monotonic();
    this.#proof.forbid(stage.fails === true);
    if (stage.shows !== undefined) {
      await this.#followed.until(() => this.#isTold(stage), signal);
      this.#show(stage.shows === 'message and pods');
    }
    return ended;
  }

  /** Reports whether it ended as it should. @throws {Error} when it ended in another way */
  #hasEnded({ fails = false }: Stage, generation: number): boolean {
    const rollout = this.#followed.stored(rollouts, this.#ports.wanted.set);
    if ((numberAt(rollout, 'status', 'observedGeneration') ?? 0) < generation) return false;
    const phase = textAt(rollout, 'status', 'phase');
    if (phase !== 'RolloutDone' && phase !== 'RolloutFailed') return false;
    if (fails === (phase === 'RolloutFailed')) return true;
    throw new Error(`The rollout ended as ${phase}: ${textAt(rollout, 'status', 'reason')}`);
  }

  /** Returns the message of the present version, and its first page of pods. */
  get #thread(): readonly StoredSlackMessage[] {
    const all = [...this.#ports.slack.messages];
    const found = all.findLast(([, { thread }]) => thread === '');
    if (found === undefined) return [];
    const [ts, message] = found;
    const page = all.find(([, { thread }]) => thread === ts)?.[1];
    return page === undefined ? [message] : [message, page];
  }

  #isTold({ fails, version, percent }: Stage): boolean {
    const [message, page] = this.#thread;
    const start = `${fails === true ? 'Failed' : 'Done'}: ${this.#ports.wanted.set} v${version}, `;
    const { text = '' } = message ?? {};
    if (!text.startsWith(start) || !text.includes(`(${percent} %)`)) return false;
    const pods = slackPicture(page?.blocks ?? []).join('\n');
    return fails === true ? pods.includes('🔴') : pods !== '' && !/[🔄♻⚪]/u.test(pods);
  }

  #show(withPods: boolean): void {
    const [message, page] = this.#thread;
    const lines = [
      ...slackPicture(message?.blocks ?? []),
      ...(withPods ? slackPicture(page?.blocks ?? []).map((line) => `  ${line}`) : []),
    ];
    for (const line of lines) this.#ports.say(`          │ ${line}`);
  }
}

function timeText(span: Millis): string {
  return `${(span / 1_000).toFixed(1)} s`;
}
