/** The reference deploy API as it is served, over TLS, on the embedded cluster; nobody carries the rollouts out. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isJsonObject, type JsonObject, jsonIn } from '#base/json.ts';
import { instant, millis, seconds } from '#base/units.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import { numberAt, textAt } from '#cluster/json/read-json.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import { bedrockCommand } from '#command/bedrock.ts';
import { deployLabel } from '#command/bedrock-api/deploy-record.ts';
import type { Client } from '#kubernetes/client.ts';
import { openTransport } from '#kubernetes/connect/connection.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { parseAllowedHosts } from '#kubernetes/outgoing/allowed-hosts.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { ByteTransport } from '#kubernetes/transport/http-transport.ts';
import { tlsOf } from '#kubernetes/transport/server-trust.ts';
import { createCallbackClient } from '#notification/callback/callback-client.ts';
import { arrayAt, objectAt as fieldsAt, objectsIn } from '#statefulset/parse-fields.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import { nothingToDrive } from '#support/external-services/drive-ports.ts';
import { freePort } from '#support/free-ports.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { callbackHeaders, callbackOf } from './bedrock-api-stage.ts';
import { bedrockFile } from './bedrock-stage.ts';

const signingKey = 'signing key';
const key = { namespace: 'demo', name: 'kv-dev' };
const clock = systemClock();

interface Reply {
  readonly status: number;
  readonly body: JsonObject;
}

describe('bedrock api', () => {
  let cluster: EmbeddedCluster;
  let client: Client;
  let folder: string;
  let cert: string;
  let port: number;
  let transport: ByteTransport;
  let serving: Serving;

  interface Serving {
    stop(): Promise<void>;
  }

  async function serve(): Promise<Serving> {
    const stop = new AbortController();
    const file = (name: string): string => join(folder, name);
    const args = ['api', '--listen', `127.0.0.1:${port}`, '--tls-cert', file('cert')];
    const secrets = ['--token-file', file('token'), '--signing-key-file', file('key')];
    const where = ['--namespaces', 'demo,other'];
    let said = '';
    const ended = bedrockCommand([...args, '--tls-key', file('tls-key'), ...secrets, ...where], {
      ...nothingToDrive(),
      clock,
      readInput: () => Promise.reject(new Error('nothing is read')),
      writeFiles: () => Promise.reject(new Error('nothing is written')),
      randomIdentity: () => `identity-${Math.random().toString(36).slice(2)}`,
      out: () => undefined,
      err: (text) => void (said += text),
      openCluster: () =>
        Promise.resolve({ client, namespace: 'demo', close: () => Promise.resolve() }),
      interruption: () => ({ signal: stop.signal, release: () => undefined }),
    });
    let isUp = false;
    while (!isUp) {
      isUp = await transport.request({ method: 'GET', path: '/ready' }).then(
        ({ status }) => status === 200,
        () => false,
      );
      if (!isUp) await clock.sleep(millis(20));
    }
    return {
      stop: async () => {
        stop.abort();
        assert.deepEqual([await ended, said], [0, '']);
      },
    };
  }

  before(async () => {
    cluster = await createCluster({ clock, seed: 1 });
    const inside = cluster.transport();
    client = createClient({ clock, timeout: millis(0), userAgent: 'test', transport: inside });
    await client.create(resourceTypes.namespaces, {}, { body: { metadata: { name: 'demo' } } });
    const body = statefulsetRolloutDefinition;
    await client.create(resourceTypes.customResourceDefinitions, {}, { body });
    await clock.sleep(millis(100));
    folder = await mkdtemp(join(tmpdir(), 'bedrock-api-'));
    const identity = await selfSigned(clock.now());
    ({ cert } = identity);
    await writeFile(join(folder, 'cert'), cert);
    await writeFile(join(folder, 'tls-key'), identity.key, { mode: 0o600 });
    await writeFile(join(folder, 'token'), 'token\n', { mode: 0o600 });
    await writeFile(join(folder, 'key'), `${signingKey}\n`, { mode: 0o600 });
    port = await freePort();
    const server = new URL(`https://127.0.0.1:${port}`);
    transport = openTransport({ server, tls: tlsOf({ authorities: cert }) }, { clock, env: {} });
    serving = await serve();
  });

  after(async () => {
    await transport.close();
    await serving.stop();
    await cluster.close();
    await rm(folder, { recursive: true });
  });

  async function ask(
    method: 'GET' | 'POST',
    path: string,
    more: { readonly body?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Reply> {
    const { body, headers = { authorization: 'Bearer token' } } = more;
    const timeout = seconds(10);
    const request = { method, path, headers, timeout, ...(body !== undefined && { body }) };
    const answer = await transport.request(request);
    const read = jsonIn(Buffer.from(answer.body).toString());
    return { status: answer.status, body: isJsonObject(read) ? read : {} };
  }

  const wanted = {
    bedrockYaml: bedrockFile,
    service: 'kv',
    stage: 'dev',
    images: { kv: 'kv:1' },
    allowTags: true,
    autoAdvance: true,
  };

  /** Begins a deploy in the place of the one that runs. */
  async function begin(more: JsonObject = {}): Promise<string> {
    const present = await client
      .list(resourceTypes.statefulsetRollouts, { namespace: 'demo' })
      .then(({ items }) => textAt(items[0], 'metadata', 'labels', deployLabel));
    const replaces = present === '' ? {} : { replaces: present };
    const body = JSON.stringify({ ...wanted, ...replaces, ...more });
    const made = await ask('POST', '/v1/deploys', { body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return textAt(made.body, 'id');
  }

  function stored(): Promise<KubernetesObject> {
    return client.get(resourceTypes.statefulsetRollouts, key);
  }

  async function percent(): Promise<number | undefined> {
    return numberAt(await stored(), 'spec', 'percent');
  }

  async function statesOf(id: string): Promise<readonly unknown[]> {
    const { body } = await ask('GET', `/v1/deploys/${id}`);
    return objectsIn(arrayAt(body, 'phases')).map(({ state }) => state);
  }

  /** Posts a callback about what is stored, signed by `by` at the time `at`. */
  async function post(
    made: ReturnType<typeof callbackOf>,
    { by = signingKey, at = clock.now(), idempotency = made.key } = {},
  ): Promise<Reply> {
    const headers = callbackHeaders(by, { body: made.body, key: idempotency }, at);
    return ask('POST', `/v1/stages/${made.stageId}/callback`, { body: made.body, headers });
  }

  const refusals: Record<
    string,
    {
      readonly path: string;
      readonly status: number;
      readonly body?: string;
      readonly headers?: Record<string, string>;
      readonly method?: 'GET' | 'POST';
    }
  > = {
    'who bears no token': { path: '/v1/deploys', status: 401, headers: {} },
    'who bears another token': {
      path: '/v1/deploys',
      status: 401,
      headers: { authorization: 'Bearer tokem' },
    },
    'what is no JSON': { path: '/v1/deploys', status: 400, body: '{' },
    'an unknown member': {
      path: '/v1/deploys',
      status: 400,
      body: JSON.stringify({ ...wanted, kubeconfig: 'x' }),
    },
    'a file that is wrong': {
      path: '/v1/deploys',
      status: 422,
      body: JSON.stringify({ ...wanted, bedrockYaml: 'services: 1' }),
    },
    'images without a digest': {
      path: '/v1/deploys',
      status: 422,
      body: JSON.stringify({ ...wanted, allowTags: false }),
    },
    'a user in the address of the source': {
      path: '/v1/deploys',
      status: 400,
      body: JSON.stringify({ ...wanted, git: { origin: 'https://a:b@c.example' } }),
    },
    'a password behind a blank in the address of the source [found X-7]': {
      path: '/v1/deploys',
      status: 400,
      body: JSON.stringify({ ...wanted, git: { origin: ' https://a:b@c.example' } }),
    },
    'another namespace than it was told [found X-7]': {
      path: '/v1/deploys',
      status: 403,
      body: JSON.stringify({
        ...wanted,
        bedrockYaml: bedrockFile.replaceAll('namespace: demo', 'namespace: kube-system'),
      }),
    },
    'a callback whose time is far off, before it reads its body [found X-6]': {
      path: '/v1/stages/s/callback',
      status: 401,
      headers: { 'x-bedrock-timestamp': '1', 'x-bedrock-signature': `v1=${'0'.repeat(64)}` },
    },
    'a body that is too long': {
      path: '/v1/deploys',
      status: 413,
      body: ' '.repeat(2_621_441),
    },
    'a callback that is too long': {
      path: '/v1/stages/s/callback',
      status: 413,
      body: ' '.repeat(65_537),
      headers: {},
    },
    'a callback that is not signed': {
      path: '/v1/stages/s/callback',
      status: 401,
      body: '{}',
      headers: {},
    },
    'a deploy that is not there': {
      path: `/v1/deploys/${'a'.repeat(20)}`,
      status: 404,
      method: 'GET',
    },
    'a method that is not meant': { path: '/v1/deploys', status: 405, method: 'GET' },
    'a path that is not there': { path: '/v1/other', status: 404 },
  };

  for (const [fact, { path, status, body, headers, method = 'POST' }] of Object.entries(refusals)) {
    test(`refuses ${fact}`, async () => {
      const more = {
        ...(body !== undefined && { body }),
        ...(headers !== undefined && { headers }),
      };
      const reply = await ask(method, path, more);
      assert.equal(reply.status, status);
      assert.notEqual(textAt(reply.body, 'error'), '');
      const { items } = await client.list(resourceTypes.statefulsetRollouts, { namespace: 'demo' });
      assert.deepEqual(items, []);
    });
  }

  test('makes the budget and the rollout of the first phase, under an address and a stage id of its own', async () => {
    const id = await begin();
    const object = await stored();
    assert.equal(textAt(object, 'spec', 'bapi', 'bapiUrl'), `https://127.0.0.1:${port}`);
    assert.match(textAt(object, 'spec', 'bapi', 'stageId'), new RegExp(`^${id}\\.[a-z0-9]{20}$`));
    assert.equal(await percent(), 1);
    await client.get(resourceTypes.podDisruptionBudgets, key);
    assert.deepEqual(await statesOf(id), ['running', 'waiting', 'waiting']);
  });

  test('takes no callback that is forged, stale, of another body or about something else', async () => {
    await begin();
    const made = callbackOf(await stored(), 'success', clock.now());
    const late = instant(clock.now() - seconds(301));
    const early = instant(clock.now() + seconds(310));
    const other = {
      ...made,
      body: made.body.replace('"percentRequested":1', '"percentRequested":2'),
    };
    const headers = callbackHeaders(signingKey, made, clock.now());
    const swapped = await ask('POST', `/v1/stages/${made.stageId}/callback`, {
      body: other.body,
      headers,
    });
    const elsewhere = { ...made, stageId: `${made.stageId.slice(0, 21)}${'a'.repeat(20)}` };
    const replies = [
      await post(made, { by: 'another key' }),
      await post(made, { at: late }),
      await post(made, { at: early }),
      swapped,
      await post(other),
      await post(elsewhere),
      await post(made, { idempotency: 'short' }),
    ];
    assert.deepEqual(
      replies.map(({ status }) => status),
      [401, 401, 401, 401, 422, 400, 400],
    );
    assert.equal(await percent(), 1);
  });

  test('goes on once for a callback that comes twice, also under another key', async () => {
    const id = await begin();
    const made = callbackOf(await stored(), 'success', clock.now());
    assert.deepEqual((await post(made)).body, { state: 'taken', advancedTo: 50 });
    assert.deepEqual((await post(made)).body, { state: 'already known' });
    const again = await post(made, { idempotency: 'f'.repeat(64) });
    assert.deepEqual(again.body, { state: 'already known' });
    assert.equal(await percent(), 50);
    assert.deepEqual(await statesOf(id), ['success', 'running', 'waiting']);
  });

  test('goes on once for ten of the same callback at a time', async () => {
    await begin();
    const made = callbackOf(await stored(), 'success', clock.now());
    const replies = await Promise.all(Array.from({ length: 10 }, () => post(made)));
    const states = replies.map(({ body }) => textAt(body, 'state'));
    assert.deepEqual(states.toSorted(), [...Array<string>(9).fill('already known'), 'taken']);
    assert.equal(await percent(), 50);
  });

  test('goes on after a restart where it was, takes the callbacks of the operator itself, and ends at the last phase', async () => {
    const id = await begin();
    const hosts = parseAllowedHosts([`127.0.0.1:${port}`], '-callback-allowed-hosts');
    assert.ok(hosts.kind === 'valid');
    const sender = createCallbackClient({
      clock,
      logger: silentLogger,
      hosts: hosts.value,
      version: '1',
      authorities: cert,
      permitsLoopback: true,
    });
    const stages = new Set<string>();
    for (const _ of [1, 50, 100]) {
      await serving.stop();
      serving = await serve();
      const object = await stored();
      const { stageId, body, key: idempotency } = callbackOf(object, 'success', clock.now());
      stages.add(stageId);
      const url = `${textAt(object, 'spec', 'bapi', 'bapiUrl')}/v1/stages/${stageId}/callback`;
      const outcome = await sender.send(
        { url, body, idempotencyKey: idempotency, signingKey },
        new AbortController().signal,
      );
      assert.equal(outcome.kind === 'answered' && outcome.status, 200, JSON.stringify(outcome));
    }
    sender.close();
    assert.equal(stages.size, 3);
    assert.deepEqual(await statesOf(id), ['success', 'success', 'success']);
    assert.equal((await ask('POST', `/v1/deploys/${id}/advance`)).status, 409);
  });

  test('waits for advance where it does not go on by itself, and advances only what has succeeded', async () => {
    const id = await begin({ autoAdvance: false });
    assert.equal((await ask('POST', `/v1/deploys/${id}/advance`)).status, 409);
    const made = callbackOf(await stored(), 'success', clock.now());
    assert.deepEqual((await post(made)).body, { state: 'taken' });
    assert.equal(await percent(), 1);
    assert.equal((await ask('POST', `/v1/deploys/${id}/advance`)).status, 200);
    assert.equal(await percent(), 50);
  });

  test('stops at a failure; retry begins the phase anew under a fresh stage id, and the old one is heard no more', async () => {
    const id = await begin();
    const first = await stored();
    const made = callbackOf(first, 'failure', clock.now());
    await post(made);
    assert.deepEqual(await statesOf(id), ['failure', 'waiting', 'waiting']);
    assert.equal((await ask('POST', `/v1/deploys/${id}/advance`)).status, 409);
    assert.equal((await ask('POST', `/v1/deploys/${id}/retry`)).status, 200);
    const second = await stored();
    const [one, other] = [first, second].map((each) => fieldsAt(each, 'spec'));
    assert.notDeepEqual(other?.['rolloutIdentity'], one?.['rolloutIdentity']);
    assert.notDeepEqual(other?.['bapi'], one?.['bapi']);
    assert.deepEqual(await statesOf(id), ['running', 'waiting', 'waiting']);
    const late = callbackOf(first, 'success', instant(clock.now() + 1_000));
    assert.equal((await post(late)).status, 404);
    assert.equal(await percent(), 1);
  });

  test('pauses and resumes', async () => {
    const id = await begin();
    const paused = await ask('POST', `/v1/deploys/${id}/pause`);
    assert.equal(paused.body['pauseRequested'], true);
    const resumed = await ask('POST', `/v1/deploys/${id}/resume`);
    assert.equal(resumed.body['pauseRequested'], false);
  });

  test('refuses a deploy of a name whose deploy runs, and takes its place where it is named [found X-7]', async () => {
    const first = await begin();
    const body = JSON.stringify({ ...wanted, images: { kv: 'kv:2' } });
    const refused = await ask('POST', '/v1/deploys', { body });
    assert.equal(refused.status, 409);
    const why = `Deploy "${first}" of "demo/kv-dev" runs: wait until it has ended, or name it as "replaces"`;
    assert.equal(textAt(refused.body, 'error'), why);
    assert.equal((await ask('GET', `/v1/deploys/${first}`)).status, 200);
    const wrong = JSON.stringify({ ...wanted, replaces: 'another' });
    assert.equal((await ask('POST', '/v1/deploys', { body: wrong })).status, 409);
    const second = await begin({ images: { kv: 'kv:2' } });
    assert.equal((await ask('GET', `/v1/deploys/${second}`)).status, 200);
  });

  test('of twelve deploys of one name at once makes one, and it can be found afterwards [found X-7]', async () => {
    const present = await begin();
    const body = JSON.stringify({ ...wanted, replaces: present });
    // Each of them has looked before the first is written.
    const heal = cluster.faults.add({
      match: { resource: 'poddisruptionbudgets' },
      action: { kind: 'delay', delay: millis(200) },
    });
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => ask('POST', '/v1/deploys', { body })),
    );
    heal();
    const made = replies.filter(({ status }) => status === 201);
    assert.deepEqual([made.length, replies.filter(({ status }) => status === 409).length], [1, 11]);
    const id = textAt(made[0]?.body, 'id');
    assert.equal((await ask('GET', `/v1/deploys/${id}`)).status, 200);
  });

  test('is open to others while forty strangers hold callbacks open, for 2 s at most [found X-6]', async () => {
    const strangers = Array.from({ length: 40 }, () => stranger());
    const early = await Promise.race(strangers.map(({ status }) => status));
    assert.equal(early, 429);
    assert.equal((await ask('GET', `/v1/deploys/${'a'.repeat(20)}`)).status, 404);
    const ends = await Promise.all(strangers.map(({ status }) => status));
    assert.deepEqual(
      [429, 408].map((status) => ends.filter((each) => each === status).length),
      [24, 16],
    );
    const made = callbackOf(await stored(), 'success', clock.now());
    assert.equal(
      (await post({ ...made, stageId: `${'a'.repeat(20)}.${'b'.repeat(20)}` })).status,
      400,
    );
  });

  /** Begins a callback whose headers could be those of the operator, and whose body never comes. */
  function stranger(): { readonly status: Promise<number> } {
    const { promise: status, resolve, reject } = Promise.withResolvers<number>();
    const headers = {
      ...callbackHeaders('another key', { body: '{}', key: '0'.repeat(64) }, clock.now()),
      'content-length': '2',
    };
    const path = `/v1/stages/${'a'.repeat(20)}.${'b'.repeat(20)}/callback`;
    const options = {
      host: '127.0.0.1',
      port,
      path,
      method: 'POST',
      headers,
      ca: cert,
      agent: false,
    };
    const sent = httpsRequest(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
      sent.destroy();
    });
    sent.on('error', reject);
    sent.flushHeaders();
    return { status };
  }

  test('knows a deploy no more once another has taken its place', async () => {
    const id = await begin();
    const made = callbackOf(await stored(), 'success', clock.now());
    await begin({ images: { kv: 'kv:2' } });
    assert.equal((await ask('GET', `/v1/deploys/${id}`)).status, 404);
    assert.equal((await post(made)).status, 404);
    assert.equal(await percent(), 1);
  });
});
