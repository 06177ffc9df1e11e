import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { tasks } from '../tasks/tasks.ts';
import { withDiagram } from './generate-diagram.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const extension = /\.(?:ts|md|json|sh|patch|yaml|libsonnet)$/;

/** A path that the page names, and the folders in which a name without one may be. */
interface Named {
  readonly path: string;
  readonly line: number;
  /** The room that was named last; in sections on a way a name without one is there and nowhere else. */
  readonly room: string;
  readonly isOnWay: boolean;
}

function namedPaths(text: string): readonly Named[] {
  let room = '';
  let isOnWay = false;
  return text.split('\n').flatMap((content, at) => {
    if (content.startsWith('## ')) isOnWay = content.startsWith('## The way of ');
    return [...content.matchAll(/`([^`]+)`/g)]
      .map(([, word = '']) => word)
      .filter((word) => /^[\w./<>*-]+$/.test(word) && (word.includes('/') || extension.test(word)))
      .map((path) => {
        room = roomOf(path) ?? room;
        return { path, line: at + 1, room, isOnWay };
      });
  });
}

/** The room, or the folder of tests or scripts, that `path` from the root is in; undefined for a part of a path. */
function roomOf(path: string): string | undefined {
  const room = /^(?:src\/[^/.]+|test\/[^/.]+|cluster|demo|bench|scripts(?:\/[^/.]+)?)(?=\/|$)/.exec(
    path,
  )?.[0];
  return room !== undefined && isThere(room) ? room : undefined;
}

/** A `<word>` stands for any name. */
function isThere(pattern: string): boolean {
  const glob = pattern.replaceAll(/<\w+>/g, '*');
  return glob.includes('*')
    ? globSync(glob, { cwd: root }).length > 0
    : existsSync(join(root, glob));
}

function isFound({ path, room, isOnWay }: Named): boolean {
  if (isThere(join(room, path))) return true;
  if (path.includes('/')) return isThere(path);
  return !isOnWay && (isThere(path) || isThere(join('src/*', path)));
}

test('docs/architecture.md has the diagram that `npm run do diagram` draws', () => {
  assert.equal(page, withDiagram(page));
});

test('each path that docs/architecture.md names is there', () => {
  const named = namedPaths(page);
  assert.ok(named.length > 150, `${named.length} paths`);
  const missing = named.filter((each) => !isFound(each));
  assert.deepEqual(
    missing.map(({ path, line }) => `line ${line}: ${path}`),
    [],
  );
});

test('each link of docs/architecture.md leads to a file', () => {
  const links = [...page.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => link);
  assert.ok(links.length > 0);
  assert.deepEqual(
    links.filter((link) => !existsSync(join(root, 'docs', link))),
    [],
  );
});

test('each command that docs/architecture.md names is a script of package.json, or a task', () => {
  const commands = [...page.matchAll(/npm run (?:-s )?(do (?:-- )?)?([\w:-]+)/g)];
  assert.ok(commands.length > 10);
  assert.deepEqual(
    commands
      .filter(
        ([, how, name = '']) =>
          !(how === undefined ? Object.hasOwn(scripts, name) : tasks.has(name)),
      )
      .map(([text]) => text),
    [],
  );
});

test('docs/architecture.md explains each room, and at most 30 words', () => {
  const rooms = globSync(['src/*/', 'cluster/', 'demo/', 'test/support/'], { cwd: root });
  assert.deepEqual(
    rooms.filter((room) => !page.includes(`\`${room.replace(/\/?$/, '/')}\``)),
    [],
  );
  const [, words = ''] = page.split('## Words');
  const rows = words.split('\n## ')[0]?.match(/^\| \w/gm) ?? [];
  assert.ok(rows.length <= 31, `${rows.length - 1} words, and the heading`);
});

describe('test/support/README.md', () => {
  const text = readFileSync(join(root, 'test/support/README.md'), 'utf8');
  const isFromRoot = (name: string): boolean => /^(?:src|test)\//.test(name);

  test('names files that are there', () => {
    const names = [...text.matchAll(/`([\w./-]+(?:\.ts|\/))`/g)].map(([, name = '']) => name);
    assert.ok(names.length > 55, `${names.length} files`);
    assert.deepEqual(
      names.filter((name) => !existsSync(join(root, isFromRoot(name) ? '' : 'test/support', name))),
      [],
    );
  });

  test('has for each stage a test that is made of it', () => {
    const rows = [...text.matchAll(/^\| [^|]+ \| ([^|]+) \| [^|]+ \| `([^`]+\.test\.ts)` \|$/gm)];
    assert.ok(rows.length > 15, `${rows.length} rows`);
    const others = rows.filter(([, stage = '', example = '']) => {
      const source = readFileSync(join(root, example), 'utf8');
      const files = [...stage.matchAll(/([\w-]+\.ts)`/g)].map(([, file = '']) => `/${file}'`);
      return !files.some((file) => source.includes(file));
    });
    assert.deepEqual(
      others.map(([row]) => row),
      [],
    );
  });
});

/** Files that a folder which the page does not list begins with. */
const furtherMainFiles: readonly string[] = [
  'demo/demo-command.ts',
  'src/command/bedrock/run-command.ts',
  'src/command/bedrock-api/deploy-api.ts',
  'cluster/admission/webhook-admission.ts',
  'cluster/controllers/start-controllers.ts',
  'cluster/crd/definition-lifecycle.ts',
  'cluster/kubelet/start-kubelet.ts',
  'cluster/patch/apply-patch.ts',
  'cluster/protobuf/decode-protobuf.ts',
  'cluster/resource/define-row.ts',
  'cluster/rest/api-server.ts',
  'cluster/schema/field-schema.ts',
  'cluster/selector/label-selector.ts',
  'cluster/store/store.ts',
  'cluster/watch/open-watch.ts',
  'test/support/invariants/invariant.ts',
  'bench/main.ts',
  'scripts/tasks/run-checks.ts',
  'scripts/install/deployment.ts',
  'test/differential/protocol.ts',
  'test/fuzz/main.ts',
  'test/image/run.ts',
  'test/integration/stages/rollout-stage.ts',
  'test/lies/lie.ts',
  'test/mixin/render.ts',
  'test/real/rollout-group/scenarios.test.ts',
  'test/real-cluster/run.ts',
  'test/scenarios/env.ts',
  'test/simulation/scenario.ts',
];

test('the file that a room begins with says in two sentences what the room is for', () => {
  const rows = [...page.matchAll(/^\| `((?:src|cluster|demo|test)\/[^`]*)`.*\| `([^`]+)` \|$/gm)];
  const ofRooms = rows.map(([, room = '', file = '']) =>
    file.startsWith('src/') ? file : `${room}${file}`,
  );
  assert.ok(ofRooms.length > 20, `${ofRooms.length} rooms`);
  const silent = [...ofRooms, ...furtherMainFiles].filter((path) => {
    const [, comment = ''] = /^\/\*\*(.*?)\*\//s.exec(readFileSync(join(root, path), 'utf8')) ?? [];
    return (comment.match(/[^\s.][.:](?=\s)/g) ?? []).length < 2;
  });
  assert.deepEqual(silent, []);
});
