import { availableParallelism } from 'node:os';
import { millis } from '#base/units.ts';
import type { Judgement } from '#support/judge/judge.ts';
import type { RealEnv } from '../../test/real-cluster/real-env.ts';
import { type RealLane, startRealLane } from '../../test/real-cluster/real-lane.ts';
import { bounded, type Figure, type Findings, percentile, type Size, told } from '../figures.ts';
import { loadSince, machineReading } from '../operator/process-usage.ts';
import { describeRequests } from '../operator/requests.ts';
import { type Pair, type Roll, rollPairs } from './real-pairs.ts';

/** How long pods take to end, to be bound, to start and to become ready, in ms. */
type Delays = Readonly<Record<'stop' | 'bind' | 'start' | 'ready', number>>;

interface Group {
  readonly replicas: number;
  readonly maxUnavailable: number;
}

interface Setting {
  readonly delays: Delays;
  /** Measured one after the other, each in a namespace of its own. */
  readonly groups: readonly Group[];
  readonly pairs: number;
}

const settings: Readonly<Record<Size, Setting>> = {
  full: {
    delays: { stop: 100, bind: 100, start: 550, ready: 1_450 },
    groups: [
      { replicas: 200, maxUnavailable: 20 },
      { replicas: 20, maxUnavailable: 1 },
    ],
    pairs: 3,
  },
  tiny: {
    delays: { stop: 20, bind: 20, start: 20, ready: 50 },
    groups: [
      { replicas: 4, maxUnavailable: 2 },
      { replicas: 2, maxUnavailable: 1 },
    ],
    pairs: 1,
  },
};

/** What a group that rolls one pod at a time may ask beside the deletes. */
const asksOnce = 15;
const asksEach10s = 3;

/** What was measured of one group. */
interface Measured {
  readonly env: RealEnv;
  /** From DELETE to Ready of the replacement, in ms, without what the cluster adds. */
  readonly restart: number;
  readonly pairs: readonly Pair[];
  readonly judgement: Judgement;
  readonly load: string;
}

/**
 * Measures how long a rollout takes on a real control plane, and what it asks of it, compared with a perfect driver on the
 * same one: a driver that knows each commit as etcd makes it, and deletes the next pod the instant the budget allows it.
 */
export async function rolloutOnReal(size: Size): Promise<readonly Findings[]> {
  const { delays, groups } = settings[size];
  const { stop, bind, start, ready } = delays;
  const lane = await startRealLane({
    delays: { stop: millis(stop), bind: millis(bind), start: millis(start), ready: millis(ready) },
  });
  try {
    const findings: Findings[] = [];
    for (const group of groups) {
      findings.push(findingsOf(await measure(lane, group, settings[size]), size));
    }
    return findings;
  } finally {
    await lane.close();
  }
}

async function measure(lane: RealLane, group: Group, setting: Setting): Promise<Measured> {
  const { stop, bind, start, ready } = setting.delays;
  const env = await lane.env(group);
  const before = machineReading();
  const pairs = await rollPairs(env, lane.plane.clock, setting.pairs);
  const load = loadSince(before);
  const judgement = await env.judge();
  await env.close();
  return { env, restart: stop + bind + start + ready, pairs, judgement, load };
}

function findingsOf(measured: Measured, size: Size): Findings {
  const { env, restart, pairs, load } = measured;
  return {
    bench: 'rollout',
    setting:
      `${env.zones.length} zones × ${env.replicas} pods, ${env.maxUnavailable} at a time, restarts of ${restart} ms, on a real etcd, kube-apiserver and kube-controller-manager; ` +
      `${pairs.length} × perfect driver there, operator under its Role back; ${availableParallelism()} cores; ${load}`,
    figures: [
      wallFigure(measured, size),
      reactionFigure(measured, size),
      requestsFigure(measured, size),
      invariantsFigure(measured, size),
      driverFigure(measured),
    ],
  };
}

function podsIn({ zones, replicas }: RealEnv): number {
  return zones.length * replicas;
}

function wallFigure({ env, pairs }: Measured, size: Size): Figure {
  const name =
    env.maxUnavailable === 1
      ? 'wall-clock ÷ perfect driver, one at a time'
      : 'wall-clock ÷ perfect driver';
  const ratios = pairs.map(({ driver, operator }) => operator.wall / driver.wall);
  const each = pairs.map(
    ({ driver, operator }, index) =>
      `${inSeconds(operator)} ÷ ${inSeconds(driver)} s = ${ratios[index]?.toFixed(4)}`,
  );
  return bounded(
    name,
    {
      value: percentile(ratios, 0.5),
      how: `the median of pairs of rollouts of the same ${podsIn(env)} pods, each from the first template change to the last Ready, as etcd stored it: ${each.join(', ')}`,
    },
    size,
  );
}

function inSeconds({ wall }: Roll): string {
  return (wall / 1_000).toFixed(2);
}

function reactionFigure({ pairs }: Measured, size: Size): Figure {
  const operator = pairs.flatMap((pair) => pair.operator.reactions);
  const driver = pairs.flatMap((pair) => pair.driver.reactions);
  return bounded(
    'pod Ready → next delete, p50 ÷ perfect driver',
    {
      value: percentile(operator, 0.5) / percentile(driver, 0.5),
      how: `commit of Ready → commit of the delete that follows in the group, as etcd told of them; of all pairs, p50 / p90 / p99 / most: operator ${tail(operator)}, driver ${tail(driver)}`,
    },
    size,
  );
}

function tail(samples: readonly number[]): string {
  const shares = [0.5, 0.9, 0.99, 1].map((share) => percentile(samples, share).toFixed(2));
  return `${shares.join(' / ')} ms (n = ${samples.length})`;
}

function requestsFigure({ env, pairs }: Measured, size: Size): Figure {
  const pods = podsIn(env);
  const rolls = pairs.map(({ operator }) => ({ ...operator, asked: sum(operator.requests) }));
  const each = rolls.map(({ asked, requests }) => `${asked} (${describeRequests(requests)})`);
  const how = `the most of any rollout of ${pods} pods until its sets said that it was complete, by the audit log; Events, Lease and authorization reviews apart: ${each.join('; ')}`;
  if (env.maxUnavailable > 1) {
    const value = Math.max(...rolls.map(({ asked }) => asked / pods));
    return bounded('requests ÷ rolled pods', { value, how }, size);
  }
  const beyond = rolls.map(
    ({ asked, wall }) => asked - (pods + asksOnce + (asksEach10s * wall) / 10_000),
  );
  const name = 'requests beyond one a pod, 15, and 3 each 10 s';
  return bounded(name, { value: Math.max(...beyond), how }, size);
}

function sum(requests: Readonly<Record<string, number>>): number {
  return Object.values(requests).reduce((total, count) => total + count, 0);
}

function invariantsFigure({ judgement }: Measured, size: Size): Figure {
  const method = 'each commit judged by test/support/judge/judge.ts, authors from the audit log';
  const [first] = judgement.violations;
  return bounded(
    'invariants broken',
    {
      value: judgement.violations.length,
      how: first === undefined ? method : `${method}; first ${first.id}: ${first.message}`,
    },
    size,
  );
}

function driverFigure({ env, restart, pairs }: Measured): Figure {
  const rounds = env.zones.length * Math.ceil(env.replicas / env.maxUnavailable);
  const physical = (rounds * restart) / 1_000;
  const walls = pairs.map(({ driver }) => driver.wall / 1_000);
  return told('perfect driver ÷ physical limit', {
    value: percentile(walls, 0.5) / physical,
    unit: '×',
    how: `what the cluster itself adds to ${physical.toFixed(2)} s of restarts, in the median`,
  });
}
