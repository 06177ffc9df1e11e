/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the test */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import type { EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import type { OwnControlPlane } from '../../real-cluster/control-plane/control-plane.ts';
import { Programs } from '../../real-cluster/control-plane/programs.ts';
import { type RealLane, startRealLane } from '../../real-cluster/real-lane.ts';
import { serveEmbedded } from '../../scenarios/embedded-over-https.ts';
import { features } from '../../scenarios/env.ts';
import { images, isComplete, setBody } from '../../scenarios/group.ts';
import type { WatchedGroup } from './disruption.ts';
import { assertGroupRolls, type Place, startManager } from './go-operator.ts';

const clock = systemClock();

/** Longer than an API server keeps every event of a type in its watch cache, however many come. */
const WINDOW = seconds(80);

/** One event of a watch, as far as it is looked at. */
interface Line {
  readonly type: string;
  readonly object: {
    readonly code?: number;
    readonly metadata: { readonly resourceVersion?: string };
  };
}

function linesOf(text: string): readonly Line[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Line);
}

/** A set whose pods are replaced while the manager looks on. */
async function rollUnderManager(admin: Client, namespace: string): Promise<void> {
  const template = (image: string): JsonObject => ({
    metadata: { labels: { app: 'db' } },
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image }] },
  });
  const body = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace },
    spec: {
      replicas: 3,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: template('db:1'),
    },
  };
  const key = { namespace, name: 'db' };
  await admin.create(resourceTypes.statefulSets, key, { body });
  for (const image of ['db:2', 'db:3']) {
    await clock.sleep(seconds(15));
    const document = { spec: { template: template(image) } };
    await admin.patch(resourceTypes.statefulSets, key, { body: { kind: 'merge', document } });
  }
}

/** Runs the manager for 60 s, and looks at what it left. */
async function assertManagerWorks(
  context: TestContext,
  admin: Client,
  place: Place,
): Promise<void> {
  const manager = await startManager(context, place, { flags: ['--for=60s'] });
  if (manager === undefined) return;
  const { namespace } = place;
  await rollUnderManager(admin, namespace);
  const code = await manager.ended;
  assert.equal(code, 0, await manager.logTail());
  const key = { namespace, name: 'db' };
  const set = await admin.get(resourceTypes.statefulSets, key);
  assert.equal(set.metadata.annotations?.['mirrored'], 'true');
  const shown = await admin.get(resourceTypes.configMaps, key);
  assert.deepEqual(shown['data'], { ready: '3' });
  const events = await admin.list(resourceTypes.events, { namespace });
  assert.ok(events.items.some(({ reason }) => reason === 'Mirrored'));
}

/** An embedded cluster that the Go program reaches over HTTPS, while `context` runs. */
async function embeddedPlace(context: TestContext): Promise<{
  readonly cluster: EmbeddedCluster;
  readonly admin: Client;
  readonly place: Place;
}> {
  const { cluster, kubeconfig, close } = await serveEmbedded();
  context.after(close);
  const programs = await Programs.create();
  context.after(() => programs.close());
  const transport = cluster.transport();
  const admin = createClient({ transport, clock, timeout: seconds(30), userAgent: 'admin' });
  return { cluster, admin, place: { kubeconfig, programs, namespace: 'default' } };
}

/** The group that a scenario has on a real cluster, on the embedded one in real time. */
async function embeddedGroup(admin: Client, { eventLog }: EmbeddedCluster): Promise<WatchedGroup> {
  const namespace = 'default';
  const history: WatchedGroup['history'] = () =>
    eventLog.commits.filter((commit) => commit.namespace === namespace);
  const group: WatchedGroup = {
    namespace,
    zones: ['a', 'b', 'c'],
    replicas: 3,
    maxUnavailable: 2,
    admin,
    history,
    stored: (resource, name) =>
      history().findLast((change) => change.resource === resource && change.name === name)?.after,
    run: (work) => work,
    until: async (what, holds) => {
      for (let left = 600; !holds(); left -= 1) {
        if (left === 0) throw new Error(`Waited in vain until ${what}`);
        await clock.sleep(millis(100));
      }
    },
  };
  for (const zone of group.zones) {
    await admin.create(resourceTypes.statefulSets, { namespace }, { body: setBody(group, zone) });
  }
  await group.until('the group is complete', () => isComplete(group, images.old));
  return group;
}

/** Defines tests that mostly wait, side by side. */
export function defineMinutes(): void {
  describe('what takes minutes of real time', { concurrency: true }, () => {
    let lane: RealLane;

    before(async () => {
      lane = await startRealLane();
    });

    after(async () => {
      await lane?.close();
    });

    /** Runs `act` where the control plane is ours. */
    function onOwn(
      title: string,
      act: (own: OwnControlPlane, context: TestContext) => Promise<void>,
    ): void {
      test(title, { timeout: 240_000 }, async (context) => {
        if (lane.own === undefined) context.skip(features.disturbance);
        else await act(lane.own, context);
      });
    }

    onOwn(
      'a bookmark lets a client resume where the server has forgotten what was before (cluster 20)',
      async (own) => {
        const env = await lane.env({ zones: [] });
        const path = `/api/v1/namespaces/${env.namespace}/configmaps`;
        const quiet = await env.ask('POST', path, { metadata: { name: 'quiet' } });
        const from: string = quiet.body.metadata.resourceVersion;
        await env.ask('POST', path, { metadata: { name: 'busy' } });
        await clock.sleep(WINDOW);
        const transport = own.connectAsAdmin();
        const watch = async (revision: string, span: number): Promise<readonly Line[]> => {
          const query = `watch=1&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dquiet`;
          const { body } = await transport.request({
            method: 'GET',
            path: `${path}?${query}&resourceVersion=${revision}&timeoutSeconds=${span}`,
            timeout: seconds(30),
          });
          return linesOf(Buffer.from(body).toString());
        };
        const watching = watch(from, 20);
        for (let count = 0; count < 300; count += 1) {
          await env.ask('PATCH', `${path}/busy`, { data: { count: `${count}` } });
        }
        const seen = await watching;
        assert.deepEqual([...new Set(seen.map(({ type }) => type))], ['BOOKMARK']);
        const bookmark = seen.at(-1)?.object.metadata.resourceVersion ?? '';
        const [late] = await watch(from, 5);
        assert.deepEqual([late?.type, late?.object.code], ['ERROR', 410]);
        const resumed = watch(bookmark, 5);
        await clock.sleep(millis(500));
        await env.ask('PATCH', `${path}/quiet`, { data: { a: 'b' } });
        assert.equal((await resumed)[0]?.type, 'MODIFIED');
        await env.close();
      },
    );

    onOwn(
      'a manager made with kubebuilder runs for a minute without an error (cluster 52)',
      async (own, context) => {
        const env = await lane.env({ zones: [] });
        const { admin, namespace } = env;
        const { adminKubeconfig: kubeconfig, programs } = own;
        await assertManagerWorks(context, admin, { kubeconfig, programs, namespace });
        await env.close();
      },
    );

    onOwn(
      "a Go operator in the peer's manner rolls a group of three zones, one zone at a time (cluster 52)",
      async (own, context) => {
        const env = await lane.env();
        const { adminKubeconfig: kubeconfig, programs } = own;
        await assertGroupRolls(context, env, { kubeconfig, programs, namespace: env.namespace });
        await env.close();
      },
    );

    test('so it does on the embedded cluster (cluster 52)', {
      timeout: 240_000,
    }, async (context) => {
      const { admin, place } = await embeddedPlace(context);
      await assertManagerWorks(context, admin, place);
    });

    test('so does the Go operator on the embedded cluster (cluster 52)', {
      timeout: 240_000,
    }, async (context) => {
      const { admin, place, cluster } = await embeddedPlace(context);
      await assertGroupRolls(context, await embeddedGroup(admin, cluster), place);
    });
  });
}
