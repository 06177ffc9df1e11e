import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { deployFiles, programVersion } from './generate-deploy.ts';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'deploy');

describe('deployFiles()', () => {
  const files = deployFiles(programVersion(root));

  test('is what deploy/ holds; else run scripts/generate-deploy.ts', () => {
    const stored = Object.fromEntries(
      readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
    );
    assert.deepEqual(stored, files);
  });

  test('permits to delete pods, and nothing on Secrets, Leases or whole types with "*"', () => {
    const { rules } = parse(files['role.yaml'] ?? '') as {
      rules: { resources: string[]; verbs: string[] }[];
    };
    const pods = rules.find(({ resources }) => resources.includes('pods'));
    assert.deepEqual(pods?.verbs, ['delete', 'list', 'patch', 'watch']);
    const all = JSON.stringify(rules);
    assert.doesNotMatch(all, /secrets|leases|"\*"/);
  });

  test('binds the Role to the account that the Deployment runs as', () => {
    const deployment = parse(files['deployment.yaml'] ?? '') as {
      spec: { template: { spec: { serviceAccountName: string } } };
    };
    const binding = parse(files['role-binding.yaml'] ?? '') as { subjects: { name: string }[] };
    const account = deployment.spec.template.spec.serviceAccountName;
    assert.deepEqual(
      binding.subjects.map(({ name }) => name),
      [account],
    );
  });
});
