/** The commands of docs/moving.md, as they are there, on a real control plane. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { webhookConfigurations } from '#admission/webhook-configuration/webhook-configurations.ts';
import { seconds } from '#base/units.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { features } from '../../scenarios/env.ts';
import { kubectlMissing } from '../../scenarios/kubectl/kubectl-env.ts';
import { blocksUnder, images, MovingStage } from './moving-stage.ts';

describe('the commands of docs/moving.md', { skip: kubectlMissing() }, () => {
  let lane: RealLane;

  before(async () => {
    // A pod takes its time to end: starting another one before that is seen.
    lane = await startRealLane({ delays: { stop: seconds(2) } });
  });

  after(async () => {
    await lane?.close();
  });

  async function open(context: TestContext): Promise<MovingStage | undefined> {
    if (lane.own !== undefined) return MovingStage.open(lane, lane.own);
    context.skip(features.disturbance);
    return undefined;
  }

  test('move the Deployment to this program and back by hand, and one pod is gone before the other one starts', {
    timeout: 180_000,
  }, async (context) => {
    const stage = await open(context);
    if (stage === undefined) return;
    const [look = '', end = '', change = '', ...rest] = await blocksUnder('From the peer');
    assert.deepEqual(rest, []);
    const pause = 'kubectl -n "$NAMESPACE" annotate statefulset --all grafana.com/rollout-paused';
    await stage.sh(`${pause}=Yes`);
    assert.match(await stage.sh(look), /^ +3 +grafana\.com\/rollout-paused: "Yes"$/m);
    await stage.sh(`${pause}-`);
    assert.equal(await stage.sh(look), '');
    const back = await blocksUnder('From this program');
    assert.equal(back.length, 4);
    const hasBoth = await stage.hasBoth(async () => {
      await stage.sh(end);
      assert.deepEqual(stage.running(), []);
      // Nobody is lost where it is done twice.
      await stage.sh(end);
      await stage.sh(change);
      assert.deepEqual(stage.running(), [images.ours]);
      for (const block of back) await stage.sh(block);
      assert.deepEqual(stage.running(), [images.peer]);
    });
    assert.equal(hasBoth, false);
    await stage.close();
  });

  test('have the API server make what shrinks no set while no program answers, and a sync leaves it so [found R-24]', {
    timeout: 180_000,
  }, async (context) => {
    const stage = await open(context);
    if (stage === undefined) return;
    const { namespace } = stage.env;
    const [ease = '', ...rest] = await blocksUnder('What the pause costs');
    assert.deepEqual(rest, []);
    const ofPeer = webhookConfigurations({ namespace, isConditional: false });
    const file = ofPeer.map((each) => JSON.stringify(each)).join('\n---\n');
    const apply = (): Promise<string> => stage.sh('kubectl apply -f -', file);
    const set = `kubectl -n "$NAMESPACE" annotate statefulset/ingester-zone-a --overwrite note="$(date +%N)"`;
    const grow = 'kubectl -n "$NAMESPACE" scale statefulset/ingester-zone-a --replicas=2';
    const shrink = 'kubectl -n "$NAMESPACE" scale statefulset/ingester-zone-a --replicas=1';
    await apply();
    await stage.refused(set);
    await stage.sh(ease);
    await stage.made(set);
    await stage.sh(grow);
    await stage.refused(shrink);
    await apply();
    await stage.sh(set);
    await stage.refused(shrink);
    await stage.sh('kubectl delete -f -', file);
    await stage.close();
  });

  test('show how far the sets are', { timeout: 180_000 }, async (context) => {
    const stage = await open(context);
    if (stage === undefined) return;
    const [status = '', ...rest] = await blocksUnder('Where to look');
    assert.deepEqual(rest, []);
    const shown = await stage.sh(status);
    assert.match(shown, /^NAME +READY +FROM +TO$/m);
    assert.match(shown, /^ingester-zone-a +1 +(ingester-zone-a-\w+) +\1$/m);
    assert.match(shown, /^ingester-zone-a-0 +1\/1 +Running .* ingester-zone-a-\w+$/m);
    await stage.close();
  });
});
