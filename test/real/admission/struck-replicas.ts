/** Replicas of the operator behind one Service, whose leader is struck at points that are named. */
import assert from 'node:assert/strict';
import { type Millis, millis, seconds } from '#base/units.ts';
import { evictionLife } from '#disruption/release.ts';
import { freePorts } from '#support/free-ports.ts';
import type { OnOperatorWrite, RealOperator } from '../../real-cluster/operator-runs.ts';
import type { RealEnv } from '../../real-cluster/real-env.ts';
import type { TcpBalancer } from '../../real-cluster/tcp-balancer.ts';
import type { LeaderPoint, Sight } from './leader-points.ts';

/**
 * How long work may stand still: an eviction that was let go, and whose answer was lost with its replica, holds its place for
 * two minutes (D-50) where nothing asks again, as a drain does not that waits for its other pods; and then a rollout goes on.
 */
export const longestStandstill: Millis = millis(evictionLife + seconds(60));

const limit = longestStandstill;

/** A Lease that is lost sooner than by default. */
const briefLease = [
  '-leader-election.lease-duration=6s',
  '-leader-election.renew-deadline=4s',
  '-leader-election.retry-period=1s',
];

/** What becomes of a leader: SIGKILL, SIGTERM, or SIGSTOP until another leads. */
export type LeaderEnd = 'kill' | 'stop' | 'pause';

interface Replica {
  readonly operator: RealOperator;
  /** Where it reviews. */
  readonly port: number;
}

/** A strike that waits for its point. */
interface Armed {
  readonly point: LeaderPoint;
  readonly strike: (leader: Replica) => void;
}

/** See the head of the file. */
export class StruckReplicas {
  readonly #env: RealEnv;
  readonly #balancer: TcpBalancer;
  #alive: readonly Replica[] = [];
  #armed: Armed | undefined;

  constructor(env: RealEnv, balancer: TcpBalancer) {
    this.#env = env;
    this.#balancer = balancer;
    env.onCommit((change) => this.#saw({ kind: 'commit', change }, () => true));
    balancer.onData = (target, moment) =>
      this.#saw({ kind: 'review', moment }, ({ port }) => port === target);
  }

  /** Takes the writes of all replicas. */
  readonly onWrite: OnOperatorWrite = (line, moment, { operator: number, body }) =>
    this.#saw({ kind: 'write', line, moment, body }, ({ operator }) => operator.number === number);

  async start(): Promise<void> {
    const [port = 0] = await freePorts(1);
    const operator = await this.#env.startOperatorWith([
      ...briefLease,
      '-server-tls.enabled=true',
      `-server-tls.port=${port}`,
    ]);
    this.#lead([...this.#alive, { operator, port }]);
  }

  /** Ends the leader as `how` says when it is at `point`, and starts another. */
  async replaceLeader(point: LeaderPoint, how: LeaderEnd): Promise<void> {
    await this.#env.until('an operator leads', () => this.#leader() !== undefined, limit);
    const struck: { replica?: Replica; ended?: Promise<unknown> } = {};
    const strike = (replica: Replica): void => {
      struck.replica = replica;
      // At the very moment when the point is seen.
      if (how === 'pause') replica.operator.pause();
      else struck.ended = replica.operator[how]();
      this.#lead(this.#alive.filter((each) => each !== replica));
    };
    // Reviews come to it: a follower would answer them all if it were asked first.
    const leader = this.#leader();
    this.#lead(this.#alive.toSorted((a, b) => Number(b === leader) - Number(a === leader)));
    this.#armed = { point, strike };
    await this.#env.until(`the leader is struck ${point.what}`, () => 'replica' in struck, limit);
    const { replica } = struck;
    assert.ok(replica !== undefined);
    if (how === 'pause') {
      await this.#env.until('another leads', () => this.#leader() !== undefined, limit);
      replica.operator.resume();
      await replica.operator.ended;
    }
    await struck.ended;
    await this.start();
  }

  async stop(): Promise<void> {
    for (const { operator } of this.#alive) await operator.stop();
  }

  #leader(): Replica | undefined {
    return this.#alive.find(({ operator }) => operator.isLeading());
  }

  #saw(sight: Sight, isOf: (leader: Replica) => boolean): void {
    if (this.#armed === undefined) return;
    const leader = this.#leader();
    if (leader === undefined || !isOf(leader) || !this.#armed.point.isAt(sight)) return;
    const { strike } = this.#armed;
    this.#armed = undefined;
    strike(leader);
  }

  #lead(alive: readonly Replica[]): void {
    this.#alive = alive;
    this.#balancer.targets = alive.map(({ port }) => port);
  }
}
