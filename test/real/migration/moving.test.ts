import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { type Millis, seconds } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import type { RealEnv } from '../../real-cluster/real-env.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { NO_PEER } from '../../real-cluster/skip-reasons.ts';
import { features } from '../../scenarios/env.ts';
import { images, isComplete, podsOn, setImage } from '../../scenarios/group.ts';
import { kubectlMissing, pointKubectl } from '../../scenarios/kubectl/kubectl-env.ts';
import { disruption } from '../rollout-group/disruption.ts';
import { Peer } from './peer.ts';

const limit = seconds(200);

/** How long this program waits after its start, and how late the last request of the peer may arrive. */
const waits: Readonly<Record<string, { readonly horizon: Millis; readonly late: Millis }>> = {
  'with a shortened wait': { horizon: seconds(12), late: seconds(11) },
  'with the default wait (D-50)': { horizon: seconds(120), late: seconds(100) },
};

/** Uids of the pods that `user` deleted, as far as the API server took the request. */
async function deletionsOf(env: RealEnv, user: string): Promise<number> {
  return (await env.audit()).filter(
    ({ verb, objectRef, user: { username }, responseStatus }) =>
      verb === 'delete' &&
      objectRef?.resource === 'pods' &&
      username === user &&
      responseStatus?.code === 200,
  ).length;
}

describe('a move from the peer to this program and back', { concurrency: 2 }, () => {
  let lane: RealLane;

  before(async () => {
    lane = await startRealLane();
  });

  after(async () => {
    await lane?.close();
  });

  /** A group of 18 pods under the peer's Role, and the peer. */
  async function open(
    context: TestContext,
  ): Promise<{ readonly env: RealEnv; readonly peer: Peer } | undefined> {
    const { own } = lane;
    if (own === undefined) {
      context.skip(features.disturbance);
      return undefined;
    }
    const env = await lane.env({ role: 'peer', replicas: 6, maxUnavailable: 3, latenessSeed: 5 });
    const peer = await Peer.in(own, env.namespace);
    if (peer !== undefined) return { env, peer };
    context.skip(NO_PEER);
    return undefined;
  }

  for (const [how, { horizon, late: lateBy }] of Object.entries(waits)) {
    test(`in the middle of a rollout renews 18 of 18 pods, never two zones at once, ${how}`, {
      timeout: 280_000,
    }, async (context) => {
      const opened = await open(context);
      if (opened === undefined) return;
      const { env, peer } = opened;
      context.after(() => peer.close());
      const since = env.history().length;
      await setImage(env, images.new);

      await peer.startAndDie({ atDeletion: 5, late: lateBy });
      // What it sent for zone a arrives at the worst moment of its time, should anybody offer it one.
      const stop = env.onCommit(({ verb, resource, name }) => {
        if (verb === 'delete' && resource === 'pods' && !name.includes('-zone-a-')) peer.release();
      });
      context.after(stop);
      const ours = await env.startOperatorWith([
        `-rollout.predecessor-horizon=${horizon / 1_000}s`,
      ]);
      await env.until('11 pods are new', () => podsOn(env, images.new) >= 11, limit);
      await ours.stop();
      assert.equal(isComplete(env, images.new), false);
      const again = await peer.start();
      await env.until('the rollout is complete', () => isComplete(env, images.new), limit);
      await again.stop();

      await Promise.all([peer.settled(), env.untilNothingIsLate()]);
      const { zones, most, removed } = disruption(env, since);
      const [byPeer, byUs] = [
        await deletionsOf(env, peer.account.user),
        await deletionsOf(env, env.user),
      ];
      context.diagnostic(
        `${byPeer} pods deleted by the peer, ${byUs} by this program; at most ${most} of ${zones} zone down`,
      );
      assert.deepEqual({ zones, most, removed }, { zones: 1, most: 3, removed: 18 });
      // Which pod of the zone comes fifth is the peer's to choose: one that was refused is sent again later.
      const [late = '', ...more] = peer.late;
      const path = `DELETE /api/v1/namespaces/${env.namespace}/pods/ingester-zone-a-`;
      assert.ok(late.startsWith(path), late);
      assert.deepEqual(more, []);
      assert.ok(byPeer > 5 && byUs > 0, `${byPeer} by the peer, ${byUs} by this program`);
      const judgement = await env.judge();
      assert.equal(judgement.violations.length, 0, judgement.report());
      await env.close();
    });
  }

  test("what a start under the peer's Role tells is missing makes it whole when it is pasted into a Role", {
    timeout: 120_000,
  }, async (context) => {
    const { own } = lane;
    const noKubectl = kubectlMissing();
    if (own === undefined) return context.skip(features.disturbance);
    if (noKubectl !== false) return context.skip(noKubectl);
    const env = await lane.env({ role: 'peer', replicas: 1, maxUnavailable: 1 });
    const tool = await pointKubectl({
      kubeconfig: own.adminKubeconfig,
      namespace: env.namespace,
      history: () => env.history(),
      close: () => env.close(),
    });
    const lacking = (): readonly string[] =>
      env.log
        .filter((line) => textAt(line, 'msg') === 'the Role lacks rules')
        .map((line) => textAt(line, 'rules'));
    const first = await env.startOperatorWith([]);
    await env.until('the missing rules are reported', () => lacking().length > 0, limit);
    await first.stop();
    const [rules = '', ...more] = lacking();
    context.diagnostic(rules);
    assert.deepEqual(more, []);

    const [, , account = '', name = ''] = env.user.split(':');
    await tool.kubectl(['apply', '--filename=-'], additions({ rules, account, name }));
    const from = env.log.length;
    const second = await env.startOperatorWith([]);
    await setImage(env, images.new);
    await env.until('the rollout is complete', () => isComplete(env, images.new), limit);
    await second.stop();
    const warnings = env.log.slice(from).filter((line) => textAt(line, 'level') === 'warn');
    assert.deepEqual(warnings, []);
    const shown = await tool.kubectl([
      'get',
      'events',
      '--field-selector=reason=PodOutdated',
      '--output=jsonpath={.items[*].involvedObject.name}',
    ]);
    assert.deepEqual(
      new Set(shown.split(' ')),
      new Set(['ingester-zone-a', 'ingester-zone-b', 'ingester-zone-c']),
    );
    const holder = '--output=jsonpath={.spec.holderIdentity}';
    assert.equal(await tool.kubectl(['get', 'lease', 'rollout-operator', holder]), '');
    await tool.close();
  });
});

/** A Role of its own beside the peer's, bound to the same account, as docs/moving.md has it. */
function additions(parts: {
  readonly rules: string;
  readonly account: string;
  readonly name: string;
}): string {
  return `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: rollout-operator-additions }
rules: ${parts.rules}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: rollout-operator-additions }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: rollout-operator-additions }
subjects: [{ kind: ServiceAccount, namespace: ${parts.account}, name: ${parts.name} }]
`;
}
