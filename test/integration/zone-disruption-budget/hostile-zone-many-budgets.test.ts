/** Hostile: thousands of ZoneDisruptionBudgets of one namespace, which any account that may create one may create. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aborted } from '#base/async/aborted.ts';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { silentRecorder } from '#kubernetes/events/events.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { openZoneBudgets } from '#operator/zone-aware/zone-budgets.ts';
import { openZoneCaches } from '#operator/zone-caches.ts';
import { FakeInformer } from '#support/api-server/fake-informer.ts';
import { FakeTransport } from '#support/api-server/fake-transport.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { silentLogger as log } from '#support/telemetry/silent-logger.ts';
import {
  type ZoneBudgetView,
  zoneBudgetView,
} from '#zone-disruption-budget/cache/zone-budget-view.ts';

/** How often members of the views of budgets are read: a loop over all of them at each change reads each of them. */
class Reads {
  count = 0;

  /** A view whose members are read as those of any other, and counted. */
  viewOf(object: JsonObject): ZoneBudgetView {
    return new Proxy(
      { ...zoneBudgetView(object) },
      {
        get: (view, name, receiver): unknown => {
          this.count += 1;
          return Reflect.get(view, name, receiver);
        },
      },
    );
  }
}

/** Budgets as the server has them at `revision`, each with pods of its own. */
function budgets(count: number, revision: number, maxUnavailable = 1): readonly KubernetesObject[] {
  return Array.from({ length: count }, (_, at) => ({
    metadata: {
      namespace: 'demo',
      name: `zdb-${at}`,
      uid: `uid-${at}`,
      resourceVersion: `${revision + at}`,
      generation: maxUnavailable,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { selector: { matchLabels: { app: `app-${at}` } }, maxUnavailable },
  }));
}

interface Opened {
  readonly informer: FakeInformer<ZoneBudgetView>;
  /** What is read while `work` is done. */
  readonly during: (work: () => void) => number;
  readonly close: () => Promise<void>;
}

/** The budgets of a process that leads, and knows of none. */
function open(): Opened {
  const clock = new FakeClock();
  const reads = new Reads();
  const status = { kind: 'Status', code: 404, reason: 'NotFound' };
  const transport = new FakeTransport(() => ({ status: 404, body: status }));
  const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  const zoneBudgets = new FakeInformer<ZoneBudgetView>({
    clock,
    type: resourceTypes.zoneDisruptionBudgets,
    project: (raw) => reads.viewOf({ ...raw }),
    indexers: {},
  });
  const caches = { ...openZoneCaches({ client, clock, log }), zoneBudgets };
  const settings = { client, reviewClient: client, ledgerNamespace: 'ops', clock, log };
  const opened = openZoneBudgets({ ...settings, caches, count: () => undefined });
  const ending = new AbortController();
  const now = clock.monotonic();
  const predecessor = { overAt: now, ownOverAt: now };
  const term = { term: 't', predecessor, events: silentRecorder };
  const leading = opened.lead(term, () => aborted(ending.signal));
  return {
    informer: zoneBudgets,
    during: (work) => {
      const before = reads.count;
      work();
      return reads.count - before;
    },
    close: async () => {
      ending.abort();
      await leading;
    },
  };
}

/** What is read at each step of the life of `count` budgets. */
async function readsOf(count: number): Promise<Readonly<Record<string, number>>> {
  const { informer, during, close } = open();
  informer.hasSynced = false;
  const listed = during(() => {
    informer.lister.beginList();
    for (const each of budgets(count, 1_000)) informer.list(each);
    informer.endList('100000');
    informer.hasSynced = true;
    informer.tellState();
  });
  const changed = during(() => {
    for (const each of budgets(count, 200_000, 2)) informer.show(each);
  });
  const removed = during(() => {
    for (const each of budgets(count, 300_000, 2)) informer.remove(each);
  });
  const made = during(() => {
    for (const each of budgets(count, 400_000)) informer.show(each);
  });
  await close();
  return { listed, changed, removed, made };
}

test('a process that leads looks at twice as many budgets about twice as often', async () => {
  const [few, twice] = [await readsOf(500), await readsOf(1_000)];
  for (const [step, count] of Object.entries(few)) {
    assert.ok(count >= 500, `${step}: ${count}`);
    assert.ok((twice[step] ?? 0) < count * 2.5, `${step}: ${count}, ${twice[step]}`);
  }
});
