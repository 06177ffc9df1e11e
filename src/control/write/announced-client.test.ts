import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { monotonic, seconds } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';
import { statefulSetView } from '#support/objects/views.ts';
import { refusal } from '#support/rollouts/group-world.ts';
import { announcedClient } from './announced-client.ts';
import { announcedText, parseAnnounced } from './announced-request.ts';

const { pods, statefulSets, leases, phasedRollouts } = resourceTypes;
const namespace = 'demo';
const body = {};
const merge = { kind: 'merge', document: {} } as const;
const preconditions = { uid: 'pod-uid' };
const eviction = { deleteOptions: { preconditions } };

/** What a client sends, in order with what is announced. */
class Bench {
  readonly history: string[] = [];
  answer: () => Promise<never> = () => Promise.reject(refusal(404));
  readonly client: Client;

  constructor() {
    const send = async (): Promise<never> => {
      this.history.push('sent');
      return this.answer();
    };
    const sent = { get: send, list: send, watch: send, create: send, replace: send };
    this.client = announcedClient(
      { ...sent, patch: send, delete: send, raw: send },
      {
        election: {
          announce: async (request) => {
            this.history.push(`named ${request}`);
            return { end: (isOver) => void this.history.push(`over ${isOver ?? 'now'}`) };
          },
        },
        clock: { monotonic: () => monotonic(1_000) },
        horizon: seconds(120),
        sets: {
          get: (_, name) =>
            name === 'alone'
              ? undefined
              : statefulSetView({ name, labels: name === 'plain' ? {} : { 'rollout-group': 'g' } }),
        },
      },
    );
  }

  /** Returns what `request` came to, in order. */
  async told(request: (client: Client) => Promise<unknown>): Promise<readonly string[]> {
    await request(this.client).catch(() => undefined);
    return this.history;
  }
}

const key = (name: string): { readonly namespace: string; readonly name: string } => ({
  namespace,
  name,
});

describe('announcedClient() names', () => {
  type Case = readonly [(client: Client) => Promise<unknown>, string | undefined];
  const cases: Readonly<Record<string, Case>> = {
    'the deletion of a pod of a group': [
      (client) => client.delete(pods, key('db-0'), { preconditions }),
      'Pod/demo/db-0/pod-uid/g',
    ],
    'the deletion of a pod whose set is in no group': [
      (client) => client.delete(pods, key('plain-12'), { preconditions }),
      'Pod/demo/plain-12/pod-uid',
    ],
    'the deletion of a pod whose set is gone': [
      (client) => client.delete(pods, key('alone-0'), { preconditions }),
      'Pod/demo/alone-0/pod-uid',
    ],
    'an eviction': [
      (client) => client.create(pods, key('db-0'), { body: eviction, subresource: 'eviction' }),
      'Pod/demo/db-0/pod-uid/g',
    ],
    'a patch of a set': [
      (client) => client.patch(statefulSets, key('db'), { body: merge }),
      'StatefulSet/demo/db/g',
    ],
    'a patch of the scale of a set': [
      (client) => client.patch(statefulSets, key('plain'), { body: merge, subresource: 'scale' }),
      'StatefulSet/demo/plain',
    ],
    'a replacement of a set': [
      (client) => client.replace(statefulSets, key('db'), { body }),
      'StatefulSet/demo/db/g',
    ],
    'the deletion of a set': [
      (client) => client.delete(statefulSets, key('db'), { preconditions }),
      'StatefulSet/demo/db/g',
    ],
    'no dry run': [
      (client) => client.patch(statefulSets, key('db'), { body: merge, isDryRun: true }),
      undefined,
    ],
    'no status of a set': [
      (client) => client.replace(statefulSets, key('db'), { body, subresource: 'status' }),
      undefined,
    ],
    'no set that is made': [
      (client) => client.create(statefulSets, { namespace }, { body }),
      undefined,
    ],
    'no change of anything else': [
      (client) => client.patch(phasedRollouts, key('db'), { body: merge }),
      undefined,
    ],
    'no read': [(client) => client.get(leases, key('db')), undefined],
  };
  for (const [title, [request, text]] of Object.entries(cases)) {
    test(title, async () => {
      const told = await new Bench().told(request);
      const expected = text === undefined ? ['sent'] : [`named ${text}`, 'sent', 'over now'];
      assert.deepEqual(told, expected);
    });
  }

  test('a request without an answer until it cannot arrive any more', async () => {
    const bench = new Bench();
    bench.answer = () => Promise.reject(new TransportError('cut', 'connection'));
    assert.deepEqual(
      await bench.told((client) => client.delete(pods, key('db-0'), { preconditions })),
      ['named Pod/demo/db-0/pod-uid/g', 'sent', 'over 121000'],
    );
  });

  test('one that was not sent until now', async () => {
    const bench = new Bench();
    bench.answer = () => Promise.reject(new TransportError('kept here', 'not-sent'));
    assert.deepEqual(
      await bench.told((client) => client.delete(pods, key('db-0'), { preconditions })),
      ['named Pod/demo/db-0/pod-uid/g', 'sent', 'over now'],
    );
  });
});

describe('parseAnnounced()', () => {
  const pod = {
    kind: 'pod',
    namespace: 'demo',
    statefulSet: 'my-db',
    pod: 'my-db-10',
    uid: 'u',
  } as const;
  const set = { kind: 'set', namespace: 'demo', statefulSet: 'my-db' } as const;
  for (const request of [
    { ...pod, group: undefined },
    { ...pod, group: '' },
    { ...pod, group: 'g' },
    { ...set, group: undefined },
    { ...set, group: '' },
    { ...set, group: 'g' },
  ]) {
    test(`reads what was announced, such as ${announcedText(request)}`, () => {
      assert.deepEqual(parseAnnounced(announcedText(request)), request);
    });
  }

  for (const text of [
    '',
    'Pod',
    'Pod/demo/db-0',
    'Pod/demo/db-0/',
    'Pod/demo/db/uid',
    'Pod/demo/db-0/uid/g/more',
    'Pod//db-0/uid',
    'StatefulSet/demo',
    'StatefulSet/demo/db/g/more',
    'Node/demo/db',
  ]) {
    test(`does not guess what "${text}" is about`, () => {
      assert.equal(parseAnnounced(text), undefined);
    });
  }
});
