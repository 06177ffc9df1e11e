/** Drains of all zones in the middle of a rollout, under a budget, while operators die: on a real control plane. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { millis, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { budgetOver } from '#testing/budgets.ts';
import type { RealOperator } from '../real-cluster/operator-runs.ts';
import { freePorts } from '../real-cluster/programs.ts';
import type { RealEnv } from '../real-cluster/real-env.ts';
import { type RealLane, startRealLane } from '../real-cluster/real-lane.ts';
import { TcpBalancer } from '../real-cluster/tcp-balancer.ts';
import { features } from '../scenarios/env.ts';
import { images, isComplete, podsOn, setImage, setName } from '../scenarios/group.ts';
import { type KubectlEnv, kubectlMissing, pointKubectl } from '../scenarios/kubectl-env.ts';
import { installBudgets } from '../scenarios/rollouts.ts';
import { disruption } from './disruption.ts';
import { told, WebhookStage } from './webhook-stage.ts';

const limit = seconds(100);
const budget = 'ingester';

/** A Lease that is lost sooner than by default. */
const briefLease = [
  '-leader-election.lease-duration=6s',
  '-leader-election.renew-deadline=4s',
  '-leader-election.retry-period=1s',
];

/** A replica of the operator, and where it reviews. */
interface Replica {
  readonly operator: RealOperator;
  readonly port: number;
}

/** Two replicas behind one Service, and what was done to them. */
class Replicas {
  readonly #env: RealEnv;
  readonly #balancer: TcpBalancer;
  #alive: readonly Replica[] = [];
  /** How many were killed: a review that was with one of them ends without an answer. */
  killed = 0;

  constructor(env: RealEnv, balancer: TcpBalancer) {
    this.#env = env;
    this.#balancer = balancer;
  }

  async start(): Promise<void> {
    const [port = 0] = await freePorts(1);
    const operator = await this.#env.startOperatorWith([
      ...briefLease,
      '-server-tls.enabled=true',
      `-server-tls.port=${port}`,
    ]);
    this.#lead([...this.#alive, { operator, port }]);
  }

  /** Ends the one that leads as `how` says, and starts another. */
  async replaceLeader(how: 'kill' | 'stop'): Promise<void> {
    const leader = (): Replica | undefined =>
      this.#alive.find(({ operator }) => operator.isLeading());
    await this.#env.until('an operator leads', () => leader() !== undefined, limit);
    const found = leader();
    assert.ok(found !== undefined);
    if (how === 'kill') this.killed += 1;
    const ended = found.operator[how]();
    this.#lead(this.#alive.filter((each) => each !== found));
    await ended;
    await this.start();
  }

  async stop(): Promise<void> {
    for (const { operator } of this.#alive) await operator.stop();
  }

  #lead(alive: readonly Replica[]): void {
    this.#alive = alive;
    this.#balancer.targets = alive.map(({ port }) => port);
  }
}

/** What came of the evictions of one drainer: how often it heard each code. */
type Heard = Map<number, number>;

/** Evicts `pods` one after the other, again after 429 and after nothing else but a review that died with its replica. */
async function evictAll(env: RealEnv, pods: readonly string[]): Promise<Heard> {
  const heard: Heard = new Map();
  for (const pod of pods) {
    for (;;) {
      const path = `/api/v1/namespaces/${env.namespace}/pods/${pod}/eviction`;
      const metadata = { name: pod };
      const answer = await env.ask('POST', path, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata,
      });
      heard.set(answer.status, (heard.get(answer.status) ?? 0) + 1);
      if (answer.status === 201 || answer.status === 404) break;
      const text = told(answer);
      const isLost = /^500 .*failed calling webhook .*(?:EOF|connection re)/.test(text);
      assert.ok(answer.status === 429 || isLost, text);
      await env.pass(millis(200));
    }
  }
  return heard;
}

/** Drains the first node, which has pods of several zones, as people do: again after a review that died. */
async function drainNode(tool: KubectlEnv, env: RealEnv): Promise<void> {
  const [node = ''] = env.kubelet.nodeNames;
  const flags = ['--pod-selector=app=ingester', '--ignore-daemonsets', '--timeout=90s'];
  for (;;) {
    const { code, stderr } = await tool.run(['drain', node, ...flags]);
    if (code === 0) break;
    const [why = ''] = stderr.trim().split('\n').slice(-1);
    assert.match(why, /failed calling webhook .*(?:EOF|connection re)/, stderr.slice(-1_500));
  }
  await tool.kubectl(['uncordon', node]);
}

function ledgerOf(env: RealEnv): string | undefined {
  const stored = env.stored('configmaps', `rollout-operator-ledger-${budget}`) as
    | { readonly data?: { readonly reservations?: string } }
    | undefined;
  return stored?.data?.reservations;
}

describe('drains on a real control plane', () => {
  let lane: RealLane;

  before(async () => {
    lane = await startRealLane();
  });

  after(async () => {
    await lane?.close();
  });

  test('of all zones by three drainers, in mid-rollout, while leaders die, take one pod at a time, and end', {
    timeout: 240_000,
  }, async (context) => {
    const { own } = lane;
    if (own === undefined) return context.skip(features.disturbance);
    const env = await lane.env({
      replicas: 3,
      maxUnavailable: 1,
      hasWebhooks: true,
      latenessSeed: 84,
    });
    const [port = 0] = await freePorts(1);
    const balancer = await TcpBalancer.listen(port);
    context.after(() => balancer.close());
    const stage = new WebhookStage(env, port, '');
    for (const zone of env.zones) await stage.label(zone, { labels: { app: 'ingester' } });
    await stage.label('b', { labels: { 'grafana.com/no-downscale': 'true' } });
    await installBudgets(env);
    const replicas = new Replicas(env, balancer);
    await replicas.start();
    await replicas.start();
    await stage.configure();
    await makeBudget(env);
    const since = env.history().length;

    const pods = env.zones.flatMap((zone) => [0, 1, 2].map((each) => `${setName(zone)}-${each}`));
    await setImage(env, images.new);
    await env.until('a pod is new', () => podsOn(env, images.new) >= 1, limit);
    const tool = kubectlMissing() === false ? await pointed(own.adminKubeconfig, env) : undefined;
    const drains = Promise.all([
      evictAll(env, pods),
      evictAll(env, pods.toReversed()),
      tool === undefined ? undefined : drainNode(tool, env),
    ]);
    drains.catch(() => undefined);
    for (const how of ['kill', 'stop'] as const) await replicas.replaceLeader(how);
    const [one, other] = await drains;
    await env.until('the rollout is complete', () => isComplete(env, images.new), limit);
    await env.until('the ledger is empty', () => ledgerOf(env) === '[]', limit);
    await env.untilNothingIsLate();
    context.diagnostic(`heard: ${JSON.stringify([...one, ...other])}`);
    const { zones, most, removed } = disruption(env, since);
    context.diagnostic(`${removed} pods went`);
    assert.deepEqual({ zones, most }, { zones: 1, most: 1 });
    assert.ok(removed >= 18, `${removed} pods went`);
    const judgement = await env.judge();
    assert.equal(judgement.violations.length, 0, judgement.report());
    await replicas.stop();
    await stage.noForbidden();
    await tool?.close();
    await env.close();
  });
});

/** A budget of one over the pods of the group. */
async function makeBudget({ admin, namespace }: RealEnv): Promise<void> {
  const selector = { matchLabels: { app: 'ingester' } };
  const body = { ...budgetOver(budget, {}), spec: { maxUnavailable: 1, selector } };
  await admin.create(resourceTypes.zoneAwarePodDisruptionBudgets, { namespace }, { body });
}

function pointed(kubeconfig: string, env: RealEnv): Promise<KubectlEnv> {
  return pointKubectl({
    kubeconfig,
    namespace: env.namespace,
    history: () => env.history(),
    close: () => Promise.resolve(),
  });
}
