import type { Clock } from '#base/clock.ts';
import { minutes, seconds } from '#base/units.ts';
import { predecessorHorizon } from '../../test/real-cluster/late-proxy.ts';
import type { RealEnv } from '../../test/real-cluster/real-env.ts';
import { images, isComplete, setImage, setName } from '../../test/scenarios/group.ts';
import type { Requests } from '../cluster/cluster-commands.ts';
import { GroupWatch } from '../cluster/group-watch.ts';
import { requestsIn } from '../operator/requests.ts';
import { drive } from './perfect-driver.ts';

/** One rollout of the group, as etcd stored it. */
export interface Roll {
  /** From the first template change to the last Ready, in ms. */
  readonly wall: number;
  /** Times from a pod's Ready to the delete that follows from it, in ms. */
  readonly reactions: readonly number[];
}

/** One that the operator made. */
export interface OperatorRoll extends Roll {
  /** What it asked during the rollout, until its sets said that it was complete. */
  readonly requests: Requests;
}

/** The same rollout twice: by a driver that is as fast as is possible, and by the operator. */
export interface Pair {
  readonly driver: Roll;
  readonly operator: OperatorRoll;
}

/** How long one rollout may take. */
const limit = minutes(10);

/** What an operator that has just started still has to ask before it is at rest; the same after a rollout. */
const settling = seconds(2);

/** Rolls the group of `env` there and back `count` times: there by the driver, back by an operator of its own. */
export async function rollPairs(
  env: RealEnv,
  clock: Clock,
  count: number,
): Promise<readonly Pair[]> {
  const runs = new PairRuns(env, clock);
  const pairs: Pair[] = [];
  try {
    await runs.begin();
    while (pairs.length < count) pairs.push(await runs.pair());
  } finally {
    runs.close();
  }
  return pairs;
}

class PairRuns {
  readonly #env: RealEnv;
  readonly #clock: Clock;
  readonly #watch: GroupWatch;
  readonly #sets: readonly string[];
  readonly #stop: () => void;

  constructor(env: RealEnv, clock: Clock) {
    this.#env = env;
    this.#clock = clock;
    this.#sets = env.zones.map(setName);
    this.#watch = new GroupWatch(() => clock.monotonic());
    for (const name of this.#sets) this.#watch.add({ name, group: env.namespace }, env.replicas);
    for (const change of env.history()) this.#watch.committed(change);
    this.#stop = env.onCommit((change) => this.#watch.committed(change));
  }

  close(): void {
    this.#stop();
  }

  /** Makes a Lease that says of its holder that it ended in good order, so that no operator after it waits for another. */
  async begin(): Promise<void> {
    const operator = await this.#env.startOperator();
    await this.#env.pass(predecessorHorizon);
    await this.#atRest(images.old);
    await operator.stop();
  }

  async pair(): Promise<Pair> {
    const driver = await this.#roll(images.new, () => drive(this.#env, images.new, limit));
    return { driver, operator: await this.#rollBack() };
  }

  async #rollBack(): Promise<OperatorRoll> {
    const env = this.#env;
    const operator = await env.startOperator();
    await this.#atRest(images.new);
    const from = this.#clock.now();
    const roll = await this.#roll(images.old, async () => {
      await setImage(env, images.old);
      await env.until('all pods are rolled back', () => this.#watch.unrolled === 0, limit);
    });
    await this.#atRest(images.old);
    const to = this.#clock.now();
    await operator.stop();
    const requests = requestsIn(await env.audit(), { user: env.user, from, to });
    return { ...roll, requests };
  }

  /** Waits until the sets say that the rollout to `image` is complete, and nothing is left to be done. */
  async #atRest(image: string): Promise<void> {
    await this.#env.until(`the rollout to ${image} is complete`, () =>
      isComplete(this.#env, image),
    );
    await this.#env.pass(settling);
  }

  async #roll(image: string, work: () => Promise<void>): Promise<Roll> {
    this.#watch.begin(image, this.#sets);
    const begin = this.#clock.monotonic();
    await work();
    const wall = this.#clock.monotonic() - begin;
    const { sameZone, nextZone } = this.#watch.observation();
    return { wall, reactions: [...sameZone, ...nextZone] };
  }
}
