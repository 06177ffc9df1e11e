/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the test */
import assert from 'node:assert/strict';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { findBinaries, managerName } from '../real-cluster/binaries.ts';
import type { OwnControlPlane } from '../real-cluster/control-plane.ts';
import { Programs } from '../real-cluster/programs.ts';
import { type RealLane, startRealLane } from '../real-cluster/real-lane.ts';
import { NO_MANAGER } from '../real-cluster/skip-reasons.ts';
import { serveEmbedded } from '../scenarios/embedded-over-https.ts';
import { features } from '../scenarios/env.ts';

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

async function managerPath(): Promise<string | undefined> {
  const { folder } = await findBinaries({ env: process.env, say: () => undefined });
  const path = join(folder, await managerName());
  return access(path).then(
    () => path,
    () => undefined,
  );
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
  cluster: {
    readonly kubeconfig: string;
    readonly admin: Client;
    readonly programs: Programs;
    readonly namespace: string;
  },
): Promise<void> {
  const path = await managerPath();
  if (path === undefined) {
    context.skip(NO_MANAGER);
    return;
  }
  const { admin, programs, namespace } = cluster;
  const kubeconfig = join(programs.folder, `${namespace}-manager.kubeconfig`);
  await writeFile(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
  const args = [`--kubeconfig=${kubeconfig}`, `--namespace=${namespace}`, '--for=60s'];
  const manager = await programs.start({ name: `${namespace}-manager`, path, args });
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
      'a bookmark lets a client resume where the server has forgotten what was before (T20)',
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
      'a manager made with kubebuilder runs for a minute without an error (T52)',
      async (own, context) => {
        const env = await lane.env({ zones: [] });
        const { admin, namespace } = env;
        const { adminKubeconfig: kubeconfig, programs } = own;
        await assertManagerWorks(context, { kubeconfig, admin, programs, namespace });
        await env.close();
      },
    );

    test('so it does on the embedded cluster (T52)', { timeout: 240_000 }, async (context) => {
      const { cluster, kubeconfig, close } = await serveEmbedded();
      context.after(close);
      const programs = await Programs.create();
      context.after(() => programs.close());
      const timeout = seconds(30);
      const admin = createClient({
        transport: cluster.transport(),
        clock,
        timeout,
        userAgent: 'admin',
      });
      await assertManagerWorks(context, { kubeconfig, admin, programs, namespace: 'default' });
    });
  });
}
