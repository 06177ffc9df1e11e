import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { passingInAll, passingPods, type RegisteredPod } from './consul-match.ts';
import type { ServiceInstance } from './parse-consul.ts';

const host = '10.9.0.1';

function pod(name: string, ip = `10.1.0.${name.slice(name.lastIndexOf('-') + 1)}`): RegisteredPod {
  return { namespace: 'shop', name, uid: `uid of ${name}`, address: { pod: ip, host } };
}

function instance(changes: Partial<ServiceInstance>): ServiceInstance {
  return {
    id: 'some-id',
    podName: undefined,
    namespace: undefined,
    address: '',
    nodeAddress: '',
    isPassing: true,
    ...changes,
  };
}

const usual = [pod('web-1'), pod('web-2'), pod('web-10')];

interface Case {
  readonly given: readonly Partial<ServiceInstance>[];
  readonly pods?: readonly RegisteredPod[];
  readonly want: readonly string[];
}

const cases: Record<string, Case> = {
  'matches by the name in the meta data': { given: [{ podName: 'web-1' }], want: ['web-1'] },
  'matches by that name in the same namespace': {
    given: [{ podName: 'web-1', namespace: 'shop' }],
    want: ['web-1'],
  },
  'matches nothing by that name in another namespace': {
    given: [{ podName: 'web-1', namespace: 'other', id: 'web-1', address: '10.1.0.1' }],
    want: [],
  },
  'matches nothing by its id where it names a pod of somebody else': {
    given: [{ podName: 'web-1-0', id: 'web-1-0-http' }],
    want: [],
  },
  'matches by an id that is the name': { given: [{ id: 'web-1' }], want: ['web-1'] },
  'matches by an id that begins with the name [T-81]': {
    given: [{ id: 'web-1-http' }],
    want: ['web-1'],
  },
  'takes web-10 for no web-1 [T-81]': { given: [{ id: 'web-10-http' }], want: ['web-10'] },
  'takes an id that goes on without a dash for no pod': {
    given: [{ id: 'web-1http' }, { id: 'web-100' }, { id: 'a-web-1' }],
    want: [],
  },
  'believes the longest name that an id begins with [T-81]': {
    given: [{ id: 'db-1-2-http' }],
    pods: [pod('db-1'), pod('db-1-2')],
    want: ['db-1-2'],
  },
  'matches by a long id that begins with the name': {
    given: [{ id: `web-1-${'http-'.repeat(100)}` }],
    want: ['web-1'],
  },
  'takes an id of countless dashes for no pod, at once': {
    given: [{ id: '-'.repeat(2_000_000) }],
    want: [],
  },
  'matches nothing by an id in another namespace': {
    given: [{ id: 'web-1-http', namespace: 'other' }],
    want: [],
  },
  'matches by the address of the service': { given: [{ address: '10.1.0.2' }], want: ['web-2'] },
  'matches by the address of its node where the service has none': {
    given: [{ nodeAddress: '10.1.0.2' }],
    want: ['web-2'],
  },
  'matches no pod by the address of its node where the service has one': {
    given: [{ address: '10.7.7.7', nodeAddress: '10.1.0.2' }],
    want: [],
  },
  'matches nothing by an address that two pods have': {
    given: [{ address: '10.1.0.2' }],
    pods: [pod('web-1', '10.1.0.2'), pod('web-2', '10.1.0.2')],
    want: [],
  },
  'matches nothing by the address of a node': {
    given: [{ address: host }],
    pods: [pod('web-1', host)],
    want: [],
  },
  'matches nothing by no address': {
    given: [{}],
    pods: [{ namespace: 'shop', name: 'web-1', uid: 'uid of web-1' }],
    want: [],
  },
  'takes the registration of a former pod for none of the new one [T-86]': {
    given: [{ podName: 'web-1', address: '10.1.0.200' }],
    want: [],
  },
  'takes one with the former address for none by its id either [T-86]': {
    given: [{ id: 'web-1-http', address: '10.1.0.200' }],
    want: [],
  },
  'takes one for none whose former address is now of another pod [T-86]': {
    given: [{ id: 'web-1-http', address: '10.1.0.2' }],
    want: [],
  },
  'believes a new registration beside a former one': {
    given: [
      { podName: 'web-1', address: '10.1.0.200', isPassing: false },
      { podName: 'web-1', address: '10.1.0.1' },
    ],
    want: ['web-1'],
  },
  'believes no address of a pod that has none yet': {
    given: [{ podName: 'web-1', address: '10.1.0.1' }],
    pods: [{ namespace: 'shop', name: 'web-1', uid: 'uid of web-1' }],
    want: [],
  },
  'takes a service without an address for the one of the machine that the pod is on': {
    given: [{ podName: 'web-1', nodeAddress: host }],
    want: ['web-1'],
  },
  'takes a service without an address for none that is on another machine': {
    given: [{ podName: 'web-1', nodeAddress: '10.9.0.2' }],
    want: [],
  },
  'passes nothing that does not pass': {
    given: [{ podName: 'web-1', isPassing: false }, { podName: 'web-2' }],
    want: ['web-2'],
  },
  'passes no pod of which one instance does not pass': {
    given: [
      { podName: 'web-1', id: 'a' },
      { podName: 'web-1', id: 'b', isPassing: false },
      { podName: 'web-1', id: 'c' },
    ],
    want: [],
  },
  'leaves out what is of no pod (CONSUL-7)': {
    given: [{ id: 'other-1' }, { address: '10.8.8.8' }, { podName: 'gone-0' }],
    want: [],
  },
};

describe('passingPods()', () => {
  for (const [fact, { given, pods = usual, want }] of Object.entries(cases)) {
    test(fact, () => {
      const found = passingPods(given.map(instance), pods);
      assert.deepEqual(
        [...found],
        want.map((name) => `uid of ${name}`),
      );
    });
  }
});

describe('passingInAll()', () => {
  test('passes a pod that passes in every service [T-80]', () => {
    const [one, other] = [[instance({ podName: 'web-1' })], [instance({ podName: 'web-1' })]];
    assert.deepEqual([...passingInAll([one, other], usual)], ['uid of web-1']);
  });

  test('passes no pod that passes in one of two [T-80]', () => {
    const one = [instance({ podName: 'web-1' }), instance({ podName: 'web-2' })];
    const other = [instance({ podName: 'web-2' })];
    assert.deepEqual([...passingInAll([one, other], usual)], ['uid of web-2']);
  });

  test('passes none in a service without instances', () => {
    assert.deepEqual([...passingInAll([[instance({ podName: 'web-1' })], []], usual)], []);
  });
});
