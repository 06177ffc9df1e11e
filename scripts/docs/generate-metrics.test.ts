import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createProcessRegistry } from '../../src/telemetry/metrics/process-metrics.ts';
import { peerMetrics } from '../../test/mixin/documented-metrics.ts';
import {
  declaringFiles,
  sharedMetrics,
  statefulsetRolloutMetrics,
  zoneMetrics,
} from './declared-metrics.ts';
import { metricsPage } from './generate-metrics.ts';
import { metricNotes, processMetrics, standardMetrics } from './metric-notes.ts';

const root = join(import.meta.dirname, '../..');

test('docs/metrics.md is what scripts/docs/generate-metrics.ts writes', () => {
  assert.equal(readFileSync(join(root, 'docs/metrics.md'), 'utf8'), metricsPage());
});

test('declaringFiles are all files of src/ in which metrics are declared', () => {
  const declaring = globSync('src/**/*.ts', { cwd: root })
    .filter((path) => !path.endsWith('.test.ts'))
    .filter((path) =>
      /registry\.(?:counter|gauge|histogram)\(|\bbounded(?:Counter|Histogram)\(\s*registry/.test(
        readFileSync(join(root, path), 'utf8'),
      ),
    );
  assert.deepEqual(declaring.toSorted(), declaringFiles);
});

test('metricNotes and standardMetrics name only metrics that are declared', () => {
  const names = new Set(
    [...sharedMetrics(), ...zoneMetrics(), ...statefulsetRolloutMetrics(), ...processMetrics].map(
      ({ name }) => name,
    ),
  );
  const told = [...Object.keys(metricNotes), ...standardMetrics, ...Object.keys(peerMetrics)];
  assert.deepEqual(
    told.filter((name) => !names.has(name)),
    [],
  );
});

test('processMetrics has what the process shows of itself', async () => {
  const text = await createProcessRegistry().expose();
  const shown = [...text.matchAll(/^# TYPE (\S+) (\S+)/gm)].map(
    ([, name, type]) => `${name} ${type}`,
  );
  const known = new Set(processMetrics.map(({ name, type }) => `${name} ${type}`));
  assert.ok(shown.length > 5);
  assert.deepEqual(
    shown.filter((each) => !known.has(each)),
    [],
  );
});
