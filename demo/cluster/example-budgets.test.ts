import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes } from '#base/units.ts';
import { objectAt, textAt } from '#cluster/json/read-json.ts';
import { type BudgetSpec, selects } from '#disruption-budget/api.ts';
import { compilePattern } from '#disruption-budget/pattern/compile-pattern.ts';
import { parseBudget } from '#disruption-budget/spec/parse-budget.ts';
import { parseUntyped } from '#disruption-budget/spec/parse-untyped.ts';
import { budgetFolder, drainFolder, readManifests } from './apply-manifests.ts';
import { isGroupMember } from './manifest.ts';

/** The one budget of `folder`, as the webhook and the operator read it. */
async function specIn(folder: string): Promise<BudgetSpec> {
  const [manifest, ...others] = await readManifests(folder);
  assert.deepEqual(others, []);
  assert.equal(textAt(manifest, 'metadata', 'namespace'), 'demo');
  const read = parseUntyped(JSON.stringify(manifest));
  assert.equal(read.kind, 'object');
  const parsed = parseBudget(read.object, compilePattern);
  assert.ok(parsed.kind === 'valid', JSON.stringify(parsed));
  return parsed.spec;
}

/** The StatefulSets of the group that the budgets are for. */
async function sets(): Promise<readonly JsonObject[]> {
  return (await readManifests(drainFolder)).filter(isGroupMember);
}

function labelsAt(object: JsonObject, ...path: readonly string[]): Record<string, string> {
  const labels = objectAt(object, ...path);
  return Object.fromEntries(Object.keys(labels).map((key) => [key, textAt(labels, key)]));
}

describe('the budgets of examples/ingester-disruption-budget/', () => {
  const folders = {
    'zone mode': budgetFolder,
    'partition mode': join(drainFolder, 'partition-mode'),
  };

  for (const [mode, folder] of Object.entries(folders)) {
    test(`select the three StatefulSets and their pods, in ${mode}`, async () => {
      const spec = await specIn(folder);
      const members = await sets();
      assert.equal(members.length, 3);
      for (const set of members) {
        assert.ok(selects(spec, labelsAt(set, 'metadata', 'labels')));
        assert.ok(selects(spec, labelsAt(set, 'spec', 'template', 'metadata', 'labels')));
      }
    });
  }

  test('lets one pod of one zone be down, in zone mode', async () => {
    const { maxUnavailable, span } = await specIn(budgetFolder);
    assert.deepEqual([maxUnavailable, span], [{ kind: 'count', count: 1 }, { kind: 'zone' }]);
  });

  test('takes the number of a pod for its partition, and waits 20 minutes across zones, in partition mode', async () => {
    const { span } = await specIn(folders['partition mode']);
    assert.equal(span.kind, 'partition');
    assert.equal(span.crossZoneEvictionDelay, minutes(20));
    assert.deepEqual(span.partitionOf('ingester-zone-b-12'), { kind: 'partition', name: '12' });
  });

  test('leave no PodDisruptionBudget beside them, which would refuse what they have allowed', async () => {
    const manifests = await readManifests(drainFolder);
    assert.ok(manifests.every((manifest) => textAt(manifest, 'kind') !== 'PodDisruptionBudget'));
  });
});
