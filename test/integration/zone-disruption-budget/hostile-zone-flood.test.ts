/** Hostile: what 10,000 forged eviction reviews leave behind under the flags that are shipped. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zonePodEviction } from '#admission/eviction/zone-pod-eviction.ts';
import { ConcurrencyLimit } from '#admission/review/concurrency-limit.ts';
import { handlersOf } from '#admission/review/review-handler.ts';
import { sharedReads } from '#admission/review/shared-reads.ts';
import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import { objectsAt, textsAt } from '#cluster/json/read-json.ts';
import { readZoneAwareConfig } from '#config/zone-aware-config.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { reviewDocument } from '#support/admission/admission-requests.ts';
import { FakeTransport } from '#support/api-server/fake-transport.ts';
import { createLogger, unbuffered } from '#telemetry/log/line-logger.ts';
import { zoneAwareObjects } from '../../../scripts/install/zone-aware-files.ts';
import { clock } from '../admission/hostile-trust-stage.ts';

/** The flags of the Deployment that is shipped. */
function shipped(): readonly string[] {
  const objects = zoneAwareObjects('operator:1')['operator.yaml'] as readonly JsonObject[];
  const args = objects
    .flatMap((each) => objectsAt(each, 'spec', 'template', 'spec', 'containers'))
    .flatMap((each) => textsAt(each, 'args'));
  assert.ok(args.includes('--leader-elect'), args.join(' '));
  return args;
}

test('10,000 forged reviews leave at most 20 lines, under the flags that are shipped', async () => {
  const outcome = readZoneAwareConfig(shipped(), {});
  assert.ok(outcome.kind === 'run');
  const lines: string[] = [];
  const log = createLogger({
    ...outcome.config.log,
    clock,
    sink: unbuffered((line) => lines.push(line)),
  });
  const status = { kind: 'Status', code: 404, reason: 'NotFound' };
  const transport = new FakeTransport(() => ({ status: 404, body: status }));
  const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  const webhook = zonePodEviction({
    budgets: { pod: () => undefined, judgeEviction: () => Promise.resolve([]) },
    client: sharedReads(client, clock),
    clock,
    log,
    limits: { reads: new ConcurrencyLimit(100), judgements: new ConcurrencyLimit(2_000) },
    count: () => undefined,
  });
  const handler = handlersOf([webhook], { clock, log, requestTimeout: seconds(10) });
  const caller = { query: '', begun: clock.monotonic(), onLeave: () => undefined };
  for (let at = 0; at < 10_000; at += 1) {
    const review = reviewDocument({
      operation: 'CREATE',
      kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      subResource: 'eviction',
      name: `n-${at}`.padEnd(253, 'n'),
      uid: 'u'.repeat(256),
      userInfo: { username: 'x'.repeat(1_024) },
      object: {},
      oldObject: null,
    });
    const body = Buffer.from(JSON.stringify(review));
    await handler.get(webhook.path)?.({ contentType: 'application/json', body, caller });
  }
  const bytes = lines.reduce((sum, line) => sum + line.length, 0);
  assert.ok(lines.length <= 20, `${lines.length} lines of ${bytes} bytes`);
});
