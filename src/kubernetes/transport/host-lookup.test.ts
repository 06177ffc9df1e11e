import assert from 'node:assert/strict';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { HostLookup } from './host-lookup.ts';

/** A resolver whose answers the test gives by hand. */
class Bench {
  readonly clock = new FakeClock();
  /** Names in the order in which they were looked up. */
  readonly asked: string[] = [];
  readonly #open: { readonly name: string; readonly answer: (found: boolean) => void }[] = [];
  readonly #hosts = new HostLookup(this.clock, (name) => {
    this.asked.push(name);
    const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>();
    const addresses = [
      { address: '::1', family: 6 },
      { address: '10.0.0.1', family: 4 },
    ];
    this.#open.push({
      name,
      answer: (found) => (found ? resolve(addresses) : reject(new Error(`no such name: ${name}`))),
    });
    return promise;
  });

  /** Looks `name` up. @returns what `net.connect` is told */
  look(name: string, options: LookupOptions = { all: true }): Promise<string> {
    return new Promise((resolve) => {
      this.#hosts.lookup(name, options, (error, address, family) => {
        if (error !== null) resolve(error.message);
        else
          resolve(
            family === undefined ? JSON.stringify(address) : `${JSON.stringify(address)} ${family}`,
          );
      });
    });
  }

  /** Answers the oldest open lookup of `name`. */
  async answer(name: string, found = true): Promise<void> {
    const at = this.#open.findIndex((each) => each.name === name);
    assert.ok(at >= 0, `${name} is not looked up`);
    this.#open.splice(at, 1)[0]?.answer(found);
    await this.clock.settle();
  }
}

test('HostLookup answers with all addresses or the first, as it is asked', async () => {
  const bench = new Bench();
  const all = bench.look('prom');
  await bench.clock.settle();
  await bench.answer('prom');
  assert.equal(await all, '[{"address":"::1","family":6},{"address":"10.0.0.1","family":4}]');
  const first = bench.look('prom', {});
  await bench.clock.settle();
  await bench.answer('prom');
  assert.equal(await first, '"::1" 6');
});

test('HostLookup says why there is no address', async () => {
  const bench = new Bench();
  const looked = bench.look('prom');
  await bench.clock.settle();
  await bench.answer('prom', false);
  assert.equal(await looked, 'no such name: prom');
});

test('HostLookup looks a name up once for all who ask at the same time, and anew afterwards', async () => {
  const bench = new Bench();
  const looked = [bench.look('prom'), bench.look('prom')];
  await bench.clock.settle();
  await bench.answer('prom');
  assert.equal(new Set(await Promise.all(looked)).size, 1);
  void bench.look('prom');
  await bench.clock.settle();
  assert.deepEqual(bench.asked, ['prom', 'prom']);
});

test('HostLookup holds three threads at most, whatever hangs, and delays no name that was found quickly', async () => {
  const bench = new Bench();
  for (const name of ['good', 'slow', 'gone']) {
    void bench.look(name);
    await bench.clock.settle();
    if (name === 'slow') await bench.clock.advance(seconds(2));
    await bench.answer(name, name !== 'gone');
  }
  bench.asked.length = 0;
  // All of these hang.
  for (const name of ['slow', 'gone', 'new-1', 'new-2', 'new-3']) void bench.look(name);
  const good = bench.look('good');
  await bench.clock.settle();
  assert.deepEqual(bench.asked, ['slow', 'new-1', 'good']);
  await bench.answer('good');
  assert.match(await good, /10\.0\.0\.1/);
  await bench.answer('new-1');
  await bench.answer('slow');
  assert.deepEqual(bench.asked.slice(3), ['new-2', 'gone']);
});

test('HostLookup finds what the system finds', async () => {
  const hosts = new HostLookup(new FakeClock());
  const { promise, resolve } = Promise.withResolvers<unknown>();
  hosts.lookup('127.0.0.1', { all: true }, (_, addresses) => resolve(addresses));
  assert.deepEqual(await promise, [{ address: '127.0.0.1', family: 4 }]);
});
