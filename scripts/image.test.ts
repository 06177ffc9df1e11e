import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dockerfile } from './image.ts';

const root = join(import.meta.dirname, '..');
const lines = readFileSync(join(root, dockerfile), 'utf8').split('\n');
const project = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

/** The default of an argument of the Dockerfile. */
function defaultOf(name: string): string {
  const line = lines.find((each) => each.startsWith(`ARG ${name}=`));
  assert.ok(line, name);
  return line.slice(`ARG ${name}=`.length);
}

test('an image that docker alone builds names the version of the program', () => {
  assert.equal(defaultOf('VERSION'), project.version);
});

test('the images that it is built from have the Node that the program needs', () => {
  const needed = Number(/\d+/.exec(project.engines.node)?.[0]);
  const base = /^gcr\.io\/distroless\/nodejs(\d+)-debian\d+:nonroot$/.exec(defaultOf('BASE_IMAGE'));
  const build = /^docker\.io\/library\/node:(\d+)-/.exec(defaultOf('BUILD_IMAGE'));
  assert.ok(Number(base?.[1]) >= needed, defaultOf('BASE_IMAGE'));
  assert.ok(Number(build?.[1]) >= needed, defaultOf('BUILD_IMAGE'));
});
