import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError } from '#kubernetes/transport/api-error.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { phasedRolloutDefinition } from './definition.ts';
import { formatStatus, parseStatus } from './status.ts';

const at = { namespace: 'default' };
const query = { expr: 'up', url: 'http://prometheus:9090' };

describe('phasedRolloutDefinition', () => {
  let cluster: EmbeddedCluster;
  let client: Client;

  before(async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 31));
    cluster = await createCluster({ clock, seed: 1 });
    const transport = cluster.transport({ user: 'user', client: 'user' });
    client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
    await client.create(
      resourceTypes.customResourceDefinitions,
      {},
      { body: phasedRolloutDefinition },
    );
    await clock.advance(100);
  });
  after(() => cluster.close());

  /** What the server says of an object with this `spec`: how it was stored, or the causes of its refusal. */
  async function stored(spec: JsonObject): Promise<JsonObject | string> {
    const body = { metadata: { generateName: 'pr-' }, spec };
    try {
      return await client.create(resourceTypes.phasedRollouts, at, { body });
    } catch (error) {
      if (error instanceof ApiError) return error.message;
      throw error;
    }
  }

  test('phasedRolloutDefinition admits what is complete, and puts no default in', async () => {
    const spec = { targetRef: 'web', check: { query } };
    const object = await stored(spec);
    assert.deepEqual(typeof object === 'object' && object['spec'], spec);
  });

  test('phasedRolloutDefinition admits an empty target, and what is asked without a pause', async () => {
    const check = { query, initialDelaySeconds: 0, periodSeconds: 0, successThreshold: 1 };
    assert.equal(typeof (await stored({ targetRef: '', check })), 'object');
  });

  test('phasedRolloutDefinition keeps the fields that the peer does not know', async () => {
    const spec = {
      targetRef: 'web',
      stepSize: 2,
      dryRun: true,
      check: {
        query: { ...query, thresholdRange: { min: 0.5, max: 2 }, onNoData: 'Pass' },
        additionalQueries: [
          { name: 'one', expr: 'up', thresholdRange: { max: 1 } },
          { name: 'two', expr: 'up', url: 'http://h', secretRef: 's', insecureSkipVerify: true },
        ],
        failureBudget: { consecutiveFailures: 1, totalFailures: 2, onFailure: 'Rollback' },
      },
    };
    const object = await stored(spec);
    assert.deepEqual(typeof object === 'object' && object['spec'], spec);
  });

  const refused: Record<string, { spec: JsonObject; field: RegExp }> = {
    'a negative delay [phased 3]': {
      spec: { targetRef: 'web', check: { query, initialDelaySeconds: -1 } },
      field: /spec\.check\.initialDelaySeconds/,
    },
    'a threshold of 0 [phased 3]': {
      spec: { targetRef: 'web', check: { query, successThreshold: 0 } },
      field: /spec\.check\.successThreshold/,
    },
    'a negative period': {
      spec: { targetRef: 'web', check: { query, periodSeconds: -1 } },
      field: /spec\.check\.periodSeconds/,
    },
    'a target that is an object': {
      spec: { targetRef: { name: 'web' }, check: { query } },
      field: /spec\.targetRef/,
    },
    'a missing target': { spec: { check: { query } }, field: /spec\.targetRef/ },
    'more additional queries than can be asked at once': {
      spec: {
        targetRef: 'web',
        check: {
          query,
          additionalQueries: Array.from({ length: 17 }, (_, at) => ({
            name: `q${at}`,
            expr: 'up',
          })),
        },
      },
      field: /spec\.check\.additionalQueries/,
    },
    'a failure budget of no failure': {
      spec: { targetRef: 'web', check: { query, failureBudget: { totalFailures: 0 } } },
      field: /spec\.check\.failureBudget\.totalFailures/,
    },
    'an empty expression': {
      spec: { targetRef: 'web', check: { query: { ...query, expr: '' } } },
      field: /spec\.check\.query\.expr/,
    },
    'an empty URL': {
      spec: { targetRef: 'web', check: { query: { ...query, url: '' } } },
      field: /spec\.check\.query\.url/,
    },
  };
  for (const [what, { spec, field }] of Object.entries(refused)) {
    test(`phasedRolloutDefinition refuses ${what}`, async () => {
      const answer = await stored(spec);
      assert.ok(typeof answer === 'string');
      assert.match(answer, field);
    });
  }

  test('phasedRolloutDefinition prunes nothing of what is kept in the status', async () => {
    const object = await stored({ targetRef: 'web', check: { query } });
    assert.ok(typeof object === 'object');
    const status = {
      phase: 'Rolling',
      updateRevision: 'web-B',
      rolloutStartTime: '2026-01-31T11:59:59Z',
      rolloutEndTime: '2026-01-31T12:59:59Z',
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Ready',
          message: '',
          observedGeneration: 1,
          lastTransitionTime: '2026-01-31T11:59:59Z',
        },
      ],
      rollingPodStatus: {
        status: 'PrometheusError',
        partition: 0,
        analisysStartTime: '2026-01-31T12:00:00Z',
        lastCheckTime: '2026-01-31T12:00:10Z',
        consecutiveSuccessfulChecks: 1,
        consecutiveFailedChecks: 0,
        totalFailedChecks: 3,
        checkedPartition: 4,
      },
    };
    const { name } = object['metadata'] as { readonly name: string };
    const written = await client.replace(
      resourceTypes.phasedRollouts,
      { ...at, name },
      { body: { ...object, status }, subresource: 'status' },
    );
    assert.deepEqual(written['status'], status);
    const { conditions: _, ...kept } = status;
    assert.deepEqual(formatStatus(parseStatus(written)), kept);
  });
});
