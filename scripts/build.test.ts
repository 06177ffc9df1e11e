import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Bundle, bundleInto } from './build.ts';

/** Bytes without source maps: of the program with what traces, and of what only an alarm of CloudWatch, Slack, or the command bedrock loads. */
const most = {
  program: 3_300_000,
  awsSdk: 750_000,
  slackSdk: 750_000,
  bedrock: 1_500_000,
} as const;

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

  function run(...args: readonly string[]): {
    readonly status: number | null;
    readonly stderr: string;
  } {
    const program = join(folder, 'one', 'rollout-operator.mjs');
    return spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  }

  /** The names of the files below the program that a start with `env` loads. */
  function loaded(env: Readonly<Record<string, string>>): readonly string[] {
    const hook = `import { registerHooks } from 'node:module';
      registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) });`;
    const files = startWith(hook, env).filter((url) => url.startsWith('file:'));
    return files.map((url) => basename(url));
  }

  /** The names of the modules of Node that a start loads, its inner ones included. */
  function loadedOfNode(): readonly string[] {
    const hook = "process.on('exit', () => console.log(process.moduleLoadList.join('\\n')));";
    return startWith(hook, {}).map((line) => line.replace(/^NativeModule /, ''));
  }

  /** The lines that `hook` writes in a start with `env`, which ends at its first look for a cluster. */
  function startWith(hook: string, env: Readonly<Record<string, string>>): readonly string[] {
    const program = join(folder, 'one', 'rollout-operator.mjs');
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [
        `--import=data:text/javascript,${encodeURIComponent(hook)}`,
        program,
        '-kubernetes.namespace=x',
        '-server.port=0',
      ],
      { encoding: 'utf8', env: { PATH: process.env['PATH'], ...env } },
    );
    assert.match(stderr, /outside of a cluster, name a kubeconfig/);
    return stdout.split('\n');
  }

  test('writes the program, what tracing and alarms load, source maps, and licences', () => {
    assert.deepEqual(readdirSync(join(folder, 'one')).toSorted(), [
      'LICENSES.txt',
      'aws-sdk.mjs',
      'aws-sdk.mjs.map',
      'bedrock.mjs',
      'bedrock.mjs.map',
      'rollout-operator.mjs',
      'rollout-operator.mjs.map',
      'slack-sdk.mjs',
      'slack-sdk.mjs.map',
      'tracing.mjs',
      'tracing.mjs.map',
    ]);
    const awsSdk = statSync(join(folder, 'one', 'aws-sdk.mjs')).size;
    assert.ok(awsSdk <= most.awsSdk, `${awsSdk} bytes`);
    const slackSdk = statSync(join(folder, 'one', 'slack-sdk.mjs')).size;
    assert.ok(slackSdk <= most.slackSdk, `${slackSdk} bytes`);
    const bedrock = statSync(join(folder, 'one', 'bedrock.mjs')).size;
    assert.ok(bedrock <= most.bedrock, `${bedrock} bytes`);
    const program = bundle.size - awsSdk - slackSdk - bedrock;
    assert.ok(program <= most.program, `${program} bytes`);
  });

  test('names the packages that the source maps know, and no other', () => {
    const names = ['aws-sdk', 'bedrock', 'rollout-operator', 'slack-sdk', 'tracing'];
    const maps = names
      .map((each) => `${each}.mjs.map`)
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
        readFileSync(join(import.meta.dirname, '..', path, 'package.json'), 'utf8'),
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

  test('keeps the SDK of OpenTelemetry out of a program that does not trace', () => {
    assert.doesNotMatch(textOf('rollout-operator.mjs'), /BatchSpanProcessor/);
    assert.match(textOf('tracing.mjs'), /BatchSpanProcessor/);
    assert.deepEqual(loaded({}), ['rollout-operator.mjs']);
    assert.deepEqual(loaded({ JAEGER_AGENT_HOST: 'agent' }), ['rollout-operator.mjs']);
    assert.deepEqual(loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }), [
      'rollout-operator.mjs',
      'tracing.mjs',
    ]);
  });

  test('keeps the SDK of AWS out of a program that asks for no alarm', () => {
    assert.doesNotMatch(textOf('rollout-operator.mjs'), /AWS_WEB_IDENTITY_TOKEN_FILE/);
    assert.match(textOf('aws-sdk.mjs'), /AWS_WEB_IDENTITY_TOKEN_FILE/);
  });

  test('has the command bedrock, which no operator loads', () => {
    const usage = /serves the reference deploy API/;
    assert.doesNotMatch(textOf('rollout-operator.mjs'), usage);
    assert.match(textOf('bedrock.mjs'), usage);
    const program = join(folder, 'one', 'rollout-operator.mjs');
    const { status, stdout } = spawnSync(process.execPath, [program, 'bedrock', '--help'], {
      encoding: 'utf8',
    });
    assert.equal(status, 0);
    assert.match(stdout, usage);
    assert.equal(run('bedrock', 'nonsense').status, 2);
  });

  test('makes a program that says which file it lacks where it was copied alone', () => {
    const alone = join(folder, 'alone');
    mkdirSync(alone);
    copyFileSync(join(folder, 'one', 'rollout-operator.mjs'), join(alone, 'rollout-operator.mjs'));
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(alone, 'rollout-operator.mjs'), '-kubernetes.namespace=x', '-server.port=0'],
      { encoding: 'utf8', env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' } },
    );
    assert.equal(status, 1);
    assert.equal(
      stderr,
      `Cannot trace without the file ${join(alone, 'tracing.mjs')}, which is missing: keep all files of the build in the folder of the program, or set OTEL_SDK_DISABLED=true\n`,
    );
  });

  test("does not load Node's own copy of undici, which any import of node:http brings along", () => {
    const modules = loadedOfNode();
    assert.ok(modules.includes('http'), 'it serves /ready');
    assert.ok(!modules.includes('internal/deps/undici/undici'));
  });

  test('puts in only what an install without the tools has, so that `npm ci --omit=dev` is enough', () => {
    const { packages } = JSON.parse(
      readFileSync(join(import.meta.dirname, '..', 'package-lock.json'), 'utf8'),
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
