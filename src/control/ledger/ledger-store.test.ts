/** Where the texts of a ledger are, by what a Role permits and who leads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { refusal } from '#support/rollouts/group-world.ts';
import { LedgerStore, type LedgerStoreOptions } from './ledger-store.ts';

const key = { namespace: 'ops', name: 'ledger' };
const options = { timeout: seconds(5) };
const stored: KubernetesObject = {
  metadata: { ...key, uid: 'u', resourceVersion: '7' },
  data: { reservations: 'one' },
};

/** An API server whose Role and answers a test changes. */
class Server {
  /** What getting the ConfigMap comes to. */
  get: KubernetesObject | number = 403;
  create: number | undefined = 403;
  /** What a review of our access says of ConfigMaps; undefined: it fails. */
  isAllowed: boolean | undefined = false;
  /** What it says of all else. */
  isKnown = true;
  term: string | undefined = 'one';
  readonly refused: string[] = [];
  readonly store: LedgerStore;

  constructor() {
    const client: LedgerStoreOptions['client'] = {
      get: () => this.#got(),
      create: () => Promise.reject(refusal(this.create ?? 409)),
      replace: () => Promise.reject(refusal(500)),
      raw: ({ body }) => this.#review(JSON.stringify(body)),
    };
    this.store = new LedgerStore({
      client,
      key,
      term: () => this.term,
      onRefused: ({ verb }) => this.refused.push(verb),
    });
  }

  #got(): Promise<KubernetesObject> {
    return typeof this.get === 'number'
      ? Promise.reject(refusal(this.get))
      : Promise.resolve(this.get);
  }

  #review(asked: string): Promise<JsonValue> {
    if (!asked.includes('"configmaps"')) {
      return Promise.resolve({ status: { allowed: this.isKnown } });
    }
    return this.isAllowed === undefined
      ? Promise.reject(refusal(500))
      : Promise.resolve({ status: { allowed: this.isAllowed } });
  }

  /** What is there: the texts, or the code of a refusal. */
  async seen(): Promise<string> {
    try {
      const { configMap, texts } = await this.store.read(options);
      return configMap === undefined ? 'nothing' : [...texts.values()].join();
    } catch (error) {
      return String((error as { readonly status?: number }).status);
    }
  }

  async write(text: string): Promise<void> {
    const texts = await this.store.read(options);
    await this.store.write(texts, new Map([['reservations', text]]), options);
  }
}

test('[found R-21] under a Role that permits no ConfigMap, the leader remembers what it writes, and says so once', async () => {
  const server = new Server();
  assert.equal(await server.seen(), 'nothing');
  await server.write('one');
  await server.write('two');
  assert.equal(await server.seen(), 'two');
  assert.deepEqual(server.refused, ['get']);
});

test('what is remembered ends with the term: who does not lead gets the refusal, and a later term begins with nothing', async () => {
  const server = new Server();
  await server.write('one');
  server.term = undefined;
  assert.equal(await server.seen(), '403');
  server.term = 'two';
  assert.equal(await server.seen(), 'nothing');
});

test('nothing is read from a ConfigMap again once this process remembers: it lacks what was given away meanwhile', async () => {
  const server = new Server();
  await server.write('two');
  server.get = stored;
  assert.equal(await server.seen(), 'two');
});

const refused: Record<string, (server: Server) => void> = {
  'a process that does not lead': (server) => {
    server.term = undefined;
  },
  'a Role that permits it, as the refusal has another cause': (server) => {
    server.isAllowed = true;
  },
  'a server that cannot say what the Role permits': (server) => {
    server.isAllowed = undefined;
  },
  'a server that has just started, and denies everything': (server) => {
    server.isKnown = false;
  },
  'an answer other than a refusal': (server) => {
    server.get = 500;
  },
};
for (const [who, change] of Object.entries(refused)) {
  test(`nothing is remembered by ${who}`, async () => {
    const server = new Server();
    change(server);
    assert.match(await server.seen(), /^(403|500)$/);
    assert.deepEqual(server.refused, []);
  });
}

test('nothing is remembered instead of a ConfigMap that was there: others may use what it says', async () => {
  const server = new Server();
  server.get = stored;
  assert.equal(await server.seen(), 'one');
  server.get = 403;
  assert.equal(await server.seen(), '403');
});

test('a ledger that may be read, and not made, is remembered from the next look on', async () => {
  const server = new Server();
  server.get = 404;
  await assert.rejects(server.write('one'), { status: 403 });
  await server.write('one');
  assert.equal(await server.seen(), 'one');
  assert.deepEqual(server.refused, ['create']);
});
