import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { instant, seconds } from '#base/units.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { LateProxy, type LateProxyOptions, lateText } from '../../real-cluster/late-proxy.ts';

const pod = '/api/v1/namespaces/n/pods/a-0';
const set = '/apis/apps/v1/namespaces/n/statefulsets/a';

describe('LateProxy', () => {
  let clock: ManualClock;
  let upstream: Server;
  /** What arrived at the API server, as `DELETE /path body`. */
  let arrived: string[];
  let proxies: LateProxy[];

  beforeEach(async () => {
    clock = new ManualClock(instant(0));
    arrived = [];
    proxies = [];
    upstream = createServer((incoming, response) => {
      void (async () => {
        let body = '';
        for await (const chunk of incoming) body += String(chunk);
        arrived.push(`${incoming.method} ${incoming.url} ${body}`.trim());
        if (incoming.url?.includes('watch=1') ?? false) response.write('first\n');
        else response.writeHead(409, { 'x-answer': 'yes' }).end('no');
      })();
    }).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
  });

  afterEach(async () => {
    for (const proxy of proxies) await proxy.close();
    upstream.closeAllConnections();
    upstream.close();
  });

  function portOf(server: Server): number {
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** A proxy that holds every write, or none, as long as it can be. */
  async function start(
    holds: 'each' | 'none',
    options: Pick<LateProxyOptions, 'longestDelay'> = {},
  ): Promise<{ proxy: LateProxy; address: URL }> {
    const server = new URL(`http://127.0.0.1:${portOf(upstream)}`);
    const random = {
      fraction: () => (holds === 'each' ? 0 : 0.99),
      below: (bound: number) => bound - 1,
    };
    const proxy = new LateProxy({ server, ca: '', clock, random, ...options });
    proxies.push(proxy);
    return { proxy, address: await proxy.listen() };
  }

  /** @param line as in `DELETE /path body` */
  function send(address: URL, line: string): Promise<IncomingMessage> {
    const [method, path = '', body = ''] = line.split(' ');
    return new Promise((resolve, reject) => {
      // Node sends no length of a DELETE's body by itself.
      const headers = { 'content-length': body.length };
      request(new URL(path, address), { method, headers }, resolve).on('error', reject).end(body);
    });
  }

  async function untilTimers(count: number): Promise<void> {
    while (clock.pendingTimers < count) await new Promise(setImmediate);
  }

  test('passes a write on as it is, and its answer', async () => {
    const { proxy, address } = await start('none');
    const answer = await send(address, `DELETE ${pod}?dryRun=All {"uid":"u"}`);
    assert.deepEqual([answer.statusCode, answer.headers['x-answer']], [409, 'yes']);
    assert.equal(String((await answer.toArray())[0]), 'no');
    assert.deepEqual(arrived, [`DELETE ${pod}?dryRun=All {"uid":"u"}`]);
    assert.deepEqual(proxy.late, []);
  });

  test('hands on each part of a watch when it comes', async () => {
    const { address } = await start('each');
    const answer = await send(address, 'GET /api/v1/pods?watch=1');
    const [chunk] = (await once(answer, 'data')) as [Buffer];
    assert.equal(chunk.toString(), 'first\n');
    answer.destroy();
  });

  const held: Readonly<Record<string, string>> = {
    'a deletion of a pod': `DELETE ${pod}`,
    'a patch of a StatefulSet': `PATCH ${set}`,
    'a patch of its scale': `PATCH ${set}/scale`,
    'an update of its status': `PUT ${set}/status?fieldManager=x`,
  };
  for (const [what, line] of Object.entries(held)) {
    test(`holds ${what} for at most 2 s`, async () => {
      const { proxy, address } = await start('each');
      const answer = send(address, line);
      await untilTimers(1);
      clock.advance(seconds(1.999));
      assert.deepEqual(arrived, []);
      clock.advance(seconds(0.001));
      assert.equal((await answer).statusCode, 409);
      assert.deepEqual(proxy.late, []);
    });
  }

  test('holds no other write', async () => {
    const { address } = await start('each');
    await send(address, `PATCH ${pod}`);
    await send(address, 'POST /api/v1/namespaces/n/events');
    assert.equal(clock.pendingTimers, 0);
    assert.equal(arrived.length, 2);
  });

  test('delivers what was held, and what was in the sockets, within 5 s of the kill', async () => {
    const { proxy, address } = await start('each');
    void send(address, `DELETE ${pod} one`).catch(() => undefined);
    await untilTimers(1);
    clock.advance(seconds(1));
    proxy.orphan();
    void send(address, `DELETE ${pod} two`).catch(() => undefined);
    await untilTimers(2);
    clock.advance(seconds(4.999));
    assert.equal(clock.pendingTimers, 2);
    clock.advance(seconds(0.001));
    await proxy.settled();
    assert.deepEqual(new Set(arrived), new Set([`DELETE ${pod} one`, `DELETE ${pod} two`]));
    const path = pod;
    const each = { method: 'DELETE', path, arrivedAt: instant(6_000), outcome: 409 };
    assert.deepEqual(
      new Set(proxy.late),
      new Set([
        { ...each, sentAt: instant(0) },
        { ...each, sentAt: instant(1_000) },
      ]),
    );
    assert.equal(lateText(proxy.late), '2 late requests (DELETE pods 409: 2)');
  });

  test('delivers what a killed operator had sent as late as it is told to, or when it is told to', async () => {
    const { proxy, address } = await start('none', { longestDelay: seconds(100) });
    proxy.orphan();
    for (const body of ['one', 'two']) {
      void send(address, `DELETE ${pod} ${body}`).catch(() => undefined);
      await untilTimers(1);
      clock.advance(seconds(99.999));
      assert.equal(clock.pendingTimers, 1);
      if (body === 'one') clock.advance(seconds(0.001));
      else proxy.release();
      await proxy.settled();
      assert.equal(clock.pendingTimers, 0);
    }
    assert.deepEqual(arrived, [`DELETE ${pod} one`, `DELETE ${pod} two`]);
  });

  test('tells that a late write was lost where the API server is down', async () => {
    const { proxy, address } = await start('each');
    void send(address, `DELETE ${pod}`).catch(() => undefined);
    await untilTimers(1);
    proxy.orphan();
    upstream.close();
    clock.advance(seconds(20));
    await proxy.settled();
    assert.equal(lateText(proxy.late), '1 late requests (DELETE pods lost: 1)');
  });
});
