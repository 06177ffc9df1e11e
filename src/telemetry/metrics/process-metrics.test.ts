import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createProcessRegistry } from './process-metrics.ts';

/** The value of a series without labels. */
function valueOf(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

test('createProcessRegistry() exposes what every client library exposes of a process', async () => {
  const text = await createProcessRegistry().expose();
  const rss = process.memoryUsage.rss();
  const resident = valueOf(text, 'process_resident_memory_bytes');
  assert.ok(resident > rss / 2 && resident < rss * 2, `${resident} for ${rss}`);
  const begun = Date.now() / 1_000 - process.uptime();
  assert.ok(Math.abs(valueOf(text, 'process_start_time_seconds') - begun) < 2);
  assert.match(
    text,
    new RegExp(`^nodejs_version_info\\{version="${process.version}",.*\\} 1$`, 'm'),
  );
  for (const name of ['nodejs_heap_size_used_bytes', 'nodejs_heap_size_total_bytes'])
    assert.ok(valueOf(text, name) > 0, name);
});

test('createProcessRegistry() measures CPU time and busy time again at each exposition', async () => {
  const registry = createProcessRegistry();
  // Before its first turn the loop counts nothing.
  await setImmediate();
  const first = await registry.expose();
  const before = process.cpuUsage();
  let spent = 0;
  while (spent < 20_000) {
    const { user, system } = process.cpuUsage(before);
    spent = user + system;
  }
  const second = await registry.expose();
  const name = 'process_cpu_seconds_total';
  assert.ok(valueOf(second, name) - valueOf(first, name) >= 0.019);
  const busy = 'nodejs_eventloop_active_seconds_total';
  assert.ok(valueOf(second, busy) > valueOf(first, busy));
  const { user, system } = process.cpuUsage();
  assert.ok(valueOf(second, name) <= (user + system) / 1e6);
});

test('createProcessRegistry() shows no figure under a name of Go', async () => {
  assert.doesNotMatch(await createProcessRegistry().expose(), /^(?:# \w+ )?go_/m);
});

test('createProcessRegistry() counts what keeps the event loop alive, by type', async () => {
  const registry = createProcessRegistry();
  const count = async (): Promise<number> =>
    valueOf(await registry.expose(), 'nodejs_active_resources\\{type="Timeout"\\}') || 0;
  const before = await count();
  const timeouts = [1, 2].map(() => setTimeout(() => assert.fail('is cleared'), 3_600_000));
  assert.equal(await count(), before + 2);
  for (const each of timeouts) clearTimeout(each);
  assert.equal(await count(), before);
});
