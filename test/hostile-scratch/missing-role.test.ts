/** The program with every shipped Role but that of budgets: is anybody told? */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import type { PolicyRule } from '#embedded-cluster/authorizer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { deployFiles, programVersion } from '../../scripts/generate-deploy.ts';
import { builtImage } from '../../scripts/install/deployment.ts';
import { WebhookStage } from '../integration/webhook-stage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const namespace = 'test';
const files = deployFiles(builtImage(programVersion(root)), namespace);
const user = { name: 'rollout-operator', groups: ['system:authenticated'] };

const documentsOf = (file: string): readonly JsonObject[] =>
  parseAllDocuments(files[file] ?? assert.fail(`there is no ${file}`)).map(
    (document) => document.toJS() as JsonObject,
  );
const rulesOf = (...roles: readonly string[]): readonly PolicyRule[] =>
  roles
    .flatMap(documentsOf)
    .filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
    .flatMap(({ rules }) => rules as unknown as readonly PolicyRule[]);

test('without budget-role.yaml the log at the start names the rules that budgets lack', async () => {
  const stage = await WebhookStage.open(user);
  for (const body of documentsOf('webhook-objects.yaml')) {
    const type = body['kind'] === 'Secret' ? resourceTypes.secrets : resourceTypes.configMaps;
    await stage.admin.create(type, { namespace }, { body });
  }
  stage.cluster.authorizer.restrict([
    {
      user: user.name,
      namespace,
      rules: rulesOf('role.yaml', 'webhook-role.yaml', 'webhook-certificate-role.yaml'),
    },
    { user: user.name, rules: rulesOf('webhook-certificate-cluster-role.yaml') },
  ]);
  await stage.installBudgets();
  const { process, plain } = await stage.operator();
  await stage.admin.create(
    resourceTypes.zoneAwarePodDisruptionBudgets,
    { namespace },
    {
      body: {
        apiVersion: 'rollout-operator.grafana.com/v1',
        kind: 'ZoneAwarePodDisruptionBudget',
        metadata: { name: 'ingester' },
        spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'ingester' } } },
      },
    },
  );
  await new Promise((resolve) => setTimeout(resolve, 15_000));
  const told = process.lines.filter((line) => /configmaps/i.test(line));
  console.log(process.lines.filter((l) => /level=warn|missing|rule|forbid/i.test(l)).map((l) => l.slice(0, 400)).join('\n'));
  const metrics = await (await fetch(`${plain}/metrics`)).text();
  console.log(metrics.split('\n').filter((l) => /permission|refused|budget/.test(l) && !l.startsWith('#')).join('\n'));
  await stage.close();
  assert.ok(told.some((line) => /verbs/.test(line) && /create/.test(line)), 'nobody is told');
});
