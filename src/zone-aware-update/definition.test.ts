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
import { parseZoneAwareUpdate } from './api.ts';
import { zoneAwareUpdateDefinition } from './definition.ts';
import { formatUpdateStatus, parseUpdateStatus } from './status.ts';

const at = { namespace: 'default' };

describe('zoneAwareUpdateDefinition', () => {
  let cluster: EmbeddedCluster;
  let client: Client;

  before(async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 31));
    cluster = await createCluster({ clock, seed: 1 });
    const transport = cluster.transport({ user: 'user', client: 'user' });
    client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
    const body = zoneAwareUpdateDefinition;
    await client.create(resourceTypes.customResourceDefinitions, {}, { body });
    await clock.advance(100);
  });
  after(() => cluster.close());

  async function stored(spec: JsonObject): Promise<JsonObject | string> {
    const body = { metadata: { generateName: 'zau-' }, spec };
    try {
      return await client.create(resourceTypes.zoneAwareUpdates, at, { body });
    } catch (error) {
      if (error instanceof ApiError) return error.message;
      throw error;
    }
  }

  test('zoneAwareUpdateDefinition takes the sample of the peer, and puts the factor in', async () => {
    const spec = {
      statefulset: 'ingester',
      maxUnavailable: 2,
      pauseRolloutAlarm: 'PauseDeployment.Ingesters',
      ignoreAlarm: false,
    };
    const object = await stored(spec);
    assert.ok(typeof object === 'object');
    assert.deepEqual(object['spec'], { ...spec, exponentialFactor: '2.0' });
    assert.deepEqual(parseZoneAwareUpdate(object), {
      kind: 'valid',
      value: {
        statefulSet: 'ingester',
        maxUnavailable: { kind: 'valid', value: { kind: 'count', count: 2 } },
        exponentialFactor: { kind: 'valid', value: 2 },
        alarm: 'PauseDeployment.Ingesters',
        query: undefined,
        isDryRun: false,
      },
    });
  });

  test('[zau 32] zoneAwareUpdateDefinition refuses a factor that is no text', async () => {
    const answer = await stored({ statefulset: 'web', exponentialFactor: 0 });
    assert.ok(typeof answer === 'string');
    assert.match(answer, /spec\.exponentialFactor/);
  });

  test('zoneAwareUpdateDefinition keeps an empty factor, and prunes nothing of the status', async () => {
    const object = await stored({ exponentialFactor: '', maxUnavailable: '10%', dryRun: true });
    assert.ok(typeof object === 'object');
    const read = parseZoneAwareUpdate(object);
    assert.ok(read.kind === 'valid' && read.value.exponentialFactor.kind === 'invalid');
    const status = {
      currentRevision: 'web-A',
      updateRevision: 'web-B',
      oldReplicas: { a: 3, b: 0 },
      updateStep: 2,
      deletedReplicas: 1,
      pausedRollout: true,
    };
    const { name } = object['metadata'] as { readonly name: string };
    const written = await client.replace(
      resourceTypes.zoneAwareUpdates,
      { ...at, name },
      { body: { ...object, status }, subresource: 'status' },
    );
    assert.deepEqual(written['status'], status);
    assert.deepEqual(formatUpdateStatus(parseUpdateStatus(written)), status);
  });
});

describe('parseZoneAwareUpdate()', () => {
  const cases: Record<string, { spec: JsonObject; want: string }> = {
    'refuses a name that is no text': {
      spec: { statefulset: 5 },
      want: 'spec.statefulset must be a text: got 5',
    },
    'refuses a flag that is a text': {
      spec: { dryRun: 'true' },
      want: 'spec.dryRun must be true or false: got "true"',
    },
  };
  for (const [fact, { spec, want }] of Object.entries(cases)) {
    test(`parseZoneAwareUpdate() ${fact}`, () => {
      const parsed = parseZoneAwareUpdate({ spec });
      assert.ok(parsed.kind === 'invalid');
      assert.equal(`${parsed.problem.path} ${parsed.problem.message}`, want);
    });
  }

  test('[zau 26] parseZoneAwareUpdate() reads no alarm where it is to be ignored', () => {
    const parsed = parseZoneAwareUpdate({ spec: { pauseRolloutAlarm: 'a', ignoreAlarm: true } });
    assert.ok(parsed.kind === 'valid');
    assert.equal(parsed.value.alarm, undefined);
  });
});
