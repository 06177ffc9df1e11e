/** Manifests in pages and in examples/ are taken by a server that refuses what it does not know. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { discoverTypes } from '#cluster/controllers/discover-types.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { install } from '#demo/cluster/apply-manifests.ts';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { millis } from '../../src/base/units.ts';
import { zoneAwarePodDisruptionBudgetDefinition } from '../../src/disruption-budget/api.ts';
import { createClient } from '../../src/kubernetes/http-client.ts';
import { apiVersionOf, type ResourceType } from '../../src/kubernetes/resource-type.ts';
import { phasedRolloutDefinition } from '../../src/phased-rollout/definition.ts';
import { replicaTemplateDefinition } from '../../src/replica-coordination/replica-template.ts';
import { statefulsetRolloutDefinition } from '../../src/statefulset-rollout/definition.ts';
import { systemClock } from '../../src/telemetry/system-clock.ts';
import { zoneAwareUpdateDefinition } from '../../src/zone-aware-update/definition.ts';
import { zoneDisruptionBudgetDefinition } from '../../src/zone-disruption-budget/definition.ts';
import { codeOf, pagesOf } from './pages.ts';

const root = join(import.meta.dirname, '../..');
const definitions = [
  phasedRolloutDefinition,
  replicaTemplateDefinition,
  statefulsetRolloutDefinition,
  zoneAwarePodDisruptionBudgetDefinition,
  zoneAwareUpdateDefinition,
  zoneDisruptionBudgetDefinition,
];

interface Manifest {
  readonly where: string;
  readonly object: JsonObject;
}

function manifestsIn(text: string, where: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`${where}: ${error.message}`);
    const object: unknown = document.toJS();
    return isJsonObject(object) ? [{ where, object }] : [];
  });
}

/** What a cluster is given; what kustomize reads, and fragments of manifests, are none. */
function isForCluster({ object }: Manifest): boolean {
  const apiVersion = textAt(object, 'apiVersion');
  return apiVersion !== '' && !apiVersion.startsWith('kustomize.') && 'kind' in object;
}

const blocks = pagesOf(root)
  .flatMap(codeOf)
  .filter(({ language }) => language === 'yaml')
  .flatMap(({ text, path, line }) => manifestsIn(text, `${path}:${line}`));
const examples = globSync('examples/**/*.yaml', { cwd: root })
  .toSorted()
  .flatMap((path) => manifestsIn(readFileSync(join(root, path), 'utf8'), path));

describe('a manifest', () => {
  let cluster: EmbeddedCluster;
  let served: readonly ResourceType[];

  before(async () => {
    const clock = systemClock();
    cluster = await createCluster({ clock, seed: 1 });
    const transport = cluster.transport();
    const client = createClient({ clock, timeout: millis(0), userAgent: 'test', transport });
    await install(client, definitions, clock);
    served = (await discoverTypes(client)).map(({ type }) => type);
  });

  after(() => cluster.close());

  /** Why the server refuses `object`, in a namespace that is made where it is missing; undefined where it does not. */
  async function refusal(object: JsonObject): Promise<string | undefined> {
    const [kind, apiVersion] = [textAt(object, 'kind'), textAt(object, 'apiVersion')];
    const type = served.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
    if (type === undefined) return `no matches for kind "${kind}" in version "${apiVersion}"`;
    const namespace = textAt(object, 'metadata', 'namespace') || 'default';
    const api = type.group === '' ? '/api/v1' : `/apis/${apiVersion}`;
    const place = type.isNamespaced ? `/namespaces/${namespace}` : '';
    const post = async (
      path: string,
      body: JsonObject,
    ): Promise<{ status: number; text: string }> => {
      const headers = { 'content-type': 'application/json' };
      const request = { method: 'POST', path, headers, body: JSON.stringify(body) } as const;
      const answer = await cluster.transport().request(request);
      return { status: answer.status, text: Buffer.from(answer.body).toString() };
    };
    if (type.isNamespaced) await post('/api/v1/namespaces', { metadata: { name: namespace } });
    const path = `${api}${place}/${type.plural}?fieldValidation=Strict&dryRun=All`;
    const { status, text } = await post(path, object);
    return status === 201 || status === 409 ? undefined : text;
  }

  async function refused(manifests: readonly Manifest[]): Promise<readonly string[]> {
    const found: string[] = [];
    for (const { where, object } of manifests) {
      const why = await refusal(object);
      if (why !== undefined) found.push(`${where}: ${textAt(object, 'kind')}: ${why}`);
    }
    return found;
  }

  test('in a page is taken', async () => {
    const whole = blocks.filter(isForCluster);
    assert.ok(whole.length >= 4 && blocks.length >= 12, `${whole.length} of ${blocks.length}`);
    assert.deepEqual(await refused(whole), []);
  });

  test('in examples/ is taken', async () => {
    const whole = examples.filter(isForCluster);
    assert.ok(whole.length > 50, `${whole.length}`);
    assert.deepEqual(await refused(whole), []);
  });

  test('with an unknown field, or of a kind that is not there, is not', async () => {
    const [first] = blocks.filter(isForCluster);
    assert.ok(first);
    const { object } = first;
    const odd = [
      { ...object, sepc: {} },
      { ...object, kind: 'StatefullSet' },
    ];
    const found = await refused(odd.map((each) => ({ where: 'here', object: each })));
    assert.match(found[0] ?? '', /unknown field \\"sepc\\"/);
    assert.match(found[1] ?? '', /no matches for kind "StatefullSet"/);
  });
});
