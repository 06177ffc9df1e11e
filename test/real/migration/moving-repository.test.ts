/** The ways of docs/moving.md for Deployments that a tool applies, each with the sync that undid a patch of the cluster. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { seconds } from '#base/units.ts';
import { findHelm } from '../../real-cluster/control-plane/install-tools.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { features } from '../../scenarios/env.ts';
import { kubectlMissing } from '../../scenarios/kubectl/kubectl-env.ts';
import { blocksUnder, images, MovingStage, manifests } from './moving-stage.ts';

const page = 'From a repository, or by Helm';
/** As the peer's manifests have it: without a type. */
const rolling = 'strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }';
const ofPeer = manifests.replace(/strategy: .*/, rolling);
const ours = (file: string): string => file.replace(images.peer, images.ours);
const recreate = '{"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}}';
const patched = `kubectl -n "$NAMESPACE" patch deployment/rollout-operator --type=merge --patch='${recreate}'`;
const settled = 'kubectl -n "$NAMESPACE" rollout status deployment/rollout-operator --timeout=60s';
const gone = 'kubectl -n "$NAMESPACE" wait pod -l name=rollout-operator --for=delete --timeout=60s';

describe('moving a Deployment that a tool applies', { skip: kubectlMissing() }, () => {
  let lane: RealLane;
  let helm: string;

  before(async () => {
    helm = await findHelm({ env: process.env, say: () => undefined });
    // A pod takes its time to end: starting another one before that is seen.
    lane = await startRealLane({ delays: { stop: seconds(2) } });
  });

  after(async () => {
    await lane?.close();
  });

  /** The peer's manifest is applied, and its pod runs. */
  async function open(context: TestContext): Promise<MovingStage | undefined> {
    if (lane.own === undefined) {
      context.skip(features.disturbance);
      return undefined;
    }
    return MovingStage.open(lane, lane.own, ofPeer);
  }

  function sync(stage: MovingStage, file: string): Promise<string> {
    return stage.sh(`kubectl -n "$NAMESPACE" apply -f - && ${settled}`, file);
  }

  test('by a patch of the cluster starts a pod beside the one that ends, as the sync undoes it [found R-23]', {
    timeout: 180_000,
  }, async (context) => {
    const stage = await open(context);
    if (stage === undefined) return;
    await stage.sh(patched);
    assert.equal(await stage.hasBoth(() => sync(stage, ours(ofPeer))), true);
    await stage.close();
  });

  test('by its manifest starts no pod beside the one that ends, and the next sync leaves it so [found R-23]', {
    timeout: 180_000,
  }, async (context) => {
    const stage = await open(context);
    if (stage === undefined) return;
    const [strategy = ''] = await blocksUnder(page, 'yaml');
    const moved = ofPeer.replace(
      rolling,
      strategy.trimStart().replace(/\n +/, ' { ').trimEnd() + ' }',
    );
    assert.match(moved, /strategy: \{ type: Recreate \}/);
    const hasBoth = await stage.hasBoth(async () => {
      await sync(stage, ours(moved));
      await sync(stage, moved);
      await sync(stage, ours(moved));
    });
    assert.equal(hasBoth, false);
    assert.deepEqual(stage.running(), [images.ours]);
    await stage.close();
  });

  test('by a kustomization starts no pod beside the one that ends, and the next sync leaves it so [found R-23]', {
    timeout: 180_000,
  }, async (context) => {
    const stage = await open(context);
    if (stage === undefined) return;
    const kustomized = async (file: string): Promise<void> => {
      await stage.write({ 'rendered.yaml': file, 'kustomization.yaml': await kustomization() });
      await stage.sh(`kubectl kustomize . | kubectl -n "$NAMESPACE" apply -f - && ${settled}`);
    };
    const hasBoth = await stage.hasBoth(async () => {
      await kustomized(ours(ofPeer));
      await kustomized(ofPeer);
    });
    assert.equal(hasBoth, false);
    await stage.close();
  });

  test('by a post-renderer of helm starts no pod beside the one that ends, which a patch does not spare [found R-23]', {
    timeout: 180_000,
  }, async (context) => {
    const stage = await open(context);
    if (stage === undefined) return;
    await stage.sh(
      `kubectl -n "$NAMESPACE" delete deployment/rollout-operator --timeout=60s && ${gone}`,
    );
    const [script = ''] = await blocksUnder(page);
    await stage.write({
      'Chart.yaml': 'apiVersion: v2\nname: peer\nversion: 1.0.0\n',
      'templates/deployment.yaml': ofPeer.replace(
        `"${images.peer}"`,
        '{{ .Values.image | quote }}',
      ),
      'recreate.sh': `#!/bin/sh\n${script}`,
      'kustomization.yaml': await kustomization(),
    });
    const upgrade = (image: string, flags = ''): Promise<string> =>
      stage.sh(
        `chmod +x recreate.sh && ${helm} -n "$NAMESPACE" upgrade --install peer . --set image=${image} ${flags} && ${settled}`,
      );
    await upgrade(images.peer);
    await stage.sh(patched);
    assert.equal(await stage.hasBoth(() => upgrade(images.ours)), true);
    await upgrade(images.peer);
    const hasBoth = await stage.hasBoth(async () => {
      await upgrade(images.ours, '--post-renderer ./recreate.sh');
      await upgrade(images.peer, '--post-renderer ./recreate.sh');
    });
    assert.equal(hasBoth, false);
    await stage.close();
  });

  test('by two commits starts no pod beside the one that ends [found R-23]', {
    timeout: 180_000,
  }, async (context) => {
    const stage = await open(context);
    if (stage === undefined) return;
    const hasBoth = await stage.hasBoth(async () => {
      await sync(stage, ofPeer.replace('replicas: 1', 'replicas: 0'));
      await stage.sh(gone);
      await sync(stage, ours(ofPeer));
    });
    assert.equal(hasBoth, false);
    assert.deepEqual(stage.running(), [images.ours]);
    await stage.close();
  });

  /** That of the page, over one file. */
  async function kustomization(): Promise<string> {
    const [, patches = ''] = await blocksUnder(page, 'yaml');
    return `resources: [rendered.yaml]\n${patches.replaceAll(/^ {2}/gm, '')}`;
  }
});
