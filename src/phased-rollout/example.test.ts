import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { parsePhasedRollout } from './api.ts';
import { admissionProblems } from './spec/validate.ts';

function objectsOf(name: string): readonly JsonObject[] {
  const file = new URL(`../../examples/phased-rollout/${name}`, import.meta.url);
  return parseAllDocuments(readFileSync(file, 'utf8')).map((each) => each.toJS() as JsonObject);
}

test('examples/phased-rollout/rollback.yaml is admitted, and says what its comments do', () => {
  const [rollout = {}] = objectsOf('rollback.yaml');
  assert.deepEqual(admissionProblems(rollout), []);
  const parsed = parsePhasedRollout(rollout);
  assert.ok(parsed.kind === 'valid');
  const { stepSize, failureBudget, additionalQueries = [], query, isDryRun } = parsed.value;
  assert.equal(stepSize, 4);
  assert.deepEqual(failureBudget, { consecutiveFailures: 2, onFailure: 'Rollback' });
  assert.equal(query.isNoDataGood, true);
  assert.deepEqual(
    additionalQueries.map(({ name, url }) => [name, url]),
    [['latency', query.url]],
  );
  assert.equal(isDryRun, undefined);
});

test('examples/phased-rollout/ is admitted, and says what its comments do', () => {
  const objects = objectsOf('zone-a.yaml');
  const rollout = objects.find(({ kind }) => kind === 'PhasedRollout') ?? {};
  assert.deepEqual(admissionProblems(rollout), []);
  const parsed = parsePhasedRollout(rollout);
  assert.ok(parsed.kind === 'valid');
  const { targetRef, initialDelay, period, successThreshold, query } = parsed.value;
  assert.equal(initialDelay, seconds(120));
  assert.equal(period, seconds(30));
  assert.equal(successThreshold, 3);
  assert.equal(query.secretRef, 'prometheus-reader');
  const set = objects.find(({ kind }) => kind === 'StatefulSet');
  const { metadata, spec } = set as {
    metadata: { name: string };
    spec: { replicas: number; updateStrategy: object };
  };
  assert.equal(metadata.name, targetRef);
  assert.equal(spec.replicas, 3);
  assert.deepEqual(spec.updateStrategy, { type: 'RollingUpdate' });
});
