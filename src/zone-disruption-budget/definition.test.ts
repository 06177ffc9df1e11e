import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError } from '#kubernetes/transport/api-error.ts';
import { arrayAt, objectsIn } from '#statefulset/parse-fields.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { zoneDisruptionBudgetDefinition } from './definition.ts';

describe('zoneDisruptionBudgetDefinition', () => {
  let cluster: EmbeddedCluster;
  let client: Client;

  before(async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 31));
    cluster = await createCluster({ clock, seed: 1 });
    const transport = cluster.transport({ user: 'user', client: 'user' });
    client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
    const body = zoneDisruptionBudgetDefinition;
    await client.create(resourceTypes.customResourceDefinitions, {}, { body });
    await clock.advance(100);
  });
  after(() => cluster.close());

  async function stored(spec: JsonObject): Promise<unknown> {
    const body = { metadata: { generateName: 'zdb-' }, spec };
    try {
      const at = { namespace: 'default' };
      return (await client.create(resourceTypes.zoneDisruptionBudgets, at, { body }))['spec'];
    } catch (error) {
      if (error instanceof ApiError) return error.status;
      throw error;
    }
  }

  const accepted: Record<string, JsonObject> = {
    'the sample of the peer': {
      selector: { matchLabels: { name: 'ingester' } },
      maxUnavailable: '10%',
      dryRun: false,
    },
    'a number of pods': { maxUnavailable: 2 },
    'a number beyond 32 bits': { maxUnavailable: 2_147_483_648 },
    'an expression': {
      selector: { matchExpressions: [{ key: 'name', operator: 'In', values: ['ingester'] }] },
    },
    'nothing at all': {},
  };
  for (const [fact, spec] of Object.entries(accepted)) {
    test(`zoneDisruptionBudgetDefinition takes ${fact}, and puts no default in`, async () => {
      assert.deepEqual(await stored(spec), spec);
    });
  }

  const refused: Record<string, JsonObject> = {
    'a limit that is neither an integer nor a text': { maxUnavailable: 1.5 },
    'an expression without an operator': { selector: { matchExpressions: [{ key: 'name' }] } },
    'a dry run that is no boolean': { dryRun: 'yes' },
  };
  for (const [fact, spec] of Object.entries(refused)) {
    test(`zoneDisruptionBudgetDefinition refuses ${fact}`, async () => {
      assert.equal(await stored(spec), 422);
    });
  }

  test('zoneDisruptionBudgetDefinition has the names of the peer, and a status of its own', () => {
    const { metadata, spec = {} } = zoneDisruptionBudgetDefinition;
    assert.deepEqual(metadata, { name: 'zonedisruptionbudgets.zonecontrol.k8s.aws' });
    assert.ok(isJsonObject(spec));
    assert.deepEqual(spec['names'], {
      kind: 'ZoneDisruptionBudget',
      listKind: 'ZoneDisruptionBudgetList',
      plural: 'zonedisruptionbudgets',
      singular: 'zonedisruptionbudget',
      shortNames: ['zdb'],
    });
    assert.equal(spec['scope'], 'Namespaced');
    const [version] = objectsIn(arrayAt(spec, 'versions'));
    assert.deepEqual(version?.['subresources'], { status: {} });
  });
});
