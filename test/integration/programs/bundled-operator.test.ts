/** The program as images have it: bundled, so that it finds none of the packages that it was made of beside it. */
import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ApiError } from '#kubernetes/transport/api-error.ts';
import { prepared } from '#support/admission/admission-requests.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { PodFleetServer } from '#support/pods/pod-fleet-server.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { bundleInto } from '../../../scripts/build.ts';
import { WebhookStage } from '../stages/webhook-stage.ts';

/** Below the checkout: what reads a kubeconfig, which these tests use and images do not, is found from there. */
const cache = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url));

describe('the bundled operator as a process', () => {
  const clock = systemClock();
  const fleet = new PodFleet(clock);
  const pods = new PodFleetServer(fleet, clock);
  let folder: string;
  let stage: WebhookStage;

  before(async () => {
    await mkdir(cache, { recursive: true });
    folder = await mkdtemp(join(cache, 'bundle-'));
    await bundleInto(join(folder, 'program'));
    stage = await WebhookStage.open();
  });

  after(async () => {
    await stage.close();
    await pods.close();
    await rm(folder, { recursive: true });
  });

  test('issues its certificate, refuses and prepares scale-downs, and ends in good order', async () => {
    const { href } = await pods.listen();
    const program = join(folder, 'program', 'rollout-operator.mjs');
    const operator = await stage.operator([], { HTTP_PROXY: href }, program);
    await stage.configure(operator.port);
    await stage.set({ name: 'guarded', labels: { 'grafana.com/no-downscale': 'true' } });
    await assert.rejects(stage.scale('guarded', 1), (error) => {
      assert.ok(error instanceof ApiError);
      assert.match(error.message, /denied the request: downscale of statefulsets\/guarded/);
      return true;
    });
    await stage.set({ name: 'asked', ...prepared });
    await stage.scale('asked', 2);
    assert.deepEqual([...new Set(fleet.story())], ['POST asked-2']);
    assert.equal((await fetch(`${operator.plain}/ready`)).status, 200);
    operator.process.kill('SIGTERM');
    assert.equal(await operator.process.exitCode(), 0);
  });

  test('ends at its start without what serves webhooks, and says which file is missing', async () => {
    const without = join(folder, 'without');
    await cp(join(folder, 'program'), without, { recursive: true });
    const parts = await readdir(without);
    const part = parts.find((name) => /^run-admission-.*\.mjs$/.test(name)) ?? '';
    await rm(join(without, part));
    const operator = stage.launch([], {}, join(without, 'rollout-operator.mjs'));
    const line = await operator.line(/^the file /);
    assert.ok(line.startsWith(`the file ${join(without, part)} is missing: keep all files`), line);
    assert.equal(await operator.exitCode(), 1);
  });

  test('goes on without what another build in its place took away, and says what is missing', async () => {
    const replaced = join(folder, 'replaced');
    await cp(join(folder, 'program'), replaced, { recursive: true });
    const parts = await readdir(replaced);
    const gone = parts.filter((name) => /^(?:missing-rules|issue)-/.test(name));
    const user = { name: 'limited', groups: [] };
    const limited = await WebhookStage.open(user);
    try {
      const expiration = '-server-tls.self-signed-cert.expiration=20s';
      const former = await limited.operator([expiration]);
      former.process.kill('SIGTERM');
      await former.process.exitCode();
      const resources = ['pods', 'statefulsets', 'secrets', 'leases'];
      const rules = [{ apiGroups: ['*'], resources, verbs: ['*'] }];
      limited.cluster.authorizer.restrict([{ user: user.name, rules }]);
      await Promise.all(gone.map((name) => rm(join(replaced, name))));
      const program = join(replaced, 'rollout-operator.mjs');
      const operator = limited.launch(
        [expiration, '-webhooks.update-ca-bundle=false'],
        {},
        program,
      );
      const missing =
        /is missing: keep all files of the build in the folder of the program, and restart it after a new build/;
      assert.match(await operator.line(/cannot find out which rules the Role lacks/), missing);
      assert.match(await operator.line(/the Secret of the certificate/), missing);
      operator.kill('SIGTERM');
      assert.equal(await operator.exitCode(), 0);
    } finally {
      await limited.close();
    }
  });
});
