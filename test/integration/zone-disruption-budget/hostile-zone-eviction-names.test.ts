/** Hostile: forged eviction reviews whose names lead to another resource than a pod. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zonePodEviction } from '#admission/eviction/zone-pod-eviction.ts';
import { ConcurrencyLimit } from '#admission/review/concurrency-limit.ts';
import { handlersOf } from '#admission/review/review-handler.ts';
import { sharedReads } from '#admission/review/shared-reads.ts';
import { millis, seconds } from '#base/units.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { reviewDocument } from '#support/admission/admission-requests.ts';
import { FakeTransport } from '#support/api-server/fake-transport.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';

const uid = 'uid-of-review';
/** `[namespace, name]` as nobody's API server has them. */
const forged: readonly (readonly [string, string])[] = [
  ['demo', ''],
  ['', ''],
  ['', 'db-0'],
  ['demo', '..'],
  ['demo', '.'],
  ['..', 'db-0'],
  ['..', '..'],
];

for (const [namespace, name] of forged) {
  test(`the forged pod ${JSON.stringify(`${namespace}/${name}`)} is refused without any request`, async () => {
    const clock = new FakeClock();
    const transport = new FakeTransport(() => ({
      status: 404,
      body: { kind: 'Status', code: 404, reason: 'NotFound' },
    }));
    const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
    const webhook = zonePodEviction({
      budgets: { pod: () => undefined, judgeEviction: () => Promise.resolve([]) },
      client: sharedReads(client, clock),
      clock,
      log: silentLogger,
      limits: { reads: new ConcurrencyLimit(100), judgements: new ConcurrencyLimit(100) },
      count: () => undefined,
    });
    const handler = handlersOf([webhook], {
      clock,
      log: silentLogger,
      requestTimeout: seconds(10),
    }).get(webhook.path);
    const body = Buffer.from(
      JSON.stringify(
        reviewDocument({
          uid,
          operation: 'CREATE',
          kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
          resource: { group: '', version: 'v1', resource: 'pods' },
          subResource: 'eviction',
          namespace,
          name,
          object: { kind: 'Eviction', apiVersion: 'policy/v1' },
          oldObject: null,
        }),
      ),
    );
    const caller = { query: '', begun: clock.monotonic(), onLeave: () => undefined };
    const answer = await handler?.({ contentType: 'application/json', body, caller });
    assert.deepEqual(
      transport.requests.map(({ path }) => path),
      [],
    );
    const got = JSON.stringify(`${namespace}/${name}`);
    const message = `the request does not name both a namespace and a pod: got ${got}`;
    const details = { causes: [{ reason: 'InvalidRequest', message }] };
    assert.deepEqual(JSON.parse(answer?.body ?? ''), {
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      response: { uid, allowed: false, status: { metadata: {}, message, details, code: 400 } },
    });
  });
}
