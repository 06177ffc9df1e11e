import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { programVersion } from './generate-deploy.ts';
import { besideThem, installFiles, storedFiles } from './generate-install.ts';
import { valuesOfPeer } from './install/values-of-peer.ts';

const root = join(import.meta.dirname, '..');
const deploy = join(root, 'deploy');
const files = installFiles(programVersion(root));
const chart = 'chart/rollout-operator';

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
}

const schema = JSON.parse(files[`${chart}/values.schema.json`] ?? '') as Schema;
const values = parse(files[`${chart}/values.yaml`] ?? '') as object;

/** The part of the schema for the value at `path`. */
function schemaAt(path: string): Schema | undefined {
  const steps = path.split('.');
  return steps.reduce<Schema | undefined>((found, step) => found?.properties?.[step], schema);
}

/** The paths of all values that are no objects, or are objects that users fill. */
function leavesOf(object: object, prefix = ''): readonly string[] {
  return Object.entries(object).flatMap(([key, value]: [string, unknown]) => {
    const path = `${prefix}${key}`;
    const isInner = schemaAt(path)?.properties !== undefined;
    return isInner && typeof value === 'object' && value !== null
      ? leavesOf(value, `${path}.`)
      : [path];
  });
}

describe('installFiles()', () => {
  test('are what deploy/chart and deploy/kustomize hold; else npm run do chart', () => {
    const generated = storedFiles(deploy).filter((file) => !besideThem.includes(file));
    const stored = Object.fromEntries(
      generated.map((file) => [file, readFileSync(join(deploy, file), 'utf8')]),
    );
    assert.deepEqual(stored, files);
  });

  test('stand beside the files that are written by hand, all of which are there', () => {
    const stored = storedFiles(deploy);
    assert.deepEqual(
      besideThem.filter((file) => !stored.includes(file)),
      [],
    );
  });

  test('have the placeholder of a namespace in quotes, which kustomize keeps around 123', () => {
    const texts = Object.entries(files)
      .filter(([file]) => file.startsWith('kustomize/components/webhooks/'))
      .map(([, text]) => text)
      .join('\n');
    assert.equal([...texts.matchAll(/namespace: "NAMESPACE"$/gm)].length, 9);
    assert.doesNotMatch(texts, /: NAMESPACE$/m);
  });

  test('have a schema for each default value of the chart', () => {
    const paths = leavesOf(values);
    assert.ok(paths.length > 50, `${paths.length}`);
    assert.deepEqual(
      paths.filter((path) => schemaAt(path) === undefined),
      [],
    );
  });

  test('have a schema that refuses, at each level, values that the chart does not know', () => {
    const levels = [
      '',
      'disruptionBudgets',
      'image',
      'phasedRollouts',
      'serviceAccount',
      'serviceMonitor',
      'statefulsetRollouts',
      'webhooks',
      'zoneTracker',
    ];
    const open = levels.filter((level) => {
      const part = level === '' ? schema : schemaAt(level);
      return part?.additionalProperties !== false;
    });
    assert.deepEqual(open, []);
  });

  test('have a schema that demands each value that holds others, and what cannot be done without', () => {
    const holders = Object.keys(schema.properties ?? {}).filter(
      (name) => schemaAt(name)?.properties !== undefined && schemaAt(name)?.type === 'object',
    );
    // helm alone reads it, as a condition.
    assert.deepEqual(
      schema.required?.toSorted(),
      holders.filter((name) => name !== 'crds').toSorted(),
    );
    const demanded = ['image', 'serviceAccount', 'webhooks', 'zoneTracker'].map(
      (name) => schemaAt(name)?.required,
    );
    assert.deepEqual(demanded, [
      ['repository'],
      ['create'],
      ['enabled', 'selfSignedCertSecretName'],
      ['enabled', 'configMapName'],
    ]);
  });

  test("know each value of the peer's chart", () => {
    assert.deepEqual(
      valuesOfPeer.filter((path) => schemaAt(path) === undefined),
      [],
    );
  });

  test("have a line in docs/compatibility.md for each value of the peer's chart, and for each of ours", () => {
    const page = readFileSync(join(root, 'docs/compatibility.md'), 'utf8');
    const section = /### Chart\n(.*?)\n##/s.exec(page)?.[1] ?? '';
    const named = new Set(
      [...section.matchAll(/^\|(.*?)\|/gm)].flatMap(([, cell = '']) => namesIn(cell)),
    );
    const wanted = [...valuesOfPeer, ...leavesOf(values)];
    assert.deepEqual(
      wanted.filter((path) => !named.has(path)),
      [],
    );
  });
});

/** `a.b`, `.c` in a cell are a.b and a.c. */
function namesIn(cell: string): readonly string[] {
  const names: string[] = [];
  for (const [, name = ''] of cell.matchAll(/`([^`]+)`/g)) {
    const before = names.at(-1) ?? '';
    names.push(name.startsWith('.') ? `${before.slice(0, before.lastIndexOf('.'))}${name}` : name);
  }
  return names;
}
