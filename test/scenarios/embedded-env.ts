import type { JsonObject, JsonValue } from '#base/json.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import type { Kubelet } from '#cluster/kubelet/start-kubelet.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Method } from '#kubernetes/transport/transport.ts';
import type { Judgement } from '#support/judge/judge.ts';
import type { PodFleet } from '#support/pods/pod-fleet.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { reviewEvictions } from '#support/world/world-evictions.ts';
import { NAMESPACE } from '#support/world/world-group.ts';
import { ask } from './ask.ts';
import type { Answer, Change, Env, EnvOptions, Feature, OperatorHandle } from './env.ts';

const features: ReadonlySet<Feature> = new Set(['history', 'disturbance', 'zoneLabels']);

/** What may still be written once a scenario is over. */
const settling = seconds(5);

/** What differs from the usual environment. */
export interface EmbeddedEnvOptions extends EnvOptions, Pick<WorldOptions, 'controllers'> {
  /** Starts another program than the one for rollout groups; resolves when it is ready. */
  readonly program?: (world: World) => Promise<OperatorHandle>;
}

/** An {@link Env} on the embedded cluster in virtual time. */
export async function embeddedEnv(options: EmbeddedEnvOptions = {}): Promise<Env> {
  const { maxUnavailable = 2, program = startGroupOperator, ...rest } = options;
  const world = await World.create({ ...rest, maxUnavailable: String(maxUnavailable) });
  return new EmbeddedEnv(world, { maxUnavailable, program });
}

async function startGroupOperator(world: World): Promise<OperatorHandle> {
  const run = await world.readyOperator();
  if (run.ended !== undefined) throw new Error('The operator ended', { cause: run.ended.error });
  return {
    kill: () => {
      run.kill();
      return Promise.resolve();
    },
    stop: () => world.run(run.stop()),
  };
}

class EmbeddedEnv implements Env {
  readonly cluster = 'embedded';
  readonly namespace = NAMESPACE;
  readonly replicas: number;
  readonly maxUnavailable: number;
  readonly #world: World;
  readonly #program: (world: World) => Promise<OperatorHandle>;

  constructor(
    world: World,
    { maxUnavailable, program }: Required<Pick<EmbeddedEnvOptions, 'maxUnavailable' | 'program'>>,
  ) {
    this.#world = world;
    this.#program = program;
    this.replicas = world.options.replicas ?? 3;
    this.maxUnavailable = maxUnavailable;
  }

  get zones(): readonly string[] {
    return this.#world.zones;
  }

  get admin(): Client {
    return this.#world.admin;
  }

  get kubelet(): Kubelet {
    return this.#world.kubelet;
  }

  get pods(): PodFleet {
    return this.#world.fleet;
  }

  supports(feature: Feature): boolean {
    return features.has(feature);
  }

  stored(resource: string, name: string): JsonObject | undefined {
    return this.#world.stored(resource, name);
  }

  names(resource: string): readonly string[] {
    return this.#world.names(resource);
  }

  history(): readonly Change[] {
    return this.#world.cluster.eventLog.commits.filter(({ namespace }) => namespace === NAMESPACE);
  }

  ask(
    method: Method,
    path: string,
    ...rest: readonly [body?: JsonValue, headers?: Readonly<Record<string, string>>]
  ): Promise<Answer> {
    return ask(this.#world.cluster.transport(), { method, path, rest });
  }

  async untilAnswered(path: string, status: number): Promise<void> {
    for (let left = 100; left > 0; left -= 1) {
      if ((await this.ask('GET', path)).status === status) return;
      await this.#world.clock.advance(millis(100));
    }
    throw new Error(`Waited in vain until GET ${path} is answered with ${status}`);
  }

  run<T>(work: Promise<T>): Promise<T> {
    return this.#world.run(work);
  }

  async until(what: string, holds: () => boolean, limit: Millis = seconds(600)): Promise<void> {
    try {
      await this.#world.clock.runUntil(holds, { maxVirtual: limit });
    } catch (cause) {
      throw new Error(`Waited in vain until ${what}`, { cause });
    }
  }

  forgetEvents(): Promise<void> {
    this.#world.cluster.context.store.compact();
    return Promise.resolve();
  }

  async pass(span: Millis): Promise<void> {
    await this.#world.clock.advance(span);
  }

  startOperator(): Promise<OperatorHandle> {
    return this.#program(this.#world);
  }

  async startReviewingOperator(): Promise<OperatorHandle> {
    const operator = await this.startOperator();
    await reviewEvictions(this.#world);
    return operator;
  }

  async judge(quiet?: Millis): Promise<Judgement> {
    const { clock } = this.#world;
    if (quiet === undefined) return this.#world.judge();
    await clock.advance(settling);
    const from = clock.now();
    await this.#world.freezeEnvironment();
    await clock.advance(quiet);
    return this.#world.judge({ quiet: { from } });
  }

  close(): Promise<void> {
    return this.#world.close();
  }
}
