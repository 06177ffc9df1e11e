import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Parsed, problemText } from '#base/parsed.ts';
import { ServiceHealthReader, type ServiceInstance, usualPodKeys } from './parse-consul.ts';

/** Reads `text` in pieces of `size` bytes. */
function read(
  text: string,
  keys = usualPodKeys,
  size = 65_536,
): Parsed<readonly ServiceInstance[]> {
  const reader = new ServiceHealthReader(keys);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) {
    const problem = reader.take(bytes.subarray(at, at + size));
    if (problem !== undefined) return { kind: 'invalid', problem };
  }
  return reader.end();
}

function instancesIn(answer: unknown, keys = usualPodKeys): readonly ServiceInstance[] {
  const parsed = read(JSON.stringify(answer), keys);
  assert.ok(parsed.kind === 'valid', 'the answer can be read');
  return parsed.value;
}

function check(Status: unknown, CheckID = 'serfHealth'): unknown {
  return { Node: 'node-1', CheckID, Status, Output: 'much text' };
}

const entry = {
  Node: { Node: 'node-1', Address: '10.9.0.1', Meta: { region: 'a' } },
  Service: {
    ID: 'web-0-http',
    Service: 'web',
    Address: '10.1.0.7',
    Port: 80,
    Meta: { 'pod-name': 'web-0', 'k8s-namespace': 'shop', more: 'text' },
  },
  Checks: [check('passing'), check('passing', 'service:web-0-http')],
};

describe('ServiceHealthReader', () => {
  test('keeps what tells of which pod an instance is, and whether it passes', () => {
    assert.deepEqual(instancesIn([entry]), [
      {
        id: 'web-0-http',
        podName: 'web-0',
        namespace: 'shop',
        address: '10.1.0.7',
        nodeAddress: '10.9.0.1',
        isPassing: true,
      },
    ]);
  });

  test('finds no instance of a service that does not exist', () => {
    assert.deepEqual(instancesIn([]), []);
  });

  test('reads the pod under the configured keys', () => {
    const Meta = { pod: 'web-3', ns: 'other', 'pod-name': 'web-0' };
    const service = { ...entry, Service: { ...entry.Service, Meta } };
    const [found] = instancesIn([service], { podName: 'pod', namespace: 'ns' });
    assert.equal(found?.podName, 'web-3');
    assert.equal(found?.namespace, 'other');
  });

  const standings: Record<string, { checks: unknown; want: boolean }> = {
    'passes where all checks of node and service do': {
      checks: [check('passing'), check('passing', 'service:web')],
      want: true,
    },
    'passes without any check, as for Consul': { checks: [], want: true },
    'does not pass with a warning': { checks: [check('passing'), check('warning')], want: false },
    'does not pass with a critical check of the node': {
      checks: [check('critical'), check('passing', 'service:web')],
      want: false,
    },
    'does not pass in maintenance of the node': {
      checks: [check('critical', '_node_maintenance')],
      want: false,
    },
    'does not pass in maintenance of the service, whatever its status is': {
      checks: [check('passing', '_service_maintenance:web-0-http')],
      want: false,
    },
    'does not pass with an unknown status': { checks: [check('fine')], want: false },
    'does not pass with a check that is none': { checks: [check('passing'), 3], want: false },
    'does not pass with null in place of checks': { checks: null, want: false },
    'does not pass with text in place of checks': { checks: 'passing', want: false },
  };
  for (const [fact, { checks, want }] of Object.entries(standings)) {
    test(`${fact} (CONSUL-4)`, () => {
      assert.equal(instancesIn([{ ...entry, Checks: checks }])[0]?.isPassing, want);
    });
  }

  test('knows an instance of which nothing can be read, which passes nothing', () => {
    const unreadable = {
      id: '',
      podName: undefined,
      namespace: undefined,
      address: '',
      nodeAddress: '',
      isPassing: false,
    };
    assert.deepEqual(instancesIn([{}, { Node: 1, Service: [], Checks: {} }]), [
      unreadable,
      unreadable,
    ]);
  });

  const broken: Record<string, string> = {
    'no JSON': '<html>',
    'JSON that ends too early': '[{"Node":{',
    nothing: '',
    null: 'null',
    'an object': '{"Errors":[]}',
    'a list of numbers': '[1]',
    'a list of lists': '[[]]',
    'a list without its end': '[{}',
    'a list with more behind it': '[{}] []',
    'two objects without a comma': '[{}{}]',
    'a comma without an object': '[{},]',
    'an object that is none': '[{"Service":]}]',
    'a bracket that another one closes': '[{]}]',
    'a list with null': '[{},null]',
    'more brackets than anybody can read': '['.repeat(2_000_000),
  };
  for (const [what, text] of Object.entries(broken)) {
    test(`refuses ${what} (CONSUL-22)`, () => {
      assert.equal(read(text).kind, 'invalid');
    });
  }

  test('reads the same, however the answer is cut', () => {
    const tricky = { ...entry, Output: '\\" ] } \u00e9 [ { \\', more: [[{}], []] };
    const text = JSON.stringify([entry, tricky, { ...entry, Checks: [] }], null, 2);
    const whole = read(text);
    assert.ok(whole.kind === 'valid' && whole.value.length === 3);
    for (const size of [1, 2, 3, 7]) assert.deepEqual(read(text, usualPodKeys, size), whole);
  });

  const bounds: Record<string, { text: string; want: string | number }> = {
    'reads 10000 instances': { text: `[${'{},'.repeat(9_999)}{}]`, want: 10_000 },
    'refuses one more as it begins, whatever comes behind': {
      text: `[${'{},'.repeat(10_000)}{`,
      want: 'the answer must have at most 10000 instances',
    },
    'reads an instance of 128 KiB': { text: `[{"a":"${'x'.repeat(131_064)}"}]`, want: 1 },
    'refuses a longer one before its end': {
      text: `[{},{"a":["${'[{'.repeat(65_536)}`,
      want: 'instance 2 must have at most 131072 bytes',
    },
  };
  for (const [fact, { text, want }] of Object.entries(bounds)) {
    test(`${fact} (CONSUL-22)`, () => {
      const parsed = read(text);
      const seen = parsed.kind === 'valid' ? parsed.value.length : problemText(parsed.problem);
      assert.equal(seen, want);
    });
  }

  test('takes names of JavaScript for what they are', () => {
    const text =
      '[{"Service":{"ID":"web-0","Meta":{"__proto__":{"pod-name":"web-9"},"constructor":"x"}},"Checks":[]}]';
    const parsed = read(text);
    assert.ok(parsed.kind === 'valid');
    assert.equal(parsed.value[0]?.podName, undefined);
  });

  test('reads 1000 instances in less than 200 ms (CONSUL-22)', () => {
    const Output = 'HTTP GET http://10.1.0.7:80/health: 200 OK '.repeat(20);
    const checks = Array.from({ length: 4 }, (_, at) => ({
      Status: 'passing',
      CheckID: `service:${at}`,
      Output,
    }));
    const text = JSON.stringify(
      Array.from({ length: 1_000 }, () => ({ ...entry, Checks: checks })),
    );
    const begun = process.cpuUsage();
    const parsed = read(text);
    const { user, system } = process.cpuUsage(begun);
    // Of the processor: others may have it meanwhile.
    const took = (user + system) / 1_000;
    assert.ok(parsed.kind === 'valid' && parsed.value.length === 1_000);
    assert.ok(took < 200, `${took} ms`);
  });
});
