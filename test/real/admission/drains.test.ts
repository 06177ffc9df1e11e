/** Drains of all zones in the middle of rollouts, under a budget, while operators die: on a real control plane. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { millis, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError } from '#kubernetes/transport/api-error.ts';
import { freePorts } from '#support/free-ports.ts';
import { budgetOver } from '#support/objects/budgets.ts';
import type { RealEnv } from '../../real-cluster/real-env.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { TcpBalancer } from '../../real-cluster/tcp-balancer.ts';
import { features } from '../../scenarios/env.ts';
import { images, isComplete, podsOn, setImage, setName } from '../../scenarios/group.ts';
import {
  type KubectlEnv,
  kubectlMissing,
  pointKubectl,
} from '../../scenarios/kubectl/kubectl-env.ts';
import { installBudgets } from '../../scenarios/rollouts.ts';
import { disruption } from '../rollout-group/disruption.ts';
import { leaderPoints } from './leader-points.ts';
import { type LeaderEnd, longestStandstill, StruckReplicas } from './struck-replicas.ts';
import { told, WebhookStage } from './webhook-stage.ts';

const limit = longestStandstill;
const budget = 'ingester';

/** What becomes of the leaders, by turns. */
const ends: readonly LeaderEnd[] = ['kill', 'stop', 'pause'];

/** What is said of a review whose replica was killed, or halted: it answers 408 when it goes on, as it read too slowly. */
const lostReview =
  /failed calling webhook .*(?:EOF|connection re|deadline exceeded|status code 408|Client\.Timeout|timed? ?out)/;

/** Work that goes on until it is asked to end with the round that it is in. */
interface Drains {
  isOver: boolean;
  /** How often each code was heard. */
  readonly heard: Map<number, number>;
  rounds: number;
}

/** Evicts `pods` one after the other, again after 429 and after nothing else but a review that died with its replica. */
async function evictAll(env: RealEnv, pods: readonly string[], drains: Drains): Promise<void> {
  const { heard } = drains;
  do {
    for (const pod of pods) await evictPod(env, pod, heard);
    drains.rounds += 1;
  } while (!drains.isOver);
}

async function evictPod(env: RealEnv, pod: string, heard: Map<number, number>): Promise<void> {
  const path = `/api/v1/namespaces/${env.namespace}/pods/${pod}/eviction`;
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod } };
  for (;;) {
    const answer = await env.ask('POST', path, eviction);
    heard.set(answer.status, (heard.get(answer.status) ?? 0) + 1);
    if (answer.status === 201 || answer.status === 404) return;
    const text = told(answer);
    assert.ok(answer.status === 429 || (answer.status === 500 && lostReview.test(text)), text);
    await env.pass(millis(200));
  }
}

/** Drains one node after the other, which have pods of several zones. */
async function drainNodes(tool: KubectlEnv, env: RealEnv, drains: Drains): Promise<void> {
  do {
    for (const node of env.kubelet.nodeNames) await drainNode(tool, node);
    drains.rounds += 1;
  } while (!drains.isOver);
}

/** Drains `node` as people do: again after a review that died. */
async function drainNode(tool: KubectlEnv, node: string): Promise<void> {
  const flags = ['--pod-selector=app=ingester', '--ignore-daemonsets', '--timeout=300s'];
  for (;;) {
    const { code, stderr } = await tool.run(['drain', node, ...flags]);
    if (code === 0) break;
    assert.match(stderr, lostReview, stderr.slice(-1_500));
  }
  await tool.kubectl(['uncordon', node]);
}

/** Gives the group an image as people do: again after a review that died with its replica. */
async function giveImage(env: RealEnv, image: string): Promise<void> {
  for (;;) {
    try {
      return await setImage(env, image);
    } catch (error) {
      if (!(error instanceof ApiError) || !lostReview.test(error.message)) throw error;
    }
  }
}

/**
 * Rolls the group to one image and back, each time that it is complete and an eviction had its turn: a rollout that always has a
 * next pod takes it before somebody asks again who was refused.
 */
async function rollOn(env: RealEnv, drains: Drains): Promise<void> {
  const evicted = (): number => drains.heard.get(201) ?? 0;
  for (let rounds = 0; !drains.isOver; rounds += 1) {
    const image = rounds % 2 === 0 ? images.new : images.fixed;
    await giveImage(env, image);
    await untilComplete(env, image);
    const before = evicted();
    const hadItsTurn = (): boolean => drains.isOver || evicted() > before;
    await env.until('an eviction had its turn', hadItsTurn, limit);
  }
  await giveImage(env, images.old);
  await untilComplete(env, images.old);
}

/** Waits until all pods run `image`: leaders are struck meanwhile, so that the limit is one for standing still, not for the whole. */
async function untilComplete(env: RealEnv, image: string): Promise<void> {
  let most = 0;
  while (!isComplete(env, image)) {
    const hasMore = (): boolean => isComplete(env, image) || podsOn(env, image) > most;
    await env.until(`the rollout is complete, or more than ${most} pods are new`, hasMore, limit);
    most = Math.max(most, podsOn(env, image));
  }
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

  test('of all zones by three drainers, in mid-rollout, while leaders die at twelve points, take one pod at a time, and end', {
    timeout: 600_000,
  }, async (context) => {
    const { own } = lane;
    if (own === undefined) return context.skip(features.disturbance);
    const struck: { replicas?: StruckReplicas } = {};
    const env = await lane.env({
      replicas: 3,
      maxUnavailable: 1,
      hasWebhooks: true,
      latenessSeed: 84,
      onWrite: (...write) => struck.replicas?.onWrite(...write),
    });
    const [port = 0] = await freePorts(1);
    const balancer = await TcpBalancer.listen(port);
    context.after(() => balancer.close());
    const stage = new WebhookStage(env, port, '');
    for (const zone of env.zones) await stage.label(zone, { labels: { app: 'ingester' } });
    await stage.label('b', { labels: { 'grafana.com/no-downscale': 'true' } });
    await installBudgets(env);
    const replicas = new StruckReplicas(env, balancer);
    struck.replicas = replicas;
    await replicas.start();
    await replicas.start();
    await stage.configure();
    await makeBudget(env);
    const since = env.history().length;
    // A pod that is up at once would be evicted, and written down, more than once a second.
    env.kubelet.behaviours.add({ behave: 'slow', by: seconds(1.5), match: { name: '*' } });

    const pods = env.zones.flatMap((zone) => [0, 1, 2].map((each) => `${setName(zone)}-${each}`));
    const tool = kubectlMissing() === false ? await pointed(own.adminKubeconfig, env) : undefined;
    const drains: Drains = { isOver: false, heard: new Map(), rounds: 0 };
    const rolled = rollOn(env, drains);
    await env.until('a pod is new', () => podsOn(env, images.new) >= 1, limit);
    const all = Promise.all([
      rolled,
      evictAll(env, pods, drains),
      evictAll(env, pods.toReversed(), drains),
      tool === undefined ? undefined : drainNodes(tool, env, drains),
    ]);
    const failed = all.then(() => new Promise<never>(() => undefined));
    failed.catch(() => undefined);
    for (const [at, point] of leaderPoints.entries()) {
      const how = ends[at % ends.length] ?? 'kill';
      const begun = own.clock.monotonic();
      await Promise.race([replicas.replaceLeader(point, how), failed]);
      const took = ((own.clock.monotonic() - begun) / 1_000).toFixed(1);
      context.diagnostic(`${how} ${point.what}: ${took} s`);
    }
    drains.isOver = true;
    await all;
    await env.until('the ledger is empty', () => ledgerOf(env) === '[]', limit);
    await env.untilNothingIsLate();
    const { zones, most, removed } = disruption(env, since);
    context.diagnostic(
      `heard: ${JSON.stringify([...drains.heard])}; ${removed} pods went in ${drains.rounds} drains of all zones`,
    );
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
