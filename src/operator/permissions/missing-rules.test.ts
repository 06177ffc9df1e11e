import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { parse } from 'yaml';
import { instant, seconds } from '#base/units.ts';
import type { Config } from '#config/config.ts';
import { readConfig } from '#config/read-config.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { type FakeAnswer, FakeTransport } from '#support/api-server/fake-transport.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { createLogger, unbuffered } from '#telemetry/log/line-logger.ts';
import { type MissingRules, missingRules, yamlLists } from './missing-rules.ts';
import { permissionsOf, type RoleRule } from './permissions.ts';

function configOf(...flags: readonly string[]): Config {
  const outcome = readConfig(['-kubernetes.namespace=demo', ...flags]);
  assert.ok(outcome.kind === 'run');
  return outcome.config;
}

interface Asked {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** What is missing where the API server answers each review as `permits` says; undefined: it cannot tell. */
async function missingWhere(
  permits: (asked: Asked) => boolean | undefined,
  config = configOf(),
): Promise<MissingRules> {
  const transport = new FakeTransport((request): FakeAnswer => {
    const { spec } = JSON.parse(request.body ?? '{}') as { spec: { resourceAttributes: Asked } };
    const allowed = permits(spec.resourceAttributes);
    return allowed === undefined ? { status: 500 } : { body: { status: { allowed } } };
  });
  const clock = new ManualClock();
  const client = createClient({ transport, clock, timeout: seconds(0), userAgent: 'test/1' });
  const permissions = permissionsOf(config, { hasBudgets: true });
  return missingRules(client, { config, permissions }, new AbortController().signal);
}

describe('missingRules()', () => {
  test('are none where all is permitted', async () => {
    assert.deepEqual(await missingWhere(() => true), { inNamespace: [], inCluster: [] });
  });

  test('have the verbs alone that are denied, in the namespace', async () => {
    const places = new Set<string | undefined>();
    const { inNamespace, inCluster } = await missingWhere(({ verb, resource, namespace }) => {
      places.add(namespace);
      return !(resource === 'events' || (resource === 'pods' && verb === 'delete'));
    });
    assert.deepEqual(inNamespace, [
      "[{apiGroups: [''], resources: [pods], verbs: [delete]}, {apiGroups: [''], resources: [events], verbs: [create, patch]}]",
    ]);
    assert.deepEqual(inCluster, []);
    assert.deepEqual([...places], ['demo']);
  });

  test('tell a subresource from its resource', async () => {
    const { inNamespace } = await missingWhere(({ subresource }) => subresource !== 'status');
    assert.deepEqual(inNamespace, [
      '[{apiGroups: [apps], resources: [statefulsets/status], verbs: [update]}, {apiGroups: [rollout-operator.grafana.com], resources: [replicatemplates/status], verbs: [patch]}]',
    ]);
  });

  test('name the objects that flags name', async () => {
    const config = configOf('-leader-election.resource-name=123');
    const { inNamespace } = await missingWhere(({ name }) => name !== '123', config);
    assert.deepEqual(inNamespace, [
      "[{apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: ['123'], verbs: [get, update]}]",
    ]);
  });

  test('are what a rule without names lacks, too', async () => {
    const permits = ({ resource, verb }: Asked): boolean =>
      resource !== 'leases' || ['get', 'create', 'update'].includes(verb);
    assert.deepEqual((await missingWhere(permits)).inNamespace, [
      '[{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [list]}]',
    ]);
  });

  test('say for themselves what a ClusterRole lacks', async () => {
    const asked: Asked[] = [];
    const { inNamespace, inCluster } = await missingWhere((access) => {
      asked.push(access);
      return access.group !== 'admissionregistration.k8s.io';
    }, configOf('-server-tls.enabled=true'));
    assert.deepEqual(inNamespace, []);
    assert.deepEqual(
      inCluster.flatMap((list) => parse(list) as unknown),
      [
        {
          apiGroups: ['admissionregistration.k8s.io'],
          resources: ['validatingwebhookconfigurations'],
          verbs: ['list', 'watch'],
        },
        {
          apiGroups: ['admissionregistration.k8s.io'],
          resources: ['validatingwebhookconfigurations'],
          resourceNames: ['no-downscale-demo', 'pod-eviction-demo', 'zpdb-validation-demo'],
          verbs: ['patch'],
        },
        {
          apiGroups: ['admissionregistration.k8s.io'],
          resources: ['mutatingwebhookconfigurations'],
          verbs: ['list', 'watch'],
        },
        {
          apiGroups: ['admissionregistration.k8s.io'],
          resources: ['mutatingwebhookconfigurations'],
          resourceNames: ['prepare-downscale-demo'],
          verbs: ['patch'],
        },
      ],
    );
    const ofCluster = asked.filter(({ group }) => group === 'admissionregistration.k8s.io');
    assert.ok(ofCluster.every(({ namespace }) => namespace === undefined));
  });

  test('are not reported where they are unknown', async () => {
    assert.deepEqual(await missingWhere(() => undefined), { inNamespace: [], inCluster: [] });
  });
});

const word = fc.stringMatching(/^[a-z][a-z0-9.]{0,20}[a-z0-9]$/);
const rule: fc.Arbitrary<RoleRule> = fc.record(
  {
    apiGroups: fc.constantFrom([''], ['apps'], ['coordination.k8s.io']),
    resources: fc.constantFrom(['pods'], ['statefulsets/status']),
    resourceNames: fc.array(
      fc.oneof(word, fc.constantFrom('123', 'true', 'no', '1e3', "o'clock")),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
    verbs: fc.subarray(['get', 'list', 'watch', 'delete'], { minLength: 1 }),
  },
  { requiredKeys: ['apiGroups', 'resources', 'verbs'], noNullPrototype: true },
);

describe('yamlLists()', () => {
  test('are YAML of the same rules, none of them lost, and no line is longer than a log shows', () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 30 }), (rules) => {
        const lists = yamlLists(rules);
        assert.deepEqual(
          lists.flatMap((list) => parse(list) as unknown),
          rules,
        );
        assert.ok(lists.every((list) => list.length <= 1_024));
      }),
    );
  });

  test('are one list where it fits', () => {
    const list = yamlLists([
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
    ]);
    assert.equal(list.length, 1);
  });

  for (const format of ['logfmt', 'json'] as const) {
    test(`stand in a line of ${format} as they are, to be pasted`, () => {
      const lines: string[] = [];
      const sink = unbuffered((line) => lines.push(line));
      const clock = { now: () => instant(0) };
      const log = createLogger({ format, level: 'info', clock, sink });
      fc.assert(
        fc.property(fc.array(rule, { minLength: 1, maxLength: 10 }), (rules) => {
          for (const list of yamlLists(rules)) {
            log.warn('the Role lacks rules', { rules: list });
            assert.ok(lines.at(-1)?.includes(`"${list}"`), `not in ${lines.at(-1)}`);
          }
        }),
      );
    });
  }
});
