import type { Clock } from '#base/clock.ts';
import { type Millis, millis } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { numberAt, textAt } from '#cluster/json/read-json.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { budgetFolder, createAll, readManifests } from '../cluster/apply-manifests.ts';
import { demoNamespace } from '../cluster/demo-namespace.ts';
import { nextImage } from '../cluster/manifest.ts';
import { isTerminating } from '../cluster/pod-state.ts';
import { isRolled, isSettled, type ZoneView } from '../observer/zone-view.ts';
import type { OnPhase } from '../rollout-group/play.ts';
import { patienceFor, type Stage } from '../rollout-group/stage.ts';
import type { Summary } from '../rollout-group/summary.ts';
import { trustWebhooks } from '../rollout-group/trusted-webhooks.ts';
import { type DrainScene, drainedNodes, settlesFor } from './drain-scene.ts';
import { type Departure, summarizeDrain } from './drain-summary.ts';
import { Drainer } from './drainer.ts';
import { GivenAway, giftText } from './given-away.ts';

/** Ports of a {@link DrainPlay}. */
export interface DrainPlayOptions {
  readonly clock: Clock;
  readonly stage: Stage;
  readonly scene: DrainScene;
  readonly onPhase: OnPhase;
  readonly signal: AbortSignal;
}

/** Plays three users who drain the nodes of a zone in the middle of a rollout, and which of them waits for which. */
export class DrainPlay {
  readonly #options: DrainPlayOptions;
  #image: string;
  #given = new GivenAway(demoNamespace, '');
  /** How many pods the budget lets be unavailable. */
  #allowed = 0;
  /** Nodes of the group's pods, by name of the pod. */
  readonly #nodes = new Map<string, string>();
  #drainers: readonly Drainer[] = [];
  #departures: Departure[] = [];

  constructor(options: DrainPlayOptions) {
    this.#options = options;
    this.#image = options.stage.firstImage;
    options.stage.onCommit((commit) => this.#observe(commit));
    options.scene.tell(() => this.#panel());
  }

  /** Waits until the group is installed, the API server trusts the webhooks, and the budget has its ledger. */
  async install(): Promise<void> {
    const { stage } = this.#options;
    const until = (what: string, test: () => boolean): Promise<Millis> => this.#until(what, test);
    await trustWebhooks(stage, await stage.startOperators(until), until);
    const budgets = await readManifests(budgetFolder);
    const [budget] = budgets;
    this.#given = new GivenAway(demoNamespace, textAt(budget, 'metadata', 'name'));
    this.#allowed = numberAt(budget, 'spec', 'maxUnavailable') ?? 1;
    await createAll(stage.client, budgets);
    await until('the budget has its ledger', () => this.#given.isKept);
    await until('the operator has looked at the group', () => stage.isIdle);
  }

  /** Plays to the end. @throws {Error} when it does not come to one */
  async run(): Promise<Summary> {
    const { stage, onPhase } = this.#options;
    stage.observer.proof.reset();
    this.#departures = [];
    this.#drainers = [];
    this.#image = nextImage(this.#image);
    const startedAt = stage.elapsed;
    const rule = `a budget of maxUnavailable ${this.#allowed}, pods count after ${settlesFor} s`;
    onPhase(`rolling out ${this.#image}, ${rule}`, startedAt);
    await stage.changeImage(this.#image);
    const pods = stage.observer.podCount;
    await this.#until('the second zone is being rolled', () => isInTheMiddle(stage.observer.zones));
    const [drain, rolledAt] = await Promise.all([
      this.#drain(),
      this.#until('the rollout is done', () => stage.observer.areAll(isRolled)),
    ]);
    await this.#until('every pod is back', () => stage.observer.areAll(isRolled));
    await this.#until('every status says so', () => stage.observer.areAll(isSettled));
    await this.#until('the ledger is empty', () => this.#given.isEmpty);
    onPhase(`${this.#image} runs everywhere, and the nodes are empty`, undefined);
    return summarizeDrain({
      rollout: millis(rolledAt - startedAt),
      drain,
      allowed: this.#allowed,
      proof: stage.observer.proof,
      drainers: this.#drainers.map(({ record }) => record),
      departures: this.#departures,
      pods,
    });
  }

  /** Empties the nodes of the first zone. @returns how long it took */
  async #drain(): Promise<Millis> {
    const { stage, onPhase, signal } = this.#options;
    const zone = stage.observer.zones[0]?.zone ?? '';
    const nodes = await this.#cordon(zone);
    onPhase(`three drainers empty ${nodes.join(', ')} of ${zone}`, stage.elapsed);
    const startedAt = stage.elapsed;
    const ending = new AbortController();
    const connections: Transport[] = [];
    this.#drainers = nodes.map((node, index) => {
      const transport = stage.connect(`drainer-${index + 1}`);
      connections.push(transport);
      return this.#drainer({ zone, node, number: index + 1, transport });
    });
    try {
      const both = AbortSignal.any([signal, ending.signal]);
      const drains = Promise.all(this.#drainers.map((drainer) => drainer.drain(both)));
      const areEmpty = (): boolean => !nodes.some((node) => this.#podsOn(node) > 0);
      const [emptyAt] = await Promise.all([this.#until('the nodes are empty', areEmpty), drains]);
      return millis(emptyAt - startedAt);
    } finally {
      ending.abort();
      await Promise.all(connections.map((connection) => connection.close()));
    }
  }

  #drainer(of: {
    readonly zone: string;
    readonly node: string;
    readonly number: number;
    readonly transport: Transport;
  }): Drainer {
    const { clock, stage, scene } = this.#options;
    const { zone, node, number, transport } = of;
    const name = `drainer-${number}`;
    return new Drainer({
      name,
      node,
      client: createClient({ transport, clock, timeout: millis(10_000), userAgent: name }),
      clock,
      pause: scene.pauseOf(number),
      onNote: (text) => stage.note(zone, text),
    });
  }

  /** Lets pods be on all nodes but those of `zone` with the most of them. @returns these */
  async #cordon(zone: string): Promise<readonly string[]> {
    const { scene, stage } = this.#options;
    const names = scene.nodes.filter((node) => node.zone === zone).map(({ name }) => name);
    const drained = names
      .toSorted((a, b) => this.#podsOn(b) - this.#podsOn(a))
      .slice(0, drainedNodes);
    for (const name of names) {
      const document = { spec: { unschedulable: drained.includes(name) } };
      const body = { kind: 'merge', document } as const;
      await stage.client.patch(resourceTypes.nodes, { name }, { body });
    }
    return drained.toSorted();
  }

  #podsOn(node: string): number {
    return [...this.#nodes.values()].filter((each) => each === node).length;
  }

  #panel(): readonly string[] {
    return [
      ...this.#drainers.map(({ line }) => line),
      ...(this.#given.isKept ? [this.#given.line] : []),
    ];
  }

  #observe(commit: Commit): void {
    const { stage } = this.#options;
    for (const gift of this.#given.observe(commit)) {
      stage.note(this.#zoneOf(gift.pod), `the ledger: ${giftText(gift)}`);
    }
    const isPod = commit.resource === 'pods' && commit.namespace === demoNamespace;
    if (isPod) this.#observePod(commit);
  }

  #observePod({ name, uid, user, before, after }: Commit): void {
    if (after === undefined) this.#nodes.delete(name);
    else this.#nodes.set(name, textAt(after, 'spec', 'nodeName'));
    const isGoing = after === undefined || isTerminating(after);
    if (before === undefined || isTerminating(before) || !isGoing) return;
    const isEvicted = user.startsWith('drainer-');
    this.#departures.push({ pod: name, isEvicted, isGiven: this.#given.has(uid) });
  }

  #zoneOf(pod: string): string {
    const set = pod.slice(0, pod.lastIndexOf('-'));
    return this.#options.stage.observer.zones.find((zone) => zone.set === set)?.zone ?? set;
  }

  #until(what: string, test: () => boolean): Promise<Millis> {
    const { stage, signal } = this.#options;
    const patience = patienceFor(millis(stage.physicalLimit + stage.observer.podCount * 1_000));
    return stage.until(what, test, { patience, signal });
  }
}

/** Reports whether the first zone is done, and a pod of a later one has been replaced, or is. */
function isInTheMiddle([first, ...later]: readonly ZoneView[]): boolean {
  const isFirstDone = first !== undefined && isRolled(first);
  return (
    isFirstDone &&
    later.some(
      ({ target, cells, current, outdated }) => target !== current && outdated < cells.length,
    )
  );
}
