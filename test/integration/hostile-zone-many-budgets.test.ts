/** Hostile: 10,000 ZoneDisruptionBudgets of one namespace, which whoever may make one may make. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aborted } from '#base/aborted.ts';
import { millis } from '#base/units.ts';
import { silentRecorder } from '#kubernetes/events.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { Transport } from '#kubernetes/transport.ts';
import { openZoneBudgets } from '#operator-zone-budgets.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { silentLogger } from '#testing/silent-logger.ts';

function budgets(count: number): readonly object[] {
  return Array.from({ length: count }, (_, at) => ({
    metadata: {
      namespace: 'demo',
      name: `zdb-${at}`,
      uid: `uid-${at}`,
      resourceVersion: '10',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { selector: { matchLabels: { app: `app-${at}` } }, maxUnavailable: 1 },
  }));
}

/** Lists `items` where budgets are asked for, and nothing where something else is; watches show nothing. */
function serverOf(items: readonly object[]): Transport {
  const encode = (body: object): Uint8Array => Buffer.from(JSON.stringify(body));
  return {
    request: async ({ path, method }) => {
      if (method !== 'GET')
        return { status: 403, headers: {}, body: encode({ kind: 'Status', code: 403 }) };
      if (path.includes('/configmaps/')) {
        return {
          status: 404,
          headers: {},
          body: encode({ kind: 'Status', code: 404, reason: 'NotFound' }),
        };
      }
      const shown = path.includes('/zonedisruptionbudgets') ? items : [];
      const body = { kind: 'List', metadata: { resourceVersion: '10' }, items: shown };
      return { status: 200, headers: {}, body: encode(body) };
    },
    stream: async ({ path, signal }) => {
      const isList = path.includes('sendInitialEvents');
      const status = { kind: 'Status', code: 422, reason: 'Invalid' };
      async function* chunks(): AsyncGenerator<Uint8Array> {
        if (isList) yield encode(status);
        else if (signal !== undefined) await aborted(signal);
      }
      return { status: isList ? 422 : 200, headers: {}, chunks: chunks() };
    },
    close: () => Promise.resolve(),
  };
}

/** The longest time without a turn of the event loop while `count` budgets are listed. */
async function stallOf(count: number): Promise<number> {
  const clock = systemClock();
  const transport = serverOf(budgets(count));
  const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  const opened = openZoneBudgets({
    client,
    reviewClient: client,
    ledgerNamespace: 'ops',
    clock,
    log: silentLogger,
    count: () => undefined,
  });
  const ending = new AbortController();
  const now = clock.monotonic();
  const predecessor = { overAt: now, ownOverAt: now };
  void opened.lead({ term: 't', predecessor, events: silentRecorder }, () =>
    aborted(ending.signal),
  );
  let last = performance.now();
  let stall = 0;
  const timer = setInterval(() => {
    stall = Math.max(stall, performance.now() - last);
    last = performance.now();
  }, 5);
  const running = opened.run(ending.signal).catch(() => undefined);
  await opened.caches.synced;
  await new Promise((resolve) => setTimeout(resolve, 50));
  clearInterval(timer);
  ending.abort();
  await running;
  return stall;
}

test('twice as many budgets stall the event loop about twice as long, and 10,000 for less than 2 s', async () => {
  await stallOf(500);
  const [few, twice] = [await stallOf(2_500), await stallOf(5_000)];
  const text = `2,500: ${Math.round(few)} ms, 5,000: ${Math.round(twice)} ms`;
  assert.ok(twice < few * 3 + 100, text);
  const all = await stallOf(10_000);
  assert.ok(all < 2_000, `${text}, 10,000: ${Math.round(all)} ms`);
});
