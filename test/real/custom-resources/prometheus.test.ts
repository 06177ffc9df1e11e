/** The questions of checks, put to a real Prometheus over TLS: Debian's package, as the server that answers. */
import assert from 'node:assert/strict';
import { createServer, request, type Server } from 'node:https';
import { after, before, describe, test } from 'node:test';
import { parseCredentials } from '#check/credentials/parse-credentials.ts';
import { judgeReading } from '#check/prometheus/plan-reading.ts';
import {
  createPrometheus,
  type Prometheus,
  type PrometheusQuestion,
} from '#check/prometheus/prometheus.ts';
import { type KeyAndCertificate, selfSigned } from '#cluster/transport/self-signed.ts';
import { freePorts } from '#support/free-ports.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { Programs } from '../../real-cluster/control-plane/programs.ts';
import { NO_PROMETHEUS } from '../../real-cluster/skip-reasons.ts';
import { isPrometheusMissing, password, startPrometheus } from './real-prometheus.ts';

const token = 'token-of-a-test';

/** The value of an `Authorization` header, from a Secret as it is stored. */
function credentials(data: Readonly<Record<string, string>>): string {
  const encode = (value: string): string => Buffer.from(value).toString('base64');
  const encoded: Record<string, string> = {};
  for (const [key, value] of Object.entries(data)) encoded[key] = encode(value);
  const parsed = parseCredentials('a', { data: encoded });
  assert.ok(parsed.kind === 'valid' && parsed.value !== undefined);
  return parsed.value;
}

const ann = credentials({ username: 'ann', password });

describe('a real Prometheus', { skip: isPrometheusMissing ? NO_PROMETHEUS : false }, () => {
  const clock = systemClock();
  let programs: Programs;
  let prometheus: Prometheus;
  let identity: KeyAndCertificate;
  let url: string;
  let gate: Server;
  let gateUrl: string;

  before(async () => {
    programs = await Programs.create();
    identity = await selfSigned(clock.now());
    url = await startPrometheus(programs, identity);
    const [gatePort = 0] = await freePorts(1);
    gate = bearerGate(url, identity);
    await new Promise<void>((listening) => gate.listen(gatePort, '127.0.0.1', listening));
    gateUrl = `https://127.0.0.1:${gatePort}`;
    prometheus = createPrometheus({ clock, env: {}, permitsLoopback: true });
  });

  after(async () => {
    await prometheus?.close();
    gate?.close();
    await programs?.close();
  });

  /** What a question comes to: verdict, reason and message. */
  async function ask(question: Partial<PrometheusQuestion>): Promise<string> {
    const { signal } = new AbortController();
    const whole = { url, expr: 'vector(1)', authorization: ann, authorities: identity.cert };
    const candidate = await prometheus.read({ ...whole, ...question }, { signal });
    const { verdict, because } = judgeReading({ candidate }, {});
    return `${verdict} ${because.reason}: ${because.message}`;
  }

  const queries: Readonly<Record<string, readonly [expr: string, finding: RegExp]>> = {
    'passes for data': ['vector(1)', /^passes AsWanted: /],
    'passes for a value that is no number, as values are not looked at': [
      'vector(0) / 0',
      /^passes AsWanted: /,
    ],
    'passes for series over time': ['vector(1)[5m:1m]', /^passes AsWanted: .* 1 series$/],
    'passes for an expression of several lines': ['vector(1)\n  > 0', /^passes AsWanted: /],
    'fails for no data': ['vector(1) > 5', /^fails NoData: /],
    'does not know of a scalar': ['scalar(vector(1))', /^unknown WrongType: .*scalar/],
    'does not know of a string': ['"a"', /^unknown WrongType: .*string/],
    'does not know of what is no PromQL': ['up{', /^unknown Refused: .*it answers 400: .*bad_data/],
    'does not know of what only types forbid': ['rate(up)', /^unknown Refused: .*it answers 400/],
  };

  for (const [fact, [expr, finding]] of Object.entries(queries)) {
    test(fact, async () => {
      assert.match(await ask({ expr }), finding);
    });
  }

  test('answers whom the Secret names by user and password, and nobody else', async () => {
    assert.match(await ask({}), /^passes/);
    const wrong = credentials({ username: 'ann', password: 'wrong' });
    assert.match(await ask({ authorization: wrong }), /^unknown Refused: .*it answers 401/);
    const { signal } = new AbortController();
    const nobody = { url, expr: 'vector(1)', authorities: identity.cert };
    const reading = await prometheus.read(nobody, { signal });
    assert.ok(reading.kind === 'error' && reading.reason === 'Refused');
  });

  test('answers behind a gate that takes a token', async () => {
    const authorization = credentials({ token });
    assert.match(await ask({ url: `${gateUrl}/prom/`, authorization }), /^passes/);
    const other = credentials({ token: 'another' });
    assert.match(await ask({ url: gateUrl, authorization: other }), /^unknown Refused: .*401/);
  });

  test('is asked only where its certificate is vouched for, or nobody need vouch', async () => {
    const another = await selfSigned(clock.now());
    assert.match(await ask({ authorities: another.cert }), /^unknown Unreachable: .*certificate/);
    const { signal } = new AbortController();
    const question = { url, expr: 'vector(1)', authorization: ann };
    const insecure = await prometheus.read({ ...question, isInsecure: true }, { signal });
    assert.equal(insecure.kind, 'vector');
    const ofHost = await prometheus.read(question, { signal });
    assert.ok(ofHost.kind === 'error' && ofHost.reason === 'Unreachable');
  });
});

/** Lets those in who have the token, as gateways do: Prometheus itself knows no tokens. */
function bearerGate(url: string, { key, cert }: KeyAndCertificate): Server {
  return createServer({ key, cert }, (incoming, response) => {
    if (incoming.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end('who are you?');
      return;
    }
    const target = new URL((incoming.url ?? '').replace(/^\/prom/, ''), url);
    request(target, { ca: cert, headers: { authorization: ann } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    }).end();
  });
}
