import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Bundle, bundleInto } from '../../../scripts/build.ts';

/** Bytes of all files but source maps; of the parts that only some runs load; and of what a start of each command loads. */
const most = {
  all: 2_836_000,
  parts: {
    bedrock: 80_000,
    issue: 190_000,
    'open-tracing': 100_000,
    promql: 95_000,
    re2: 200_000,
    'slack-sdk': 100_000,
  },
  starts: {
    '': 677_000,
    all: 1_153_000,
    'phased-rollout': 656_000,
    'statefulset-rollout': 604_000,
    'zone-aware-controllers': 702_000,
  },
} as const;

/** In what only some runs load: tracing, alarms, Slack, patterns of budgets, new certificates, bedrock. */
const ofSomeRuns = [
  'BatchSpanProcessor',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'slackLists.create',
  'RE2JSSyntaxException',
  'GroupingLabels',
  'AuthorityKeyIdentifier',
  'serves the reference deploy API',
] as const;

/** What an operator is started with that ends at its first look for a cluster. */
const lookingForCluster = ['-kubernetes.namespace=x', '-server.port=0'] as const;

/** Returns the name of a file of the build without the hash of its contents. */
function plainName(file: string): string {
  return file.replace(/-[0-9A-Z]{8}(?=\.mjs$)/, '').replace(/^chunk\b.*/, 'chunk.mjs');
}

describe('bundleInto()', () => {
  let folder: string;
  let bundle: Bundle;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bundle-'));
    bundle = await bundleInto(join(folder, 'one'));
  });

  after(() => rmSync(folder, { recursive: true }));

  function textOf(name: string, of = 'one'): string {
    return readFileSync(join(folder, of, name), 'utf8');
  }

  function sizeOf(name: string): number {
    return statSync(join(folder, 'one', name)).size;
  }

  function run(...args: readonly string[]): {
    readonly status: number | null;
    readonly stderr: string;
  } {
    const program = join(folder, 'one', 'rollout-operator.mjs');
    return spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  }

  /** The files of the build that a start with `args` and `env` loads. */
  function loaded(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): readonly string[] {
    const hook = `import { registerHooks } from 'node:module';
      registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) });`;
    const { stdout } = startWith(hook, { args, env });
    const files = stdout.split('\n').filter((url) => url.startsWith('file:'));
    return files.map((url) => basename(url));
  }

  /** The file of the part `name`, which has a hash of its contents in its name. */
  function fileOf(name: string): string {
    const found = readdirSync(join(folder, 'one')).filter((file) => plainName(file) === name);
    assert.equal(found.length, 1, name);
    return found[0] ?? '';
  }

  /** Those of `files` of the build that are named after what they are, and not for what several share. */
  function named(files: readonly string[]): readonly string[] {
    return files.map(plainName).filter((name) => !name.startsWith('chunk.'));
  }

  /** The names of the modules of Node that a start loads, its inner ones included. */
  function loadedOfNode(): readonly string[] {
    const hook = "process.on('exit', () => console.log(process.moduleLoadList.join('\\n')));";
    const { stdout } = startWith(hook, { args: lookingForCluster });
    return stdout.split('\n').map((line) => line.replace(/^NativeModule /, ''));
  }

  /** What a start writes that has the module `hook` before it. */
  function startWith(
    hook: string,
    {
      args,
      env = {},
    }: { readonly args: readonly string[]; readonly env?: Readonly<Record<string, string>> },
  ): { readonly stdout: string; readonly stderr: string } {
    const program = join(folder, 'one', 'rollout-operator.mjs');
    const before = `--import=data:text/javascript,${encodeURIComponent(hook)}`;
    return spawnSync(process.execPath, [before, program, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], ...env },
    });
  }

  test('writes the program, its parts, a source map of each, and licences', () => {
    const files = readdirSync(join(folder, 'one'));
    const code = files.filter((file) => file.endsWith('.mjs'));
    assert.deepEqual(
      files.toSorted(),
      [...code, ...code.map((file) => `${file}.map`), 'LICENSES.txt'].toSorted(),
    );
    const sizes = code.map(sizeOf);
    assert.equal(
      bundle.size,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    assert.ok(bundle.size <= most.all, `${bundle.size} bytes`);
    for (const [part, bytes] of Object.entries(most.parts)) {
      const size = sizeOf(fileOf(`${part}.mjs`));
      assert.ok(size <= bytes, `${part}: ${size} bytes`);
    }
  });

  test('begins the program with what starts it, and no other file', () => {
    const files = readdirSync(join(folder, 'one')).filter((file) => file.endsWith('.mjs'));
    const starting = files.filter((file) => textOf(file).startsWith('#!'));
    assert.deepEqual(starting, ['rollout-operator.mjs']);
    const map = JSON.parse(textOf('rollout-operator.mjs.map')) as {
      readonly sourcesContent: readonly string[];
    };
    // The first line counts, so that lines in stacks are those of the source and one more.
    assert.match(map.sourcesContent[0] ?? '', /^#!.*\n\/\*\* The program of an image/);
  });

  for (const [command, bytes] of Object.entries(most.starts)) {
    test(`loads no part of another command, of a library or of webhooks to start ${command || 'the operator'}`, () => {
      const args = command === '' ? [] : [command];
      const files = loaded([...args, '--nonsense']);
      assert.deepEqual(named(files), ['rollout-operator.mjs', `${command || 'run'}.mjs`]);
      const size = files.map(sizeOf).reduce((sum, each) => sum + each, 0);
      assert.ok(size <= bytes, `${size} bytes`);
      const text = files.map((file) => textOf(file)).join('\n');
      assert.deepEqual(
        ofSomeRuns.filter((phrase) => text.includes(phrase)),
        [],
      );
    });
  }

  test('names the packages that the source maps know, and no other', () => {
    const maps = readdirSync(join(folder, 'one'))
      .filter((file) => file.endsWith('.map'))
      .map((name) => JSON.parse(textOf(name)) as { readonly sources: readonly string[] });
    const folders = maps
      .flatMap(({ sources }) => sources)
      .map((path) =>
        /(?<folder>node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(path),
      )
      .flatMap((found) => found?.groups?.['folder'] ?? []);
    assert.deepEqual(bundle.packages, [...new Set(folders)].toSorted());
  });

  test('writes the same bytes again, wherever it writes them', async () => {
    await bundleInto(join(folder, 'deeper', 'another'));
    for (const name of readdirSync(join(folder, 'one'))) {
      const isSame = textOf(name, join('deeper', 'another')) === textOf(name);
      assert.ok(isSame, `${name} differs`);
    }
  });

  test('keeps the licence of each package that parts of the program are from', () => {
    assert.ok(bundle.packages.includes('node_modules/prom-client'), bundle.packages.join(' '));
    const licences = textOf('LICENSES.txt');
    for (const path of bundle.packages) {
      const { name, version } = JSON.parse(
        readFileSync(join(import.meta.dirname, '../../..', path, 'package.json'), 'utf8'),
      ) as Readonly<Record<'name' | 'version', string>>;
      assert.ok(licences.includes(`\n${name} ${version} (`), name);
    }
    const sections = licences.split(`\n${'-'.repeat(80)}\n\n`);
    assert.equal(new Set(sections).size, sections.length);
    for (const section of sections) {
      const [names = '', text = ''] = section.split(/\n\n(?<text>[^]*)/);
      assert.match(names, /^(?:rollout-operator|(?:.+ \d+\.\d+\.\d+ \(.+\)\n?)+)$/);
      assert.match(text, /copyright|licen[cs]e/i, names);
    }
  });

  test('loads the SDK of OpenTelemetry where it traces', () => {
    const loadedWith = (env: Readonly<Record<string, string>>): readonly string[] =>
      named(loaded(lookingForCluster, env));
    assert.match(textOf(fileOf('open-tracing.mjs')), /BatchSpanProcessor/);
    assert.deepEqual(loadedWith({}), ['rollout-operator.mjs', 'run.mjs']);
    assert.deepEqual(loadedWith({ JAEGER_AGENT_HOST: 'agent' }), [
      'rollout-operator.mjs',
      'run.mjs',
    ]);
    assert.deepEqual(loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }), [
      'rollout-operator.mjs',
      'run.mjs',
      'open-tracing.mjs',
    ]);
  });

  test('has what no start loads', () => {
    const code = readdirSync(join(folder, 'one')).filter((file) => file.endsWith('.mjs'));
    for (const phrase of ofSomeRuns) {
      assert.ok(
        code.some((file) => textOf(file).includes(phrase)),
        phrase,
      );
    }
  });

  /** Code that asks for a package by `require`, and what it says of something that only the package can know. */
  const asking = {
    'disruption-budget/pattern/compile-pattern.ts': {
      says: "compilePattern('a(b').text",
      text: 'error parsing regexp: missing closing ): `a(b`',
    },
    'phased-rollout/spec/promql.ts': {
      says: "promqlProblem('up ==')",
      text: '1:6: unexpected end',
    },
  };
  for (const [source, { says, text }] of Object.entries(asking)) {
    test(`makes a program in which ${source} finds the package that it asks for`, async () => {
      const asked = join(folder, basename(source));
      await bundleInto(asked, { entry: `src/${source}` });
      const program = JSON.stringify(join(asked, 'rollout-operator.mjs'));
      const ask = `import * as asked from ${program};console.log(asked.${says});`;
      const { stdout, stderr } = spawnSync(
        process.execPath,
        ['--input-type=module', `--eval=${ask}`],
        { encoding: 'utf8' },
      );
      assert.equal(stdout, `${text}\n`, stderr);
    });
  }

  test('makes a program in which a pattern is unknown where its engine was left behind', async () => {
    const asked = join(folder, 'without-engine');
    await bundleInto(asked, { entry: 'src/disruption-budget/pattern/compile-pattern.ts' });
    const says = (part: string): string => {
      const program = JSON.stringify(join(asked, 'rollout-operator.mjs'));
      const ask = `import * as asked from ${program};console.log(asked.compilePattern('a').${part});`;
      const args = ['--input-type=module', `--eval=${ask}`];
      return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout;
    };
    assert.equal(says('kind'), 'compiled\n');
    writeFileSync(join(asked, 're2.mjs'), 'export const one = [1,');
    assert.match(says('text'), /^a file of the program is damaged \(.+\): keep all files/);
    rmSync(join(asked, 're2.mjs'));
    assert.equal(says('kind'), 'unknown\n');
    assert.equal(
      says('text'),
      `the file ${join(asked, 're2.mjs')} is missing: keep all files of the build in the folder of the program, and restart it after a new build\n`,
    );
  });

  test('has the command bedrock, which no operator loads', () => {
    const usage = /serves the reference deploy API/;
    assert.match(textOf(fileOf('bedrock.mjs')), usage);
    const program = join(folder, 'one', 'rollout-operator.mjs');
    const { status, stdout } = spawnSync(process.execPath, [program, 'bedrock', '--help'], {
      encoding: 'utf8',
    });
    assert.equal(status, 0);
    assert.match(stdout, usage);
    assert.equal(run('bedrock', 'nonsense').status, 2);
  });

  test('makes a program that says which file it lacks where one was left behind', () => {
    const part = fileOf('open-tracing.mjs');
    const without = join(folder, 'without');
    cpSync(join(folder, 'one'), without, { recursive: true });
    rmSync(join(without, part));
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(without, 'rollout-operator.mjs'), ...lookingForCluster],
      { encoding: 'utf8', env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' } },
    );
    assert.equal(status, 1);
    assert.equal(
      stderr,
      `Cannot trace without the file ${join(without, part)}, which is missing: keep all files of the build in the folder of the program, or set OTEL_SDK_DISABLED=true\n`,
    );
  });

  test('makes a program that ends at its start without what reads a kubeconfig, and says that it lacks it', () => {
    const part = fileOf('kubeconfig.mjs');
    const without = join(folder, 'without-kubeconfig');
    cpSync(join(folder, 'one'), without, { recursive: true });
    rmSync(join(without, part));
    const flags = ['-kubernetes.namespace=test', '-kubernetes.config-file=/no/such/file'];
    const program = join(without, 'rollout-operator.mjs');
    const { status, stderr } = spawnSync(process.execPath, [program, ...flags], {
      encoding: 'utf8',
    });
    assert.equal(status, 1);
    assert.equal(
      stderr,
      `the file ${join(without, part)} is missing: keep all files of the build in the folder of the program, and restart it after a new build\n`,
    );
  });

  test('makes a program that says which file it lacks where it was copied alone', () => {
    const alone = join(folder, 'alone.mjs');
    copyFileSync(join(folder, 'one', 'rollout-operator.mjs'), alone);
    const { status, stderr } = spawnSync(process.execPath, [alone, ...lookingForCluster], {
      encoding: 'utf8',
    });
    assert.equal(status, 1);
    assert.equal(
      stderr,
      `Cannot find module '${join(folder, fileOf('run.mjs'))}' imported from ${alone}: keep all files of the build in the folder of the program\n`,
    );
  });

  test('makes a program that says that a file of it was cut off, and not what is in it', () => {
    const damaged = join(folder, 'damaged');
    cpSync(join(folder, 'one'), damaged, { recursive: true });
    const size = (file: string): number => statSync(join(damaged, file)).size;
    const [largest = ''] = loaded(['--nonsense']).toSorted((a, b) => size(b) - size(a));
    truncateSync(join(damaged, largest), size(largest) - 200);
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(damaged, 'rollout-operator.mjs'), ...lookingForCluster],
      { encoding: 'utf8' },
    );
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^A file of the program is damaged \([^\n]{1,200}\): keep all files of the build in the folder of the program\n$/,
    );
  });

  test('makes a client of Slack that says which file it lacks where one was left behind', async () => {
    const asked = join(folder, 'without-slack');
    await bundleInto(asked, { entry: 'src/notification/slack-client/slack-client.ts' });
    const [part = ''] = readdirSync(asked).filter((name) => /^slack-sdk-.*\.mjs$/.test(name));
    rmSync(join(asked, part));
    const program = JSON.stringify(join(asked, 'rollout-operator.mjs'));
    const ask = `import { createSlackClient } from ${program};
      const clock = { now: () => 0, monotonic: () => 0, sleep: () => new Promise(() => undefined) };
      const client = createSlackClient({ clock, env: {}, token: () => Promise.resolve('token') });
      console.log((await client.send({ kind: 'post' }, AbortSignal.timeout(60_000))).message);`;
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', `--eval=${ask}`],
      { encoding: 'utf8' },
    );
    assert.equal(
      stdout,
      `Cannot send to Slack: the file ${join(asked, part)} is missing: keep all files of the build in the folder of the program, and restart it after a new build\n`,
      stderr,
    );
  });

  test("does not load Node's own copy of undici, which any import of node:http brings along", () => {
    const modules = loadedOfNode();
    assert.ok(modules.includes('http'), 'it serves /ready');
    assert.ok(!modules.includes('internal/deps/undici/undici'));
  });

  test('puts in only what an install without the tools has, so that `npm ci --omit=dev` is enough', () => {
    const { packages } = JSON.parse(
      readFileSync(join(import.meta.dirname, '../../..', 'package-lock.json'), 'utf8'),
    ) as { readonly packages: Readonly<Record<string, { readonly dev?: boolean }>> };
    for (const path of bundle.packages) {
      assert.ok(packages[path] !== undefined, path);
      assert.notEqual(packages[path].dev, true, path);
    }
  });

  test('makes a program that starts by its name, on the Node that is named', async () => {
    const program = join(folder, 'named', 'rollout-operator.mjs');
    await bundleInto(join(folder, 'named'), { node: process.execPath });
    assert.equal(
      readFileSync(program, 'utf8').split('\n', 1)[0],
      `#!${process.execPath} --max-semi-space-size=4`,
    );
    const { status, stderr } = spawnSync(program, ['demo'], { encoding: 'utf8', env: {} });
    assert.equal(status, 2);
    assert.match(stderr, /There is no command "demo" here/);
  });

  test('makes a program that is that of each peer by its name', () => {
    const started = (
      name: string,
      ...args: readonly string[]
    ): readonly [number | null, string] => {
      const program = join(folder, name);
      symlinkSync(join(folder, 'one', 'rollout-operator.mjs'), program);
      const command = [program, ...args];
      const { status, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
      return [status, stderr];
    };
    const [status, stderr] = started('manager', '--leader-elect', '--nonsense');
    assert.equal(status, 2);
    assert.match(stderr, /^flag provided but not defined: -nonsense\nUsage of phased-rollout:/);
    const [zoneAware, why] = started('zone-aware-controllers', '--leader-elect', '--nonsense');
    assert.equal(zoneAware, 2);
    assert.match(
      why,
      /^flag provided but not defined: -nonsense\nUsage of zone-aware-controllers:/,
    );
    const byName = run('zone-aware-controllers', '--nonsense');
    assert.match(byName.stderr, /Usage of zone-aware-controllers:/);
    const all = run('all', '--leader-elect', '--nonsense');
    assert.match(
      all.stderr,
      /^flag provided but not defined: -nonsense\nUsage of rollout-operator:/,
    );
    const byCommand = run('phased-rollout', '--nonsense');
    assert.match(
      byCommand.stderr,
      /^flag provided but not defined: -nonsense\nUsage of phased-rollout:/,
    );
  });

  test('makes a program that runs without what it was made of', () => {
    const { status, stderr } = run('-kubernetes.namespace=x', '-log.level=nonsense');
    assert.equal(status, 1);
    assert.match(stderr, /-log\.level must be one of debug, info, warn, error: got "nonsense"/);
  });

  test('makes a program that says what an image does not have', () => {
    const { status, stderr } = run('demo');
    assert.equal(status, 2);
    assert.match(stderr, /There is no command "demo" here/);
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, '{}');
    const flags = ['-kubernetes.namespace=x', '-server.port=0'];
    const outside = run(...flags, `-kubernetes.config-file=${kubeconfig}`);
    assert.equal(outside.status, 1);
    assert.match(
      outside.stderr,
      /made without the package @kubernetes\/client-node, .* or run in a pod of the cluster/,
    );
  });
});
