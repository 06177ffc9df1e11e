import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { objectAt, textAt } from '#cluster/json/read-json.ts';
import { parseZoneAwareUpdate } from '#zone-aware-update/api.ts';
import { parseZoneBudget } from '#zone-disruption-budget/spec/parse-zone-budget.ts';
import { selects } from '#zone-disruption-budget/spec/selector.ts';
import { readManifests } from './apply-manifests.ts';

const examples = join(import.meta.dirname, '../../examples');

async function only(folder: string, kind: string): Promise<JsonObject> {
  const found = (await readManifests(join(examples, folder))).filter(
    (each) => textAt(each, 'kind') === kind,
  );
  assert.equal(found.length, 1);
  return found[0] ?? {};
}

describe('the examples of the zone-aware controllers', () => {
  test('update a set that leaves the deletions to the operator, in steps that grow to 8', async () => {
    const set = await only('zone-aware-update', 'StatefulSet');
    const update = parseZoneAwareUpdate(await only('zone-aware-update', 'ZoneAwareUpdate'));
    assert.ok(update.kind === 'valid');
    const { statefulSet, maxUnavailable, exponentialFactor, alarm } = update.value;
    assert.equal(statefulSet, textAt(set, 'metadata', 'name'));
    assert.equal(textAt(set, 'spec', 'updateStrategy', 'type'), 'OnDelete');
    assert.deepEqual(maxUnavailable, { kind: 'valid', value: { kind: 'count', count: 8 } });
    assert.deepEqual(exponentialFactor, { kind: 'valid', value: 2 });
    assert.equal(alarm, undefined);
  });

  test('let one pod of one zone go, by a selector that selects the pods of the set', async () => {
    const set = await only('zone-disruption-budget', 'StatefulSet');
    const budget = parseZoneBudget(await only('zone-disruption-budget', 'ZoneDisruptionBudget'));
    assert.ok(budget.kind === 'valid');
    const { selector, limit, isDryRun } = budget.spec;
    assert.deepEqual([limit, isDryRun], [{ kind: 'count', count: 1 }, false]);
    const labels = objectAt(set, 'spec', 'template', 'metadata', 'labels');
    const texts = Object.keys(labels).map((key) => [key, textAt(labels, key)]);
    assert.ok(selects(selector, Object.fromEntries(texts) as Record<string, string>));
  });
});
