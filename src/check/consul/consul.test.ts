import assert from 'node:assert/strict';
import { pipeline, Readable } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import { createSecureContext } from 'node:tls';
import { instant, millis } from '#base/units.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import {
  type ConsulObstacle,
  ConsulServer,
  refusing,
  saying,
} from '#support/external-services/consul-server.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { type Consul, type ConsulAnswer, type ConsulOptions, createConsul } from './consul.ts';
import { noIndex } from './consul-index.ts';

const token = 'a-token-that-nobody-may-see';
const { signal } = new AbortController();
const asking = { index: noIndex, token, isLeaderAsked: false, signal };

interface Stage {
  readonly server: ConsulServer;
  readonly consul: Consul;
}

async function stage(context: TestContext, options: Partial<ConsulOptions> = {}): Promise<Stage> {
  const server = new ConsulServer();
  const address = new URL(`http://127.0.0.1:${await server.listen()}`);
  const consul = createConsul({ clock: systemClock(), env: {}, address, ...options });
  context.after(async () => {
    await consul.close();
    await server.close();
  });
  return { server, consul };
}

/** Writes `piece` again and again, as fast as the reader has room. */
function endlessly(piece: string, pieces: { written: number }): ConsulObstacle {
  function* all(): Generator<string> {
    for (; ; pieces.written += 1) yield piece;
  }
  return (response) => {
    // The reader leaves; that is what is to be seen.
    pipeline(Readable.from(all()), response, () => undefined);
  };
}

function kindOf(answer: ConsulAnswer): string {
  return answer.kind === 'trouble' ? answer.code : answer.kind;
}

describe('createConsul()', () => {
  test('asks for a change since the index, and never without a bound of time', async (context) => {
    const { server, consul } = await stage(context);
    server.obstacles.push(saying('[]'), saying('[]'));
    await consul.ask({ service: 'a b' }, asking);
    const all = { service: 'web', datacenter: 'dc1', namespace: 'team', partition: 'part' };
    await consul.ask(all, { ...asking, index: 7n });
    const query = 'dc=dc1&ns=team&partition=part&index=7&wait=55000ms';
    assert.deepEqual(server.received, [
      { target: '/v1/health/service/a%20b', token },
      { target: `/v1/health/service/web?${query}`, token },
    ]);
  });

  const troubles: Record<string, { given: ConsulObstacle; want: string }> = {
    'an error of the server': { given: refusing(503, 'no leader'), want: 'ConsulUnavailable' },
    'too many questions': { given: refusing(429, 'slow down'), want: 'ConsulUnavailable' },
    'a redirection': { given: refusing(301, ''), want: 'ConsulUnavailable' },
    'an answer that is no JSON': { given: saying('<html>'), want: 'ConsulUnavailable' },
    'an answer that ends too early': {
      given: (response) => {
        response.writeHead(200, { 'content-length': '100' }).write('[');
        response.destroy();
      },
      want: 'ConsulUnavailable',
    },
    'a token that is refused': {
      given: refusing(403, 'Permission denied'),
      want: 'ConsulPermissionDenied',
    },
    'an unknown datacenter': {
      given: refusing(500, 'rpc error: No path to datacenter'),
      want: 'ConsulUnknownDatacenter',
    },
    'another error 500': { given: refusing(500, 'rpc error'), want: 'ConsulUnavailable' },
  };
  for (const [what, { given, want }] of Object.entries(troubles)) {
    test(`tells ${what} by its code [T-84]`, async (context) => {
      const { server, consul } = await stage(context);
      server.obstacles.push(given);
      assert.equal(kindOf(await consul.ask({ service: 'web' }, asking)), want);
    });
  }

  test('shows the token nowhere, even if the server repeats it [T-84]', async (context) => {
    const { server, consul } = await stage(context);
    server.obstacles.push(refusing(403, `the token ${token} is unknown`));
    const answer = await consul.ask({ service: 'web' }, asking);
    assert.ok(answer.kind === 'trouble');
    assert.match(answer.message, /for "web": it answers 403: "the token … is unknown"/);
  });

  test('tells no part of the token either, where the server repeats it late', async (context) => {
    const { server, consul } = await stage(context);
    server.obstacles.push(refusing(403, `${'x'.repeat(90)}${token}`));
    const answer = await consul.ask({ service: 'web' }, asking);
    assert.ok(answer.kind === 'trouble');
    assert.doesNotMatch(answer.message, /a-token/);
  });

  test('reads no answer that is longer than the bound (CONSUL-22)', async (context) => {
    const { server, consul } = await stage(context, { longestAnswer: 1_000 });
    server.obstacles.push(saying(`[${' '.repeat(1_000)}]`));
    const answer = await consul.ask({ service: 'web' }, asking);
    assert.ok(answer.kind === 'trouble');
    assert.match(answer.message, /the answer must have at most 1000 bytes$/);
  });

  test('ends the connection at the instance that is one too many, and says so (CONSUL-22)', async (context) => {
    const { server, consul } = await stage(context);
    const pieces = { written: 0 };
    server.obstacles.push((response) => {
      response.writeHead(200, { 'x-consul-index': '11' }).write('[');
      endlessly('{},'.repeat(20_000), pieces)(response);
    });
    const answer = await consul.ask({ service: 'web' }, asking);
    assert.ok(answer.kind === 'trouble');
    assert.equal(answer.code, 'ConsulUnavailable');
    assert.match(
      answer.message,
      /its answer is not from Consul: the answer must have at most 10000/,
    );
    // A piece has 20,000 instances; what the sockets hold between the two is written, too.
    assert.ok(pieces.written < 200, `${pieces.written} pieces`);
  });

  test('reads no refusal to an end that never comes', async (context) => {
    const { server, consul } = await stage(context);
    server.obstacles.push((response) => {
      endlessly('no leader '.repeat(1_000), { written: 0 })(response.writeHead(503));
    });
    const answer = await consul.ask({ service: 'web' }, asking);
    assert.ok(answer.kind === 'trouble');
    assert.match(answer.message, /it answers 503: "no leader no leader/);
  });

  test('gives up an answer that stops half way after 10 s', async (context) => {
    const clock = new FakeClock();
    const { server, consul } = await stage(context, { clock });
    const came = Promise.withResolvers<void>();
    server.obstacles.push((response) => {
      response.writeHead(200).write('[{}', () => came.resolve());
    });
    const answer = consul.ask({ service: 'web' }, asking);
    await came.promise;
    await clock.advance(10_000);
    const ended = await answer;
    assert.ok(ended.kind === 'trouble');
    assert.match(ended.message, /no whole answer in time$/);
  });

  test('gives up a question that no server answers after 10 s, and one that waits after 63.4 s', async (context) => {
    const clock = new FakeClock();
    const { server, consul } = await stage(context, { clock });
    const spans = [];
    for (const index of [noIndex, 11n]) {
      const came = Promise.withResolvers<void>();
      server.obstacles.push(() => came.resolve());
      const answer = consul.ask({ service: 'web' }, { ...asking, index });
      await came.promise;
      spans.push(Math.max(...clock.pending()));
      await clock.advance(64_000);
      assert.equal(kindOf(await answer), 'ConsulUnavailable');
    }
    assert.deepEqual(spans, [10_000, 63_437.5]);
  });

  test('gives a question up that is not needed any more', async (context) => {
    const { consul } = await stage(context);
    const ending = new AbortController();
    const answer = consul.ask({ service: 'web' }, { ...asking, index: 50n, signal: ending.signal });
    ending.abort();
    assert.equal(kindOf(await answer), 'ConsulUnavailable');
  });

  test('says so where no client listens', async () => {
    const server = new ConsulServer();
    const address = new URL(`http://127.0.0.1:${await server.listen()}`);
    await server.close();
    const consul = createConsul({ clock: systemClock(), env: {}, address });
    const answer = await consul.ask({ service: 'web' }, asking);
    assert.ok(answer.kind === 'trouble');
    assert.match(answer.message, /ECONNREFUSED/);
    await consul.close();
  });

  test('trusts the authorities that it is given, and shows its own certificate', async (context) => {
    const identity = await selfSigned(instant(Date.now()));
    const tls = { ...identity, ca: identity.cert, requestCert: true, rejectUnauthorized: true };
    const server = new ConsulServer({ tls });
    const address = new URL(`https://127.0.0.1:${await server.listen()}`);
    context.after(() => server.close());
    const { cert, key } = identity;
    const secureContext = createSecureContext({ ca: cert, cert, key });
    for (const [trust, want] of [
      [{ secureContext }, 'instances'],
      [{ ca: cert }, 'ConsulUnavailable'],
      [{ cert, key }, 'ConsulUnavailable'],
    ] as const) {
      const consul = createConsul({ clock: systemClock(), env: {}, address, tls: () => trust });
      assert.equal(kindOf(await consul.ask({ service: 'web' }, asking)), want);
      await consul.close();
    }
  });
});

describe('a server that does not lead', () => {
  const cases: Record<string, { told: Record<string, string>; want: string }> = {
    'is believed while it hears of the leader': {
      told: { 'x-consul-lastcontact': '9999' },
      want: 'instances',
    },
    'is not believed that has not for 10 s': {
      told: { 'x-consul-lastcontact': '10000' },
      want: 'stale',
    },
    'is not believed that does not say': { told: { 'x-consul-lastcontact': '' }, want: 'stale' },
  };
  for (const [fact, { told, want }] of Object.entries(cases)) {
    test(`${fact} (CONSUL-18)`, async (context) => {
      const { server, consul } = await stage(context, { isStaleAllowed: true });
      server.headers = told;
      assert.equal(kindOf(await consul.ask({ service: 'web' }, asking)), want);
      assert.match(server.received[0]?.target ?? '', /\?stale=$/);
    });
  }

  test('is not asked where the leader is to be', async (context) => {
    const { server, consul } = await stage(context, { isStaleAllowed: true, wait: millis(1) });
    server.headers = { 'x-consul-lastcontact': '99999' };
    const answer = await consul.ask({ service: 'web' }, { ...asking, isLeaderAsked: true });
    assert.equal(answer.kind, 'instances');
    assert.doesNotMatch(server.received[0]?.target ?? '', /stale/);
  });
});
