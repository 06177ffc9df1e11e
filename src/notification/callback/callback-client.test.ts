import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type LookupFunction, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { instant, millis, seconds } from '#base/units.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { parseAllowedHosts } from '#kubernetes/outgoing/allowed-hosts.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import {
  CallbackServer,
  type CallbackServerOptions,
  withStatus,
} from '#support/external-services/callback-server.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import { type CallbackOutcome, nextAttempt, verdictOf } from './callback-answer.ts';
import { callbackBody, idempotencyKey } from './callback-body.ts';
import {
  type CallbackCall,
  type CallbackClient,
  type CallbackClientOptions,
  createCallbackClient,
} from './callback-client.ts';

/** Certificates of real time: the clock of the test does not reach into TLS. */
const identity = await selfSigned(instant(Date.now()), ['bapi.test', '*.deploy.test']);
const foreign = await selfSigned(instant(Date.now()), ['bapi.test']);
const signingKey = 'key-of-the-operator';
const stageId = '2V6U3YXVO8OGtjQFEO9GJpQk1Xy';
const patience = { timeout: 20_000 };

const body = callbackBody({
  stageId,
  result: 'success',
  reasonCode: 'RolloutDone',
  reason: 'all pods are new – “done”',
  rolloutIdentity: 'a',
  attempt: 1,
  percentRequested: 100,
  percentDeployed: 100,
  resource: { cluster: 'c', namespace: 'ns', name: 'web', uid: 'u', generation: 1 },
  statefulset: { name: 'web', targetRevision: 'web-1', version: 'v1' },
  replicas: {
    total: 1,
    target: 1,
    updated: 1,
    ready: 1,
    readyServiceDiscovery: undefined,
    leaked: 0,
  },
  buildMetadata: { branch: 'main', commitSha: 'abc', origin: 'o', version: 'v1' },
  startedAt: instant(1_700_000_000_000),
  finishedAt: instant(1_700_000_600_000),
});
const keyOf = (result: 'success' | 'failure'): string =>
  idempotencyKey({ uid: 'u', key: 'k', stageId, result });

/** The settings that most tests have: the receivers listen on loopback. */
type Settings = Partial<Omit<CallbackClientOptions, 'hosts'>> & { readonly allowed?: string };

/** Clients, receivers that end with the test, and names that mean what the test says. */
class Bench {
  readonly clock = new ManualClock();
  readonly log = new KeptLog();
  /** Names in the order in which they were looked up. */
  readonly looked: string[] = [];
  /** What a name is found to mean, one entry a lookup; the last one stays. */
  readonly names = new Map<string, string[][]>();
  readonly #context: TestContext;

  constructor(context: TestContext) {
    this.#context = context;
  }

  readonly lookup: LookupFunction = (name, _options, done) => {
    this.looked.push(name);
    const answers = this.names.get(name) ?? [];
    const found = answers.length > 1 ? answers.shift() : answers[0];
    if (found === undefined) done(new Error(`no such name: ${name}`), '');
    else
      done(
        null,
        found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
  };

  /** A client that calls loopback, as the receivers are there, unless `settings` say otherwise. */
  client({ allowed = '', ...settings }: Settings = {}): CallbackClient {
    const hosts = parseAllowedHosts(allowed.split(','), '-callback-allowed-hosts');
    if (hosts.kind === 'invalid') assert.fail(JSON.stringify(hosts.problems));
    const client = createCallbackClient({
      clock: this.clock,
      logger: this.log,
      hosts: hosts.value,
      version: '1.2.3',
      lookup: this.lookup,
      permitsLoopback: true,
      authorities: identity.cert,
      ...settings,
    });
    this.#context.after(() => client.close());
    return client;
  }

  async serve(
    options: Partial<CallbackServerOptions> = {},
    [address, port]: readonly [string?, number?] = [],
  ): Promise<{ readonly server: CallbackServer; readonly port: number }> {
    const server = new CallbackServer({ clock: this.clock, ...options });
    this.#context.after(() => server.close());
    return { server, port: await server.listen(address, port) };
  }

  /** A receiver by http at 127.0.0.1, and a client that may call it. */
  async plain(): Promise<{
    readonly server: CallbackServer;
    readonly client: CallbackClient;
    readonly url: string;
  }> {
    const { server, port } = await this.serve();
    const url = `http://127.0.0.1:${port}`;
    return { server, client: this.client({ allowed: url }), url };
  }
}

function send(
  client: CallbackClient,
  call: Partial<CallbackCall>,
  signal: AbortSignal = new AbortController().signal,
): Promise<CallbackOutcome> {
  const usual = { url: '', body, idempotencyKey: keyOf('success'), signingKey };
  return client.send({ ...usual, ...call }, signal);
}

/** An outcome in words. */
function said(outcome: CallbackOutcome): string {
  const verdict = verdictOf(outcome);
  if (verdict.kind === 'given-up') return verdict.kind;
  return `${verdict.kind} ${verdict.because.reason}: ${verdict.because.message}`;
}

describe('createCallbackClient() delivers', () => {
  test('createCallbackClient() sends one POST with the body and a valid signature [T-87]', async (t) => {
    const bench = new Bench(t);
    const { server, port } = await bench.serve({ identity, signingKey });
    bench.names.set('bapi.test', [['127.0.0.1']]);
    const client = bench.client({ allowed: `bapi.test:${port}` });
    const url = `https://bapi.test:${port}/v1/stages/${stageId}/callback?a=b`;
    assert.match(said(await send(client, { url })), /^delivered .* 200: "taken"$/);
    const [request] = server.received;
    const { method, target, serverName } = request ?? {};
    assert.deepEqual(
      { method, target, serverName, body: request?.body },
      {
        method: 'POST',
        target: `/v1/stages/${stageId}/callback?a=b`,
        serverName: 'bapi.test',
        body,
      },
    );
    assert.equal(server.received.length, 1);
  });

  test('createCallbackClient() sends the headers of E-3 and none else that tells anything (E-3)', async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    await send(client, { url });
    const {
      connection: _,
      'x-bedrock-signature': signature,
      ...headers
    } = server.received[0]?.headers ?? {};
    assert.deepEqual(headers, {
      host: new URL(url).host,
      'content-type': 'application/json',
      'user-agent': 'statefulset-rollout-operator/1.2.3',
      'idempotency-key': keyOf('success'),
      'x-bedrock-timestamp': '1700000000',
      'content-length': String(Buffer.byteLength(body)),
    });
    assert.match(String(signature), /^v1=[0-9a-f]{64}$/);
  });

  test('createCallbackClient() signs again with the time of each attempt (E-6)', async (t) => {
    const bench = new Bench(t);
    const { server, port } = await bench.serve({ signingKey });
    const url = `http://127.0.0.1:${port}`;
    const client = bench.client({ allowed: url });
    await send(client, { url });
    bench.clock.advance(seconds(3_600));
    assert.match(said(await send(client, { url })), /^delivered .* 409/);
    const times = server.received.map(({ headers }) => headers['x-bedrock-timestamp']);
    assert.deepEqual(times, ['1700000000', '1700003600']);
  });

  test('createCallbackClient() is refused by who has another key (E-6, E-8)', async (t) => {
    const bench = new Bench(t);
    const { server, port } = await bench.serve({ signingKey: 'another' });
    const url = `http://127.0.0.1:${port}`;
    const outcome = await send(bench.client({ allowed: url }), { url });
    assert.match(said(outcome), /^permanent CallbackRefused: .* 401: "the signature is wrong"$/);
    assert.equal(server.taken.size, 0);
  });

  for (const [fact, key] of Object.entries({ 'no key': undefined, 'an empty key': '' })) {
    test(`createCallbackClient() leaves the signature out with ${fact}, and warns once (E-6)`, async (t) => {
      const bench = new Bench(t);
      const { server, client, url } = await bench.plain();
      const call = { url, body, idempotencyKey: 'x' };
      const { signal } = new AbortController();
      const signed = key === undefined ? {} : { signingKey: key };
      for (let at = 0; at < 2; at += 1) await client.send({ ...call, ...signed }, signal);
      const seen = server.received.map(({ headers }) => 'x-bedrock-signature' in headers);
      assert.deepEqual(seen, [false, false]);
      assert.equal(bench.log.lines.length, 1);
    });
  }

  test('createCallbackClient() makes three attempts with one key after 503, 503 [T-88]', async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    server.obstacles.push(withStatus(503), withStatus(503));
    const waits: number[] = [];
    for (let attempts = 1; attempts <= 10; attempts += 1) {
      const verdict = verdictOf(await send(client, { url }));
      if (verdict.kind !== 'temporary') break;
      const now = bench.clock.now();
      const next = nextAttempt(verdict, { attempts, now, random: 0 });
      if (next.kind === 'used-up') break;
      waits.push(next.at - now);
      bench.clock.advance(millis(next.at - now));
    }
    assert.deepEqual(waits, [2_000, 4_000]);
    const keys = server.received.map(({ headers }) => headers['idempotency-key']);
    assert.deepEqual(keys, [keyOf('success'), keyOf('success'), keyOf('success')]);
    assert.equal(server.taken.size, 1);
  });

  test('createCallbackClient() has delivered what the receiver knows already [T-90]', async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    await send(client, { url });
    assert.match(said(await send(client, { url })), /^delivered .* 409: "already known"$/);
    assert.equal(server.taken.size, 1);
  });

  test('createCallbackClient() delivers a success after a failure of the same stage [T-91]', async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    for (const result of ['failure', 'success'] as const) {
      const outcome = await send(client, { url, idempotencyKey: keyOf(result) });
      assert.match(said(outcome), /^delivered .* 200/);
    }
    assert.equal(server.taken.size, 2);
  });

  test('createCallbackClient() takes a refusal for good [T-89]', async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    server.obstacles.push(withStatus(404));
    const outcome = await send(client, { url });
    assert.equal(
      said(outcome),
      'permanent CallbackRefused: the receiver answers 404: "answer 404"',
    );
    assert.equal(server.received.length, 1);
  });

  test('createCallbackClient() tells how long the receiver asks to wait (E-9)', async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    const inAMinute = new Date(bench.clock.now() + 60_000).toUTCString();
    for (const after of ['7', inAMinute, 'soon'])
      server.obstacles.push(withStatus(429, { 'retry-after': after }));
    const waits: unknown[] = [];
    for (let at = 0; at < 3; at += 1) {
      const outcome = await send(client, { url });
      waits.push(outcome.kind === 'answered' && outcome.retryAfter);
    }
    assert.deepEqual(waits, [7_000, 60_000, undefined]);
  });

  test('createCallbackClient() waits for the answer behind an interim one', async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    server.obstacles.push((response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' }, () => response.writeHead(204).end());
    });
    assert.match(said(await send(client, { url })), /^delivered .* 204$/);
  });
});

describe('createCallbackClient() guards', () => {
  test('createCallbackClient() follows no redirect [T-95]', async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    const other = await bench.serve();
    const statuses = [301, 302, 303, 307, 308];
    for (const status of statuses)
      server.obstacles.push(withStatus(status, { location: `http://127.0.0.1:${other.port}/` }));
    for (const status of statuses)
      assert.match(
        said(await send(client, { url })),
        new RegExp(`^permanent CallbackRedirected: the receiver answers ${status}:`),
      );
    assert.equal(other.server.connections, 0);
    assert.equal(server.received.length, statuses.length);
  });

  test('createCallbackClient() asks nothing about a host outside the list [T-93]', async (t) => {
    const bench = new Bench(t);
    const { server, port } = await bench.serve();
    bench.names.set('bapi.test', [['127.0.0.1']]);
    for (const allowed of ['', 'other.test', 'http://bapi.test', `http://*.bapi.test:${port}`]) {
      const outcome = await send(bench.client({ allowed }), { url: `http://bapi.test:${port}` });
      assert.match(said(outcome), /^permanent HostNotAllowed: bapi\.test:\d+ is not among/);
    }
    assert.deepEqual([server.connections, bench.looked], [0, []]);
  });

  test('createCallbackClient() demands https of who has no entry for http (E-22)', async (t) => {
    const bench = new Bench(t);
    const { server, port } = await bench.serve();
    bench.names.set('bapi.test', [['127.0.0.1']]);
    const client = bench.client({ allowed: `bapi.test:${port}` });
    const outcome = await send(client, { url: `http://bapi.test:${port}` });
    assert.match(said(outcome), /^permanent HttpsRequired: /);
    assert.deepEqual([server.connections, bench.looked], [0, []]);
  });

  const urls: Record<string, RegExp> = {
    'https://ann:secret@bapi.test/': /contains a user$/,
    'https://ann@bapi.test/': /contains a user$/,
    'ftp://bapi.test/': /neither http nor https$/,
    'file:///etc/passwd': /neither http nor https$/,
    '/v1/stages': /neither http nor https$/,
    '': /neither http nor https$/,
  };
  for (const [url, want] of Object.entries(urls)) {
    test(`createCallbackClient() sends nothing by ${JSON.stringify(url)} (E-22)`, async (t) => {
      const bench = new Bench(t);
      const told = said(await send(bench.client({ allowed: 'bapi.test' }), { url }));
      assert.match(told, /^permanent InvalidCallbackUrl: /);
      assert.match(told, want);
      assert.doesNotMatch(told, /secret/);
      assert.deepEqual(bench.looked, []);
    });
  }

  interface AddressCase {
    readonly url: string;
    readonly allowed: string;
    readonly found?: readonly string[];
    readonly want: RegExp;
  }
  const bapi = { url: 'https://bapi.test/', allowed: 'bapi.test' };
  const addresses: Record<string, AddressCase> = {
    'the metadata of a cloud that the list itself has [T-92]': {
      url: 'http://169.254.169.254/',
      allowed: 'http://169.254.169.254',
      want: /169\.254\.169\.254, to which no callback goes \(link-local\)$/,
    },
    'a name that means the metadata of a cloud [T-92]': {
      ...bapi,
      found: ['169.254.169.254'],
      want: /bapi\.test has the address 169\.254\.169\.254,/,
    },
    'loopback by its number': {
      url: 'https://2130706433/',
      allowed: '127.0.0.1',
      want: /127\.0\.0\.1, .*\(loopback\)$/,
    },
    'loopback that is mapped, as the URL has it': {
      url: 'https://[::ffff:127.0.0.1]/',
      allowed: '[::ffff:127.0.0.1]',
      want: /::ffff:7f00:1, .*\(loopback\)$/,
    },
    'a name that means mapped loopback': {
      ...bapi,
      found: ['::ffff:127.0.0.1'],
      want: /\(loopback\)$/,
    },
    'a name that means loopback': { ...bapi, found: ['127.0.0.1'], want: /\(loopback\)$/ },
    'a name that means loopback, too': {
      ...bapi,
      found: ['10.0.0.1', '::1'],
      want: /::1, .*\(loopback\)$/,
    },
    'a name that means a link-local address': {
      ...bapi,
      found: ['fe80::1%eth0'],
      want: /\(link-local\)$/,
    },
    'a name that means no address of anybody': {
      ...bapi,
      found: ['0.0.0.0'],
      want: /\(unspecified\)$/,
    },
    'a name that means everybody': { ...bapi, found: ['ff02::1'], want: /\(multicast\)$/ },
  };
  for (const [fact, { url, allowed, found, want }] of Object.entries(addresses)) {
    test(`createCallbackClient() refuses ${fact} (E-21)`, async (t) => {
      const bench = new Bench(t);
      if (found !== undefined) bench.names.set('bapi.test', [[...found]]);
      const told = said(await send(bench.client({ allowed, permitsLoopback: false }), { url }));
      assert.match(told, /^permanent AddressNotAllowed: /);
      assert.match(told, want);
    });
  }

  test('createCallbackClient() looks a name up once, and goes where it led then [T-94]', async (t) => {
    const bench = new Bench(t);
    const { server, port } = await bench.serve({}, ['127.0.0.1']);
    const victim = await bench.serve({}, ['127.0.0.2', port]);
    bench.names.set('bapi.test', [['127.0.0.1'], ['127.0.0.2']]);
    const client = bench.client({ allowed: `http://bapi.test:${port}` });
    assert.match(said(await send(client, { url: `http://bapi.test:${port}/` })), /^delivered/);
    assert.deepEqual([server.connections, victim.server.connections], [1, 0]);
    assert.deepEqual(bench.looked, ['bapi.test']);
    assert.equal(server.received[0]?.headers.host, `bapi.test:${port}`);
  });

  test('createCallbackClient() looks the name up again for the next attempt, and checks it again [T-94]', async (t) => {
    const bench = new Bench(t);
    const { server, port } = await bench.serve();
    // Nobody has the first one: it is kept for documents (RFC 5737).
    bench.names.set('bapi.test', [['192.0.2.1'], ['127.0.0.1']]);
    const client = bench.client({ allowed: `http://bapi.test:${port}`, permitsLoopback: false });
    const url = `http://bapi.test:${port}/`;
    const first = send(client, { url });
    await bench.clock.yield();
    bench.clock.advance(seconds(10));
    assert.match(said(await first), /^temporary Receiver/);
    assert.match(said(await send(client, { url })), /^permanent AddressNotAllowed: /);
    assert.deepEqual([server.connections, bench.looked.length], [0, 2]);
  });

  test('createCallbackClient() tries the next address where one does not answer (E-21)', async (t) => {
    const bench = new Bench(t);
    const { port } = await bench.serve();
    bench.names.set('bapi.test', [['127.0.0.3', '127.0.0.1']]);
    const client = bench.client({ allowed: `http://bapi.test:${port}` });
    assert.match(said(await send(client, { url: `http://bapi.test:${port}` })), /^delivered/);
  });

  test('createCallbackClient() goes through no proxy of the environment (E-22)', async (t) => {
    const bench = new Bench(t);
    const proxy = await bench.serve();
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy'];
    for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
    t.after(() => {
      for (const name of names) delete process.env[name];
    });
    const { port } = await bench.serve();
    bench.names.set('bapi.test', [['127.0.0.1']]);
    const client = bench.client({ allowed: `http://bapi.test:${port}` });
    assert.match(said(await send(client, { url: `http://bapi.test:${port}` })), /^delivered/);
    assert.equal(proxy.server.connections, 0);
  });
});

describe('createCallbackClient() over TLS', () => {
  interface Case {
    readonly host: string;
    readonly settings?: Settings;
    readonly want: RegExp;
    readonly serverName?: string | undefined;
  }
  const cases: Record<string, Case> = {
    'believes a certificate with the name': {
      host: 'a.deploy.test',
      want: /^delivered/,
      serverName: 'a.deploy.test',
    },
    'believes a certificate with the name but for the dot at its end': {
      host: 'bapi.test.',
      want: /^delivered/,
      serverName: 'bapi.test',
    },
    'believes a certificate with the address': { host: '127.0.0.1', want: /^delivered/ },
    'believes no certificate with another name': {
      host: 'other.test',
      want: /^temporary ReceiverUnreachable: no answer of other\.test:\d+: .*altname/i,
    },
    'believes no authority but its own': {
      host: 'bapi.test',
      settings: { authorities: foreign.cert },
      want: /^temporary ReceiverUnreachable: no answer of bapi\.test:\d+: .*self.signed/i,
    },
  };
  for (const [fact, { host, settings, want, serverName }] of Object.entries(cases)) {
    test(`createCallbackClient() ${fact} (E-9, E-21)`, patience, async (t) => {
      const bench = new Bench(t);
      const { server, port } = await bench.serve({ identity });
      bench.names.set(host, [['127.0.0.1']]);
      const client = bench.client({ allowed: `${host}:${port}`, ...settings });
      assert.match(said(await send(client, { url: `https://${host}:${port}/x` })), want);
      assert.equal(server.received[0]?.serverName, serverName);
    });
  }
});

describe('createCallbackClient() in time', () => {
  test('createCallbackClient() gives up after 10 s, the lookup included (E-10)', async (t) => {
    const bench = new Bench(t);
    const lookup: LookupFunction = () => undefined;
    const client = bench.client({ allowed: 'bapi.test', lookup });
    const sent = send(client, { url: 'https://bapi.test' });
    bench.clock.advance(seconds(10));
    assert.equal(said(await sent), 'temporary ReceiverTimedOut: no answer within 10000 ms');
  });

  test('createCallbackClient() gives a server up that says nothing for 10 s, and not before (E-10)', async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    const open: ServerResponse[] = [];
    server.obstacles.push((response) => void open.push(response));
    const sent = send(client, { url });
    await server.came(1);
    bench.clock.advance(millis(9_999));
    assert.equal(bench.clock.pendingTimers > 0, true);
    bench.clock.advance(millis(1));
    assert.match(said(await sent), /^temporary ReceiverTimedOut/);
  });

  test('createCallbackClient() has delivered what is answered 200, though the text comes byte by byte for 10 s (E-7, E-10)', async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    let slow: ServerResponse | undefined;
    server.obstacles.push((response) => {
      slow = response.writeHead(200);
      slow.write('a');
    });
    const sent = send(client, { url });
    await server.came(1);
    for (let at = 0; at < 10; at += 1) {
      slow?.write('a');
      // What was written before is read when this is answered.
      await send(client, { url });
      bench.clock.advance(seconds(1));
    }
    slow?.end();
    assert.match(
      said(await sent),
      /^delivered CallbackDelivered: the receiver answers 200: "aa+"$/,
    );
  });

  test('createCallbackClient() gives a server up that agrees on no TLS (E-9)', {
    timeout: 5_000,
  }, async (t) => {
    const bench = new Bench(t);
    const silent = createServer();
    t.after(() => silent.close());
    const { promise: socket, resolve } = Promise.withResolvers<Socket>();
    silent.on('connection', resolve);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const client = bench.client({ allowed: `127.0.0.1:${port}` });
    const sent = send(client, { url: `https://127.0.0.1:${port}` });
    const ended = once((await socket).resume(), 'close');
    bench.clock.advance(seconds(10));
    assert.match(said(await sent), /^temporary ReceiverTimedOut/);
    // At once, also what is still connecting.
    await ended;
  });

  const broken: Record<string, (response: ServerResponse) => void> = {
    'breaks at once': (response) => void response.destroy(),
    'breaks amid an answer': (response) => {
      response.writeHead(200, { 'content-length': '500' });
      response.write('begin', () => response.destroy());
    },
  };
  for (const [fact, obstacle] of Object.entries(broken)) {
    test(`createCallbackClient() has not delivered where the connection ${fact} (E-9)`, async (t) => {
      const bench = new Bench(t);
      const { server, client, url } = await bench.plain();
      server.obstacles.push(obstacle);
      const told = said(await send(client, { url: `${url}/x?token=secret` }));
      assert.match(told, /^temporary ReceiverUnreachable: no answer of 127\.0\.0\.1:\d+: ./);
      assert.doesNotMatch(told, /secret/);
    });
  }

  test('createCallbackClient() says of what no client listens at (E-9)', async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    await server.close();
    assert.match(said(await send(client, { url })), /^temporary .*ECONNREFUSED/);
  });

  test('createCallbackClient() says of an unknown name (E-9)', async (t) => {
    const bench = new Bench(t);
    const client = bench.client({ allowed: 'bapi.test' });
    assert.equal(
      said(await send(client, { url: 'https://bapi.test' })),
      'temporary ReceiverUnreachable: no address of bapi.test: no such name: bapi.test',
    );
  });

  test('createCallbackClient() gives up when it is asked to, and once it is closed', async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    server.obstacles.push(
      () => undefined,
      () => undefined,
    );
    const ending = new AbortController();
    const given = send(client, { url }, ending.signal);
    const closed = send(client, { url });
    await server.came(2);
    ending.abort();
    assert.equal(said(await given), 'given-up');
    client.close();
    assert.equal(said(await closed), 'given-up');
    assert.equal(said(await send(client, { url })), 'given-up');
    assert.equal(server.received.length, 2);
  });

  for (const [status, want] of [
    [200, 'delivered CallbackDelivered: the receiver answers 200: "a"'],
    [404, 'permanent CallbackRefused: the receiver answers 404: "a"'],
    [503, 'temporary ReceiverUnavailable: the receiver answers 503: "a"'],
  ] as const) {
    test(`createCallbackClient() takes the status ${status} of an answer that it leaves as it is closed`, async (t) => {
      const bench = new Bench(t);
      const { server, client, url } = await bench.plain();
      const begun = Promise.withResolvers<void>();
      server.obstacles.push((response) => {
        response.writeHead(status).write('a', () => begun.resolve());
      });
      const sent = send(client, { url });
      await begun.promise;
      // What was written before is read when this is answered.
      await send(client, { url });
      client.close();
      assert.equal(said(await sent), want);
    });
  }

  test('createCallbackClient() leaves no timer and no connection behind', patience, async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    await send(client, { url });
    assert.equal(bench.clock.pendingTimers, 0);
    while (server.openConnections > 0) await bench.clock.yield();
  });
});

describe('createCallbackClient() reads', () => {
  test('createCallbackClient() keeps 200 characters of an answer, none cut in two (E-10)', async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    server.obstacles.push((response) => response.writeHead(400).end(`a${'🚀'.repeat(500)}`));
    const outcome = await send(client, { url });
    assert.equal(outcome.kind === 'answered' && outcome.excerpt, `a${'🚀'.repeat(199)}`);
  });

  test('createCallbackClient() reads no more of an answer than 64 KiB, and takes it (E-10)', async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    let written = 0;
    const most = 64 * 1_048_576;
    server.obstacles.push((response) => {
      const write = (): void => {
        if (response.destroyed || written >= most) return;
        written += 65_536;
        response.write(Buffer.alloc(65_536, 'x'), write);
      };
      response.writeHead(200);
      write();
    });
    const outcome = await send(client, { url });
    // A write to a connection that has ended reports success: later figures say nothing.
    const writtenByThen = written;
    assert.equal(outcome.kind === 'answered' && outcome.excerpt, 'x'.repeat(200));
    while (server.openConnections > 0) await bench.clock.yield();
    // What was on its way in the buffers of both ends was written, too.
    assert.ok(writtenByThen < most / 2, `${writtenByThen} bytes were written`);
  });

  test('createCallbackClient() reads an answer without a body (E-7)', async (t) => {
    const bench = new Bench(t);
    const { server, client, url } = await bench.plain();
    server.obstacles.push((response) => response.writeHead(204).end());
    assert.deepEqual(await send(client, { url }), { kind: 'answered', status: 204, excerpt: '' });
  });
});
