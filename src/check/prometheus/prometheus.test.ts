import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { instant, millis, minutes, seconds } from '#base/units.ts';
import { issueSelfSigned } from '#certificate/x509/issue.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { parseAllowedHosts } from '#kubernetes/outgoing/allowed-hosts.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import {
  answering,
  flooding,
  type Handler,
  hanging,
  oneSeries,
  PrometheusServer,
  redirecting,
  type ServerIdentity,
} from '#support/external-services/prometheus-server.ts';
import {
  createPrometheus,
  type Prometheus,
  type PrometheusOptions,
  type PrometheusQuestion,
} from './prometheus.ts';
import type { QueryReading } from './reading.ts';

/** Certificate of every server with TLS here; vouches for itself. */
const identity = await selfSigned(instant(Date.now()));

/** A client whose clock stands still, and servers that end with the test. */
class Bench {
  readonly clock = new ManualClock();
  readonly prometheus: Prometheus;
  readonly #servers: PrometheusServer[] = [];

  constructor(
    context: TestContext,
    env: Readonly<Record<string, string>> = {},
    more: Partial<PrometheusOptions> = {},
  ) {
    this.prometheus = createPrometheus({ clock: this.clock, env, permitsLoopback: true, ...more });
    context.after(async () => {
      await this.prometheus.close();
      await Promise.all(this.#servers.map((server) => server.close()));
    });
  }

  async serve(
    handle: Handler,
    secure?: ServerIdentity,
  ): Promise<{ readonly server: PrometheusServer; readonly port: number; readonly url: string }> {
    const server = new PrometheusServer(handle, secure);
    this.#servers.push(server);
    const port = await server.listen();
    return { server, port, url: `http${secure === undefined ? '' : 's'}://127.0.0.1:${port}` };
  }

  read(question: Partial<PrometheusQuestion>, signal?: AbortSignal): Promise<QueryReading> {
    const asking = { signal: signal ?? new AbortController().signal };
    return this.prometheus.read({ url: '', expr: 'up', ...question }, asking);
  }
}

/** A reading in words: its kind, or reason and message. */
function said(reading: QueryReading): string {
  return reading.kind === 'error' ? `${reading.reason}: ${reading.message}` : reading.kind;
}

/** What waits for a user who hangs would wait for ever: no test here takes a tenth of this. */
const patience = { timeout: 20_000 };

describe('createPrometheus() asks', () => {
  test('createPrometheus() asks by GET at the path of the API, with nothing but the query [phased 44]', async (t) => {
    const bench = new Bench(t);
    const { server, url } = await bench.serve(answering(oneSeries));
    const reading = await bench.read({ url: `${url}/prom/?x=1#f`, expr: 'a <\n 5' });
    assert.equal(said(reading), 'vector');
    const [request] = server.received;
    assert.equal(request?.target, '/prom/api/v1/query?query=a+%3C+5');
    const { host: _, connection: __, ...headers } = request?.headers ?? {};
    assert.deepEqual(headers, { 'user-agent': 'rollout-operator' });
  });

  test('createPrometheus() sends what the Secret says, else what the URL says [phased 46, 51]', async (t) => {
    const bench = new Bench(t);
    const { server, port, url } = await bench.serve(answering(oneSeries));
    const withUser = `http://ann:p%40w@127.0.0.1:${port}`;
    await bench.read({ url });
    await bench.read({ url: withUser });
    await bench.read({ url: withUser, authorization: 'Bearer abc' });
    assert.deepEqual(
      server.received.map(({ headers }) => headers.authorization),
      [undefined, `Basic ${Buffer.from('ann:p@w').toString('base64')}`, 'Bearer abc'],
    );
  });

  test('createPrometheus() uses the new credentials of a Secret at the next question [phased 49]', async (t) => {
    const bench = new Bench(t);
    const { server, url } = await bench.serve(answering(oneSeries));
    for (const token of ['one', 'two']) await bench.read({ url, authorization: `Bearer ${token}` });
    assert.deepEqual(
      server.received.map(({ headers }) => headers.authorization),
      ['Bearer one', 'Bearer two'],
    );
  });

  test('createPrometheus() sends the headers of a query, as Mimir asks its tenants to [found R-13]', async (t) => {
    const bench = new Bench(t);
    const mimir: Handler = (response, { headers }) => {
      const isTenant = headers['x-scope-orgid'] === 'tenant-1' && headers['x-api-key'] === 'k3y';
      response.writeHead(isTenant ? 200 : 401).end(isTenant ? oneSeries : 'no org id');
    };
    const { url, server } = await bench.serve(mimir);
    const headers = [
      { name: 'X-Scope-OrgID', value: 'tenant-1' },
      { name: 'X-Api-Key', secretKey: 'api-key' },
    ];
    assert.match(said(await bench.read({ url })), /^Refused: .*it answers 401/);
    assert.match(said(await bench.read({ url, headers })), /^BadConfiguration: .*no value/);
    assert.equal(server.received.length, 1);
    const secretValues = { 'api-key': 'k3y' };
    const authorization = 'Bearer abc';
    const question = { url, headers, secretValues, authorization };
    assert.equal(said(await bench.read(question)), 'vector');
    assert.equal(server.received[1]?.headers.authorization, 'Bearer abc');
  });

  test('createPrometheus() tells nobody the value of a header from the Secret [found R-13]', async (t) => {
    const bench = new Bench(t);
    const echo: Handler = (response, { headers }) =>
      response.writeHead(403).end(`not for ${String(headers['x-api-key'])}`);
    const { url } = await bench.serve(echo);
    const headers = [{ name: 'X-Api-Key', secretKey: 'k' }];
    const told = said(await bench.read({ url, headers, secretValues: { k: 'long-secret' } }));
    assert.match(told, /^Refused: /);
    assert.doesNotMatch(told, /long-secret/);
  });

  test('createPrometheus() goes through the proxy of the environment', async (t) => {
    const proxy = new PrometheusServer(answering(oneSeries));
    t.after(() => proxy.close());
    const bench = new Bench(t, { HTTP_PROXY: `http://127.0.0.1:${await proxy.listen()}` });
    assert.equal(said(await bench.read({ url: 'http://prometheus.invalid:9090' })), 'vector');
    assert.equal(proxy.received[0]?.target, 'http://prometheus.invalid:9090/api/v1/query?query=up');
  });

  test('createPrometheus() says what is wrong with the proxy of the environment', async (t) => {
    const bench = new Bench(t, { HTTP_PROXY: 'http://:x' });
    const reading = await bench.read({ url: 'http://prometheus.invalid:9090' });
    assert.match(
      said(reading),
      /^Unreachable: .*Cannot use the proxy "http:\/\/:x": it must be a URL/,
    );
  });

  test('createPrometheus() sends nothing by a URL that leads nowhere [phased 5]', async (t) => {
    const bench = new Bench(t);
    assert.equal(
      said(await bench.read({ url: 'prom:9000/xx' })),
      'Unreachable: Cannot ask Prometheus by its URL: its scheme is "prom", where http:// or https:// is needed',
    );
    assert.match(said(await bench.read({ url: '10.0.0.1:9090' })), /^BadConfiguration: /);
  });
});

describe('createPrometheus() reads', () => {
  interface Case {
    readonly handle: Handler;
    readonly want: RegExp;
  }
  const cases: Record<string, Case> = {
    'an answer whose content type is another': {
      handle: answering(oneSeries, { 'content-type': 'text/html' }),
      want: /^vector$/,
    },
    'an empty vector as no data': {
      handle: answering('{"status":"success","data":{"result":[]}}'),
      want: /^no-data$/,
    },
    'an error below 400 as the refusal that it is [phased 42] [found R-5]': {
      handle: answering('{"status":"error","errorType":"execution","error":"no leader"}'),
      want: /^Refused: Cannot ask http:\/\/127\.0\.0\.1:\d+\/api\/v1\/query: errorType "execution", error "no leader"$/,
    },
    'no JSON that ends early': {
      handle: answering(oneSeries.slice(0, -3)),
      want: /^Unreadable: Cannot ask http:\/\/127\.0\.0\.1:\d+\/api\/v1\/query: its answer \(200\) is not from Prometheus: body must be JSON$/,
    },
    'no HTML [phased 41]': {
      handle: answering('<html>', { 'content-type': 'text/html' }),
      want: /^Unreadable: .*\(200\) is not from Prometheus: body must be JSON$/,
    },
    'no answer without a body [phased 41]': {
      handle: (response) => response.writeHead(204).end(),
      want: /^Unreadable: .*\(204\)/,
    },
    'no answer that is compressed': {
      handle: answering(oneSeries, { 'content-encoding': 'gzip' }),
      want: /^Unreadable: .*its answer is compressed, which was not asked for$/,
    },
    'no answer of 400 and more, whatever its body': {
      handle: (response) => response.writeHead(503).end(oneSeries),
      want: /^Refused: Cannot ask http:\/\/127\.0\.0\.1:\d+\/api\/v1\/query: it answers 503$/,
    },
    'no answer of which the connection breaks': {
      handle: (response) => {
        response.writeHead(200, { 'content-length': '500' });
        response.write(oneSeries, () => response.destroy());
      },
      want: /^Unreachable: .*: no answer of 127\.0\.0\.1:\d+: /,
    },
    'no connection that breaks at once': {
      handle: (response) => void response.destroy(),
      want: /^Unreachable: /,
    },
  };
  for (const [fact, { handle, want }] of Object.entries(cases)) {
    test(`createPrometheus() reads ${fact}`, async (t) => {
      const bench = new Bench(t);
      const { url } = await bench.serve(handle);
      assert.match(said(await bench.read({ url })), want);
    });
  }

  test('createPrometheus() reads no more of a body than 64 KiB, and says what to do [found X-2]', async (t) => {
    const bench = new Bench(t);
    let written = 0;
    const flood = flooding(100 * 1_048_576, (bytes) => {
      written = bytes;
    });
    const { url } = await bench.serve(flood);
    assert.match(
      said(await bench.read({ url })),
      /^TooLong: .*longer than 65536 bytes: have the query give fewer series, as sum\(\) does$/,
    );
    // What was on its way in the buffers of both ends was written, too.
    assert.ok(written < 50 * 1_048_576, `${written} bytes were written`);
  });

  test(
    'createPrometheus() bounds what it reads of all servers at once, and gives up the longest answer',
    patience,
    async (t) => {
      const bench = new Bench(t);
      // Seventeen servers, each within its own bound, hold back their ends: together they are more than 1 MiB.
      const most = 65_536;
      const ends: ServerResponse[] = [];
      const floods = Array.from({ length: 17 }, async () => {
        const { server, url } = await bench.serve((response) => {
          response.writeHead(200).write(' '.repeat(most - oneSeries.length));
          ends.push(response);
        });
        const reading = bench.read({ url });
        await server.came(1);
        return { reading };
      });
      const readings = (await Promise.all(floods)).map(({ reading }) => reading);
      const first = said(await Promise.race(readings));
      assert.match(
        first,
        /^TooLong: .*too much is answered at once, and its answer is the longest$/,
      );
      const { url } = await bench.serve(answering(oneSeries));
      assert.equal(said(await bench.read({ url })), 'vector');
      for (const end of ends) end.end(oneSeries);
      const kinds = (await Promise.all(readings)).map(({ kind }) => kind);
      assert.ok(kinds.filter((kind) => kind === 'vector').length >= 15, kinds.join());
    },
  );

  test('createPrometheus() reads a body of 64 KiB [found X-2]', async (t) => {
    const bench = new Bench(t);
    const { url } = await bench.serve(answering(oneSeries + ' '.repeat(65_536 - oneSeries.length)));
    assert.equal(said(await bench.read({ url })), 'vector');
  });

  test('createPrometheus() tells nothing of credentials that a server repeats', async (t) => {
    const bench = new Bench(t);
    const { url } = await bench.serve((response, { headers }) => {
      const error = `${headers.authorization} is wrong`;
      response.writeHead(401).end(JSON.stringify({ status: 'error', error }));
    });
    const told = said(await bench.read({ url, authorization: 'Bearer 0123456789' }));
    assert.match(told, /it answers 401: errorType none, error "Bearer … is wrong"$/);
  });
});

describe('createPrometheus() in time', () => {
  test('createPrometheus() gives a server up after 5 s [phased 43]', async (t) => {
    const bench = new Bench(t);
    let late: ServerResponse | undefined;
    const { server, url } = await bench.serve((response) => {
      late = response;
    });
    const reading = bench.read({ url });
    await server.came(1);
    bench.clock.advance(seconds(5));
    late?.end(oneSeries);
    assert.match(said(await reading), /^TimedOut: .*: no whole answer within 5000 ms$/);
  });

  test('createPrometheus() gives a body up that comes byte by byte, 5 s after it asked', async (t) => {
    const bench = new Bench(t);
    let slow: ServerResponse | undefined;
    const { server, url } = await bench.serve((response, { url: target }) => {
      if (target?.startsWith('/slow') === true) slow = response.writeHead(200);
      else response.end(oneSeries);
    });
    const reading = bench.read({ url: `${url}/slow` });
    await server.came(1);
    for (const byte of oneSeries.slice(0, 4)) {
      slow?.write(byte);
      // What was written before is read when this is answered.
      await bench.read({ url });
      bench.clock.advance(seconds(1));
    }
    bench.clock.advance(seconds(1));
    // Would be a whole answer, had anybody gone on reading.
    slow?.end(oneSeries.slice(4));
    assert.match(said(await reading), /^TimedOut: /);
  });

  test('createPrometheus() counts the time of redirects together', async (t) => {
    const bench = new Bench(t);
    let late: ServerResponse | undefined;
    const { server, url } = await bench.serve((response, { url: target }) => {
      late = response;
      if (target === '/again') return;
      bench.clock.advance(seconds(3));
      response.writeHead(302, { location: '/again' }).end();
    });
    const reading = bench.read({ url });
    await server.came(2);
    bench.clock.advance(seconds(2));
    late?.end(oneSeries);
    assert.match(said(await reading), /^TimedOut: /);
  });

  test(
    'createPrometheus() answers one question while fifty hang at another server [phased 74]',
    patience,
    async (t) => {
      const bench = new Bench(t);
      const { server, url } = await bench.serve(hanging);
      const healthy = await bench.serve(answering(oneSeries));
      const stuck = Array.from({ length: 50 }, () => bench.read({ url }));
      await server.came(8);
      // The clock stands still: a call that waits for the hanging server waits for ever.
      assert.equal(said(await bench.read({ url: healthy.url })), 'vector');
      assert.deepEqual([server.received.length, server.connections], [8, 8]);
      bench.clock.advance(seconds(5));
      await server.came(16);
      assert.equal(said(await bench.read({ url: healthy.url })), 'vector');
      await bench.prometheus.close();
      const answers = (await Promise.all(stuck)).map((each) => said(each).split(':')[0]);
      assert.equal(answers.filter((each) => each === 'TimedOut').length, 8);
      assert.equal(answers.filter((each) => each === 'GivenUp').length, 42);
    },
  );

  test(
    'createPrometheus() answers a caller with other credentials than those that hang',
    patience,
    async (t) => {
      const bench = new Bench(t);
      const { server, url } = await bench.serve((response, { headers }) => {
        if (headers.authorization === 'Bearer good') response.end(oneSeries);
      });
      const stuck = Array.from({ length: 9 }, () =>
        bench.read({ url, authorization: 'Bearer bad' }),
      );
      await server.came(8);
      assert.equal(said(await bench.read({ url, authorization: 'Bearer good' })), 'vector');
      await bench.prometheus.close();
      await Promise.all(stuck);
    },
  );

  test('createPrometheus() counts the time of a question from when it has its turn', async (t) => {
    const bench = new Bench(t);
    const { server, url } = await bench.serve(hanging);
    const told: number[] = [];
    const readings = Array.from({ length: 9 }, () =>
      bench.prometheus.read(
        { url, expr: 'up' },
        { signal: new AbortController().signal, sent: () => told.push(bench.clock.monotonic()) },
      ),
    );
    await server.came(8);
    bench.clock.advance(seconds(5));
    await server.came(9);
    bench.clock.advance(millis(4_999));
    assert.deepEqual(told, [0, 0, 0, 0, 0, 0, 0, 0, 5_000]);
    bench.clock.advance(millis(1));
    for (const reading of await Promise.all(readings)) assert.match(said(reading), /^TimedOut/);
  });

  test('createPrometheus() gives up when it is asked to, also while it waits for its turn', async (t) => {
    const bench = new Bench(t);
    const { server, url } = await bench.serve(hanging);
    const ending = new AbortController();
    const readings = Array.from({ length: 9 }, () => bench.read({ url }, ending.signal));
    await server.came(8);
    ending.abort();
    for (const reading of await Promise.all(readings)) assert.match(said(reading), /^GivenUp: /);
    assert.equal(server.received.length, 8);
  });

  test('createPrometheus() asks nothing once it is closed', async (t) => {
    const bench = new Bench(t);
    const { server, url } = await bench.serve(answering(oneSeries));
    await bench.prometheus.close();
    assert.match(said(await bench.read({ url })), /^GivenUp: /);
    assert.equal(server.received.length, 0);
  });

  test('createPrometheus() leaves no timer behind', async (t) => {
    const bench = new Bench(t);
    const { url } = await bench.serve(answering(oneSeries));
    await bench.read({ url });
    assert.equal(bench.clock.pendingTimers, 0);
  });
});

describe('createPrometheus() refuses', () => {
  const secret = 'what only the operator can reach';
  const loopback = { permitsLoopback: false };

  test('createPrometheus() calls nothing on its own host, by address or by name [found X-3]', async (t) => {
    const bench = new Bench(t, {}, loopback);
    const { server, port, url } = await bench.serve(answering(oneSeries));
    for (const each of [url, `http://localhost:${port}`, `http://[::ffff:127.0.0.1]:${port}`]) {
      assert.match(
        said(await bench.read({ url: each })),
        /^BadConfiguration: .*it is loopback$/,
        each,
      );
    }
    assert.equal(server.connections, 0);
  });

  test('createPrometheus() calls no metadata service [found X-3]', async (t) => {
    const bench = new Bench(t);
    for (const host of ['169.254.169.254', '[fd00:ec2::254]', '100.100.100.200']) {
      assert.match(
        said(await bench.read({ url: `http://${host}` })),
        /^BadConfiguration: .*may not be called/,
      );
    }
  });

  test('createPrometheus() asks the hosts of the list alone, where there is one [found X-3]', async (t) => {
    const parsed = parseAllowedHosts(
      ['http://127.0.0.1:9', '*.monitoring'],
      '-query-allowed-hosts',
    );
    assert.ok(parsed.kind === 'valid');
    const bench = new Bench(t, {}, { hosts: parsed.value });
    const { server, url } = await bench.serve(answering(oneSeries));
    assert.match(
      said(await bench.read({ url })),
      /^BadConfiguration: .*127\.0\.0\.1:\d+ is not among the hosts of -query-allowed-hosts$/,
    );
    assert.equal(server.connections, 0);
    assert.match(said(await bench.read({ url: 'http://127.0.0.1:9' })), /^Unreachable: /);
  });

  const answers: Record<string, Handler> = {
    'a page': answering(secret, { 'content-type': secret }),
    'another encoding': answering(oneSeries, { 'content-encoding': secret }),
    'a refusal': (response) => response.writeHead(403, { 'content-type': secret }).end(secret),
    'a refusal in JSON': (response) =>
      response.writeHead(500).end(JSON.stringify({ error: secret })),
    'JSON of another program': answering(JSON.stringify({ status: secret, data: secret })),
    'JSON with another result': answering(JSON.stringify({ status: 'success', data: secret })),
    'a list with other elements': answering(
      JSON.stringify({ status: 'success', data: { result: [secret] } }),
    ),
    'a redirect': redirecting(`ftp://${encodeURIComponent(secret)}/`),
    'a redirect to another server': redirecting(`http://h/${encodeURIComponent(secret)}`),
  };
  for (const [what, handle] of Object.entries(answers)) {
    test(`createPrometheus() repeats nothing of ${what} [found X-3]`, async (t) => {
      const bench = new Bench(t);
      const { url } = await bench.serve(handle);
      const told = said(await bench.read({ url }));
      assert.match(told, /^(?:Unreadable|Refused|Misdirected): /);
      assert.doesNotMatch(decodeURIComponent(told), /operator can/);
    });
  }

  test('createPrometheus() repeats the error that Prometheus itself states', async (t) => {
    const bench = new Bench(t);
    const body = '{"status":"error","errorType":"bad_data","error":"parse error"}';
    const { url } = await bench.serve((response) => response.writeHead(400).end(body));
    assert.match(
      said(await bench.read({ url })),
      /^Refused: .*: it answers 400: errorType "bad_data", error "parse error"$/,
    );
  });
});

describe('createPrometheus() after redirects', () => {
  test('createPrometheus() takes credentials and headers along on the same server', async (t) => {
    const bench = new Bench(t);
    const { server, url } = await bench.serve((response, { url: target }) => {
      if (target === '/x?query=up') response.end(oneSeries);
      else response.writeHead(307, { location: '/x?query=up' }).end();
    });
    const headers = [{ name: 'X-Scope-OrgID', value: 'a' }];
    const question = { url, authorization: 'Bearer abc', headers };
    assert.equal(said(await bench.read(question)), 'vector');
    const [, request] = server.received;
    assert.deepEqual(
      [request?.target, request?.headers.authorization, request?.headers['x-scope-orgid']],
      ['/x?query=up', 'Bearer abc', 'a'],
    );
  });

  test('createPrometheus() goes to no other server, by name, port or scheme, and does not say which [found X-3]', async (t) => {
    const bench = new Bench(t);
    const target = await bench.serve(answering(oneSeries));
    const name = `http://localhost:${target.port}/secret-path`;
    for (const location of [name, `${target.url}/secret-path`, '//h.example/secret-path']) {
      const lead = await bench.serve(redirecting(location));
      const told = said(await bench.read({ url: lead.url, authorization: 'Bearer abc' }));
      assert.match(told, /^Misdirected: .*: it redirects to another server/);
      assert.doesNotMatch(told, /secret-path|h\.example/);
    }
    assert.equal(target.server.received.length, 0);
  });

  test('createPrometheus() follows nine redirects, and no tenth', async (t) => {
    const bench = new Bench(t);
    const { server, url } = await bench.serve((response, { url: target = '' }) => {
      const left = Number(/\d+/.exec(target.slice(1))?.[0] ?? 0);
      if (left === 0) response.end(oneSeries);
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    const start = async (left: number): Promise<string> =>
      said(await bench.read({ url: `${url}/${left}` }));
    assert.equal(await start(9), 'vector');
    assert.equal(server.received.length, 10);
    assert.match(await start(10), /^Misdirected: .*: it redirects more than 9 times$/);
  });

  test('createPrometheus() fails where a redirect leads to no web server', async (t) => {
    const bench = new Bench(t);
    const { url } = await bench.serve(redirecting('ftp://h/x'));
    assert.match(
      said(await bench.read({ url })),
      /Misdirected: .*: it redirects to no http or https URL$/,
    );
  });

  test('createPrometheus() judges the body of a redirect that leads nowhere, as the peer does', async (t) => {
    const bench = new Bench(t);
    const { url } = await bench.serve((response) => response.writeHead(302).end(oneSeries));
    assert.equal(said(await bench.read({ url })), 'vector');
  });
});

describe('createPrometheus() over TLS', () => {
  test('createPrometheus() believes no server whose certificate no CA vouches for [phased 50]', async (t) => {
    const bench = new Bench(t);
    const { server, url } = await bench.serve(answering(oneSeries), identity);
    assert.match(said(await bench.read({ url })), /^Unreachable: .*self.signed certificate/);
    assert.equal(server.received.length, 0);
  });

  test('createPrometheus() believes any server with insecureSkipVerify [phased 50]', async (t) => {
    const bench = new Bench(t);
    const { url } = await bench.serve(answering(oneSeries), identity);
    assert.equal(said(await bench.read({ url, isInsecure: true })), 'vector');
    // Not by the connection of the server that was named.
    assert.match(said(await bench.read({ url })), /^Unreachable: /);
  });

  test('createPrometheus() believes the authorities that a question names, and no others', async (t) => {
    const bench = new Bench(t);
    const { url } = await bench.serve(answering(oneSeries), identity);
    const other = await selfSigned(instant(Date.now()));
    assert.equal(said(await bench.read({ url, authorities: identity.cert })), 'vector');
    assert.match(said(await bench.read({ url, authorities: other.cert })), /^Unreachable: /);
  });

  test('createPrometheus() believes no certificate of another name, whichever CA signed it', async (t) => {
    const bench = new Bench(t);
    const issued = await issueSelfSigned({
      dnsNames: ['localhost'],
      organization: 'test',
      expiration: minutes(10),
      now: instant(Date.now()),
    });
    const { server, url } = await bench.serve(answering(oneSeries), issued);
    const refused = await bench.read({ url, authorities: issued.ca });
    assert.match(said(refused), /^Unreachable: .*not in the cert's list/);
    assert.equal(server.received.length, 0);
  });

  test('createPrometheus() verifies the name of a server behind a proxy, without the dot at its end', async (t) => {
    const named = await selfSigned(instant(Date.now()), ['prometheus.test']);
    const target = new PrometheusServer(answering(oneSeries), named);
    const port = await target.listen();
    const proxy = createServer().on('connect', (_, socket) => {
      const upstream = connect(port, '127.0.0.1');
      for (const each of [socket, upstream]) each.on('error', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    t.after(async () => {
      await target.close();
      proxy.close();
    });
    const bench = new Bench(t, {
      HTTPS_PROXY: `127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    });
    const read = async (host: string): Promise<string> =>
      said(await bench.read({ url: `https://${host}:9090`, authorities: named.cert }));
    assert.equal(await read('prometheus.test.'), 'vector');
    assert.match(await read('other.test.'), /^Unreachable: .*not in the cert's altnames/);
  });
});
