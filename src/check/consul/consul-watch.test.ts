import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { valid } from '#base/parsed.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import type { ConsulAnswer, ConsulAsking } from './consul.ts';
import type { ServiceSight } from './consul-watch.ts';
import { ConsulWatches } from './consul-watches.ts';
import type { ServiceInstance } from './parse-consul.ts';

interface Asked {
  readonly at: number;
  readonly service: string;
  readonly asking: ConsulAsking;
  answer(answer: ConsulAnswer): Promise<void>;
}

/** Watches over a Consul that answers when a test says so. */
class Bed {
  readonly clock = new FakeClock();
  readonly log = new KeptLog();
  readonly asked: Asked[] = [];
  readonly woken: string[] = [];
  readonly doubts: boolean[] = [];
  token = (): ReturnType<typeof tokenOf> => tokenOf('t');
  readonly watches = new ConsulWatches({
    clock: this.clock,
    log: this.log,
    onChange: (key) => this.woken.push(key),
    tokens: {
      of: (_ref, { isDoubted }) => {
        this.doubts.push(isDoubted);
        return this.token();
      },
    },
    consul: {
      ask: (question, asking) => {
        const { promise, resolve } = Promise.withResolvers<ConsulAnswer>();
        asking.signal.addEventListener('abort', () => resolve(down));
        this.asked.push({
          at: this.clock.monotonic(),
          service: question.service,
          asking,
          answer: async (answer) => {
            resolve(answer);
            await this.clock.settle();
          },
        });
        return promise;
      },
    },
  });

  get last(): Asked {
    const last = this.asked.at(-1);
    assert.ok(last !== undefined, 'something was asked');
    return last;
  }

  sight(service = 'web'): ServiceSight {
    return this.watches.sight({ service });
  }
}

const down: ConsulAnswer = { kind: 'trouble', code: 'ConsulUnavailable', message: 'it is down' };
const denied: ConsulAnswer = { kind: 'trouble', code: 'ConsulPermissionDenied', message: 'no' };
const web = { service: 'web' };

function tokenOf(token: string): Promise<ReturnType<typeof valid<string>>> {
  return Promise.resolve(valid(token));
}

function instances(index: bigint, ids: readonly string[] = ['web-0']): ConsulAnswer {
  const usual = { podName: undefined, namespace: undefined, address: '', nodeAddress: '' };
  const found = ids.map((id): ServiceInstance => ({ ...usual, id, isPassing: true }));
  return { kind: 'instances', index, instances: found };
}

/** `a` follows `web`, which has been asked for. */
async function following(): Promise<Bed> {
  const bed = new Bed();
  bed.watches.follow('demo/a', [web]);
  await bed.clock.settle();
  return bed;
}

describe('ConsulWatches', () => {
  test('asks as soon as a key follows, knows nothing before the answer, and wakes the keys that follow (CONSUL-17)', async () => {
    const bed = await following();
    assert.equal(bed.sight().kind, 'awaited');
    assert.equal(bed.last.asking.index, 0n);
    assert.equal(bed.last.asking.token, 't');
    await bed.last.answer(instances(7n));
    assert.equal(bed.sight().kind, 'known');
    assert.deepEqual(bed.woken, ['demo/a']);
  });

  test('asks on by the index, a second after the question before at the earliest (CONSUL-15)', async () => {
    const bed = await following();
    await bed.last.answer(instances(7n));
    await bed.clock.advance(999);
    assert.equal(bed.asked.length, 1);
    await bed.clock.advance(1);
    assert.equal(bed.asked.length, 2);
    assert.equal(bed.last.asking.index, 7n);
    await bed.clock.advance(50_000);
    await bed.last.answer(instances(8n));
    await bed.clock.settle();
    assert.deepEqual(
      bed.asked.map(({ at }) => at),
      [0, 1_000, 51_000],
    );
  });

  test('starts at 0 again where the index goes backwards [T-85]', async () => {
    const bed = await following();
    await bed.last.answer(instances(7n));
    await bed.clock.advance(1_000);
    await bed.last.answer(instances(0n));
    await bed.clock.advance(1_000);
    assert.equal(bed.last.asking.index, 0n);
  });

  test('wakes no key where only the index has changed', async () => {
    const bed = await following();
    await bed.last.answer(instances(7n));
    await bed.clock.advance(1_000);
    await bed.last.answer(instances(8n));
    assert.deepEqual(bed.woken, ['demo/a']);
    await bed.clock.advance(1_000);
    await bed.last.answer(instances(9n, ['web-0', 'web-1']));
    assert.deepEqual(bed.woken, ['demo/a', 'demo/a']);
  });

  test('knows nothing any more after an error, tells it once, and starts at 0 again', async () => {
    const bed = await following();
    await bed.last.answer(instances(7n));
    await bed.clock.advance(1_000);
    await bed.last.answer(down);
    assert.deepEqual(bed.sight(), { ...down, kind: 'unknown' });
    await bed.clock.advance(5_000);
    await bed.last.answer(down);
    await bed.clock.advance(10_000);
    assert.equal(bed.last.asking.index, 0n);
    assert.deepEqual(bed.woken, ['demo/a', 'demo/a']);
    assert.equal(bed.log.lines.length, 1);
  });

  test('waits 5 s after the first error, twice as long after the next, 60 s at most, and not after an answer', async () => {
    const bed = await following();
    const waits: number[] = [];
    for (const answer of [down, down, denied, down, down, down, instances(3n), down]) {
      const { length } = bed.asked;
      const from = bed.clock.monotonic();
      await bed.last.answer(answer);
      while (bed.asked.length === length) await bed.clock.advance(1_000);
      waits.push((bed.clock.monotonic() - from) / 1_000);
    }
    assert.deepEqual(waits, [5, 10, 20, 40, 60, 60, 1, 5]);
  });

  test('reads a token again that was refused', async () => {
    const bed = await following();
    await bed.last.answer(denied);
    await bed.clock.advance(5_000);
    await bed.last.answer(instances(7n));
    await bed.clock.advance(5_000);
    assert.deepEqual(bed.doubts, [false, true, false]);
  });

  test('tells a token that cannot be read, and asks nothing without it', async () => {
    const bed = new Bed();
    bed.token = () => Promise.reject(new Error('secrets "consul" is forbidden'));
    bed.watches.follow('demo/a', [web]);
    await bed.clock.settle();
    const sight = bed.sight();
    assert.ok(sight.kind === 'unknown');
    assert.match(sight.message, /secrets "consul" is forbidden/);
    assert.equal(bed.asked.length, 0);
  });

  test('says nothing that is older than 90 s, and wakes who follows (CONSUL-16)', async () => {
    const bed = await following();
    await bed.last.answer(instances(7n));
    await bed.clock.advance(90_000);
    assert.equal(bed.sight().kind, 'known');
    bed.woken.length = 0;
    await bed.clock.advance(1);
    const sight = bed.sight();
    assert.ok(sight.kind === 'unknown');
    assert.equal(sight.code, 'ConsulUnavailable');
    assert.match(sight.message, /more than 90 s/);
    assert.deepEqual(bed.woken, ['demo/a']);
  });

  test('is as young as the last answer, be it the same as before', async () => {
    const bed = await following();
    await bed.last.answer(instances(7n));
    await bed.clock.advance(60_000);
    await bed.last.answer(instances(7n));
    await bed.clock.advance(60_000);
    assert.equal(bed.sight().kind, 'known');
  });

  test('asks the leader where a server lags, and keeps what it knew (CONSUL-18)', async () => {
    const bed = await following();
    await bed.last.answer(instances(7n));
    await bed.clock.advance(1_000);
    await bed.last.answer({ kind: 'stale' });
    assert.equal(bed.sight().kind, 'known');
    await bed.clock.advance(1_000);
    assert.equal(bed.last.asking.isLeaderAsked, true);
    assert.equal(bed.last.asking.index, 7n);
    await bed.last.answer(instances(8n));
    await bed.clock.advance(1_000);
    assert.equal(bed.last.asking.isLeaderAsked, false);
  });

  test('watches once for all who follow the same, and until the last of them is gone', async () => {
    const bed = await following();
    bed.watches.follow('demo/b', [web]);
    await bed.clock.settle();
    assert.equal(bed.asked.length, 1);
    await bed.last.answer(instances(7n));
    assert.deepEqual(bed.woken, ['demo/a', 'demo/b']);
    bed.watches.forget('demo/a');
    assert.equal(bed.watches.size, 1);
    bed.watches.forget('demo/b');
    assert.equal(bed.watches.size, 0);
    await bed.clock.advance(100_000);
    assert.equal(bed.asked.length, 1);
    assert.deepEqual(bed.clock.pending(), []);
  });

  test('shares nothing between questions that differ', async () => {
    const bed = new Bed();
    const token = { namespace: 'demo', name: 'consul', key: 'token' };
    bed.watches.follow('demo/a', [
      web,
      { ...web, datacenter: 'b' },
      { ...web, namespace: 'b' },
      { ...web, partition: 'b' },
      { ...web, token },
      { ...web, token: { ...token, namespace: 'other' } },
    ]);
    assert.equal(bed.watches.size, 6);
    await bed.watches.close();
  });

  test('ends what is followed no more, and goes on with the rest', async () => {
    const bed = await following();
    bed.watches.follow('demo/a', [{ service: 'api' }]);
    await bed.clock.settle();
    assert.deepEqual(
      bed.asked.map(({ service }) => service),
      ['web', 'api'],
    );
    assert.equal(bed.asked[0]?.asking.signal.aborted, true);
    assert.equal(bed.asked[1]?.asking.signal.aborted, false);
  });

  test('begins again for a watch that follows again', async () => {
    const bed = await following();
    await bed.last.answer(instances(7n));
    bed.watches.forget('demo/a');
    bed.watches.follow('demo/a', [web]);
    assert.equal(bed.sight().kind, 'awaited');
  });

  test('asks nothing once it is closed', async () => {
    const bed = await following();
    await bed.watches.close();
    bed.watches.follow('demo/a', [web]);
    await bed.clock.settle();
    assert.equal(bed.asked.length, 1);
    assert.equal(bed.watches.size, 0);
  });
});
