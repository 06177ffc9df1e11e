/** What a stranger's reviews leave behind, and what the Role grants that nothing shipped asks for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { noDownscale } from '#admission/downscale/no-downscale.ts';
import { GroupLocks } from '#admission/prepare-downscale/group-locks.ts';
import { prepareDownscale } from '#admission/prepare-downscale/prepare-downscale.ts';
import { ConcurrencyLimit } from '#admission/review/concurrency-limit.ts';
import { handlersOf } from '#admission/review/review-handler.ts';
import { sharedReads } from '#admission/review/shared-reads.ts';
import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';
import { reviewDocument } from '#support/admission/admission-requests.ts';
import { type FakeAnswer, FakeTransport } from '#support/api-server/fake-transport.ts';
import { createLogger, unbuffered } from '#telemetry/log/line-logger.ts';
import { programVersion } from '../../../scripts/generate-deploy.ts';
import { builtImage } from '../../../scripts/install/deployment.ts';
import { deployFiles } from '../../../scripts/install/operator-files.ts';
import { clock } from './hostile-trust-stage.ts';

const scale = (replicas: number): JsonObject => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'n'.repeat(253), namespace: 'kube-system', uid: 'u' },
  spec: { replicas },
});
const status = { kind: 'Status', code: 403, reason: 'Forbidden', message: 'forbidden' };
const failures: Readonly<Record<string, () => FakeAnswer>> = {
  'of a namespace that the Role does not cover': () => ({ status: 403, body: status }),
  'while the API server cannot be reached': () => new TransportError('broken', 'connection'),
};

function forged(name: string): Buffer {
  return Buffer.from(
    JSON.stringify(
      reviewDocument({
        name,
        namespace: 'kube-system',
        kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        subResource: 'scale',
        object: scale(1),
        oldObject: scale(3),
      }),
    ),
  );
}

const floods = ['no-downscale', 'prepare-downscale'].flatMap((which) =>
  Object.entries(failures).map(([fact, answer]) => ({ which, fact, answer })),
);

for (const { which, fact, answer } of floods) {
  test(`1,000 reviews ${fact}, half of them equal, leave at most 20 lines of ${which}`, async () => {
    const lines: string[] = [];
    const sink = unbuffered((line) => lines.push(line));
    const log = createLogger({ format: 'logfmt', level: 'info', clock, sink });
    const transport = new FakeTransport(answer);
    const plain = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
    const client = sharedReads(plain, clock);
    const limit = new ConcurrencyLimit(200);
    const webhooks = [
      noDownscale({ client, clock, log, limit }),
      prepareDownscale({
        client,
        log,
        limit,
        clock,
        locks: new GroupLocks(),
        podHttp: new Proxy({}, {}) as never,
        record: new Proxy({}, {}) as never,
        groupClaims: new Proxy({}, {}) as never,
        clusterDomain: 'cluster.local.',
        onBackground: () => undefined,
      }),
    ];
    const handlers = handlersOf(webhooks, { clock, log, requestTimeout: seconds(10) });
    const caller = { query: '', begun: clock.monotonic(), onLeave: () => undefined };
    for (let at = 0; at < 1_000; at += 1) {
      const body = forged(at % 2 === 0 ? 'n'.repeat(253) : `n-${at}`);
      const posted = { contentType: 'application/json', body, caller };
      await handlers.get(`/admission/${which}`)?.(posted);
    }
    const bytes = lines.reduce((sum, line) => sum + line.length, 0);
    assert.ok(lines.length <= 20, `${lines.length} lines of ${bytes} bytes`);
  });
}

test('the Role permits getting pods only where a shipped configuration has evictions reviewed', () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const files = deployFiles(builtImage(programVersion(root)), 'test');
  const hasEvictions = (files['webhook-configurations.yaml'] ?? '').includes('pods/eviction');
  const getsPods = / {6}- pods\n {4}verbs:\n(?: {6}- \w+\n)*? {6}- get\n/;
  const granting = Object.keys(files).filter((name) => getsPods.test(files[name] ?? ''));
  assert.deepEqual(granting, hasEvictions ? ['budget-role.yaml'] : []);
});
