/** Hostile: what the Role of the zone-aware controllers grants that nothing shipped with it asks for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import type { PolicyRule } from '#embedded-cluster/authorizer.ts';
import { programVersion, zoneAwareFiles } from '../../scripts/generate-deploy.ts';
import { builtImage } from '../../scripts/install/deployment.ts';

test('the Role permits to watch only kinds of webhook configurations that are shipped', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const files = zoneAwareFiles(builtImage(programVersion(root)));
  const objects = Object.values(files).flatMap((text) =>
    parseAllDocuments(text).map((document) => document.toJS() as JsonObject),
  );
  const watched = objects
    .filter(({ kind }) => kind === 'ClusterRole')
    .flatMap(({ rules }) => rules as unknown as readonly PolicyRule[])
    .flatMap(({ resources }) => resources)
    .filter((each) => each.endsWith('webhookconfigurations'));
  const shipped = objects.map(({ kind }) => `${String(kind).toLowerCase()}s`);
  assert.deepEqual(
    [...new Set(watched)].filter((each) => !shipped.includes(each)),
    [],
  );
});
