/** The image as it is shipped: built twice, looked into, and run as a container that rolls a group on a real control plane. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePorts } from '#support/free-ports.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { PodFleetServer } from '#support/pods/pod-fleet-server.ts';
import { bundleInto } from '../../scripts/build.ts';
import { findBuilder } from '../../scripts/image/image-builders.ts';
import type { CycloneDx, Spdx } from '../../scripts/image/sbom.ts';
import { buildImage } from '../../scripts/image.ts';
import { told, WebhookStage } from '../real/admission/webhook-stage.ts';
import { type RealLane, startRealLane } from '../real-cluster/real-lane.ts';
import { images, isComplete, setImage } from '../scenarios/group.ts';
import { Cgroup, Containers } from './container.ts';
import { OciArchive } from './oci-archive.ts';
import { makeStandIns, type StandIns } from './stand-in.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const node = '/nodejs/bin/node';
const MiB = 1 << 20;

/** What the image may be large at most, in bytes. */
const most = { program: 3e6, beyondNode: 70e6 };

/** Copies what a clone would have, with times and a place of its own. */
function cloneInto(folder: string): void {
  const args = ['-C', checkout, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', args, { encoding: 'utf8' }).split('\0').filter(Boolean);
  for (const file of files) {
    if (!existsSync(join(checkout, file))) continue;
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(checkout, file), join(folder, file));
  }
}

/** Paths of all that is no folder below `folder`, sorted; no link is followed, as one may lead out of it. */
function filesIn(folder: string, below = ''): readonly string[] {
  return readdirSync(join(folder, below), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(below, entry.name);
      return entry.isDirectory() ? filesIn(folder, path) : [path];
    })
    .toSorted();
}

function sizeOf(folder: string, paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + lstatSync(join(folder, path)).size, 0);
}

describe('the image', () => {
  let folder: string;
  let standIns: StandIns;
  let image: OciArchive;
  let again: OciArchive;
  let base: OciArchive;
  let containers: Containers;
  /** Of what the checkout bundles. */
  let packages: readonly string[];

  function inImage(path: string): string {
    return join(folder, 'root', path);
  }

  function inLayer(path = ''): string {
    return join(folder, 'layer', path);
  }

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'image-'));
    ({ packages } = await bundleInto(join(folder, 'bundle'), { node }));
    // A store of its own that goes with the folder; the driver asks nothing of the kernel.
    const storage = `[storage]\ndriver = "vfs"\ngraphroot = "${folder}/store"\nrunroot = "${folder}/run"\n`;
    writeFileSync(join(folder, 'storage.conf'), storage);
    process.env['CONTAINERS_STORAGE_CONF'] = join(folder, 'storage.conf');
    process.env['SOURCE_DATE_EPOCH'] = '1700000000';
    const builder = findBuilder(undefined);
    standIns = makeStandIns(builder, folder);
    const archive = (name: string): string => join(folder, `${name}.tar`);
    const command = [
      '--disable-warning=ExperimentalWarning',
      join(checkout, 'scripts/image.ts'),
      '--tag=localhost/rollout-operator:one',
      `--archive=${archive('one')}`,
      `--base=${standIns.base}`,
      `--build-image=${standIns.build}`,
    ];
    execFileSync(process.execPath, command, { stdio: ['ignore', 'inherit', 'inherit'] });
    cloneInto(join(folder, 'clone'));
    buildImage(builder, join(folder, 'clone'), {
      tag: 'localhost/rollout-operator:two',
      base: standIns.base,
      buildImage: standIns.build,
      archive: archive('two'),
    });
    execFileSync(...programAndArguments(builder.archive(standIns.base, archive('base'))));
    base = new OciArchive(archive('base'), join(folder, 'base-oci'));
    image = new OciArchive(archive('one'), join(folder, 'one'));
    again = new OciArchive(archive('two'), join(folder, 'two'));
    image.unpack(inLayer(), base);
    image.unpack(inImage(''));
    containers = new Containers(inImage(''), image.config);
  });

  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  test('is the same in its layers when it is built again, of a clone elsewhere', () => {
    const layers = image.layersAbove(base);
    assert.ok(layers.length > 0);
    assert.deepEqual(again.layersAbove(base), layers);
  });

  test('has what the checkout bundles, lists of its contents and names, and no more', () => {
    const bundled = readdirSync(join(folder, 'bundle'));
    assert.ok(bundled.includes('rollout-operator.mjs') && bundled.includes('LICENSES.txt'));
    const program = '/rollout-operator/rollout-operator.mjs';
    assert.deepEqual(
      // Where /bin of the base leads.
      filesIn(inLayer())
        .map((path) => path.replace(/^bin\//, 'usr/bin/'))
        .toSorted(),
      [
        'manager',
        'usr/bin/rollout-operator',
        'zone-aware-controllers',
        ...bundled.map((name) => `rollout-operator/${name}`),
        'rollout-operator/rollout-operator.cdx.json',
        'rollout-operator/rollout-operator.spdx.json',
      ].toSorted(),
    );
    assert.equal(readlinkSync(inImage('usr/bin/rollout-operator')), program);
    for (const name of ['manager', 'zone-aware-controllers'])
      assert.equal(readlinkSync(inImage(name)), program.slice(1));
  });

  test('is small: 3 MB of program, and 70 MB beyond the Node of its base', () => {
    // Licences and lists grow with their packages, and count below.
    const code = filesIn(inLayer()).filter((path) => path.endsWith('.mjs'));
    const program = sizeOf(inLayer(), code);
    const all = filesIn(inImage('')).filter((path) => path !== node.slice(1));
    const beyondNode = sizeOf(inImage(''), all);
    assert.ok(program > 1e6 && program <= most.program, `${program} bytes`);
    assert.ok(beyondNode <= most.beyondNode, `${beyondNode} bytes`);
  });

  test('says what it is, and who runs it', () => {
    const { User, Entrypoint, Cmd, Labels, ExposedPorts } = image.config.config;
    assert.equal(User, '65532:65532');
    assert.deepEqual(Entrypoint, ['/bin/rollout-operator']);
    assert.deepEqual(Cmd ?? [], []);
    assert.deepEqual(Object.keys(ExposedPorts).toSorted(), ['8001/tcp', '8443/tcp']);
    const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
      readonly version: string;
    };
    const prefix = 'org.opencontainers.image.';
    const own = Object.entries(Labels).filter(([name]) => name.startsWith(prefix));
    const { revision, ...others } = Object.fromEntries(
      own.map(([name, value]) => [name.slice(prefix.length), value]),
    );
    assert.deepEqual(others, {
      title: 'rollout-operator',
      description: 'One Kubernetes operator for every StatefulSet rollout',
      licenses: 'Apache-2.0',
      version,
      'base.name': standIns.base,
    });
    assert.match(revision ?? '', /^[0-9a-f]{40}(?:-dirty)?$/);
  });

  test('lists exactly the packages that are in the program, and so does what is written beside it', () => {
    const wanted = packages
      .map((path) => {
        const text = readFileSync(join(checkout, path, 'package.json'), 'utf8');
        const { name, version } = JSON.parse(text) as Readonly<Record<string, string>>;
        return `${name}@${version}`;
      })
      .toSorted();
    const read = (file: string): unknown => JSON.parse(readFileSync(inLayer(file), 'utf8'));
    const spdx = read('rollout-operator/rollout-operator.spdx.json') as Spdx;
    const [own, ...others] = spdx.packages.map((each) => `${each.name}@${each.versionInfo}`);
    assert.match(own ?? '', /^rollout-operator@/);
    assert.deepEqual(others.toSorted(), wanted);
    const cycloneDx = read('rollout-operator/rollout-operator.cdx.json') as CycloneDx;
    const components = cycloneDx.components.map(({ name, version }) => `${name}@${version}`);
    assert.deepEqual(components.toSorted(), wanted);
    for (const format of ['spdx', 'cdx']) {
      const name = `rollout-operator.${format}.json`;
      const beside = readFileSync(join(checkout, 'build', name), 'utf8');
      assert.equal(beside, readFileSync(inLayer(`rollout-operator/${name}`), 'utf8'), name);
    }
  });

  test('runs the very program that the checkout bundles, without a shell and with nothing to write to', () => {
    for (const name of readdirSync(join(folder, 'bundle'))) {
      const shipped = readFileSync(inLayer(join('rollout-operator', name)));
      assert.ok(shipped.equals(readFileSync(join(folder, 'bundle', name))), name);
    }
    for (const shell of ['bin/sh', 'usr/bin/sh', 'bin/bash', 'bin/dash', 'bin/busybox'])
      assert.ok(!existsSync(inImage(shell)), shell);
    const write = `require('node:fs').writeFileSync('/tmp/x', '')`;
    const { stderr } = containers.run({ command: [node, '-e', write] });
    assert.match(stderr, /EROFS: read-only file system/);
    const { stdout } = containers.run({
      command: [node, '-p', 'process.getuid()+":"+process.getgid()+":"+process.getgroups()'],
    });
    assert.equal(stdout, '65532:65532:65532\n');
    const refused = containers.run({ args: ['-kubernetes.namespace=x', '-log.level=nonsense'] });
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /-log\.level must be one of debug, info, warn, error/);
  });

  test('has the tools for a bedrock.yaml, beside the demo that it does not have', () => {
    const { status, stdout } = containers.run({ args: ['bedrock', '--help'] });
    assert.equal(status, 0);
    assert.match(stdout, /^Usage: rollout-operator bedrock <command>/);
    assert.equal(containers.run({ args: ['bedrock', 'nonsense'] }).status, 2);
    assert.match(containers.run({ args: ['demo'] }).stderr, /There is no command "demo" here/);
  });

  test('takes the flags of the zone-aware-controllers-for-k8s where a Deployment starts it as /zone-aware-controllers', () => {
    const { status, stderr } = containers.run({
      command: ['/zone-aware-controllers'],
      args: ['--leader-elect', '--nonsense'],
    });
    assert.equal(status, 2);
    assert.match(stderr, /Usage of zone-aware-controllers:/);
  });

  test('takes the flags of the sts-phased-rollout-operator where a Deployment starts it as /manager', () => {
    const { status, stderr } = containers.run({
      command: ['/manager'],
      args: ['--leader-elect', '--nonsense'],
    });
    assert.equal(status, 2);
    assert.match(stderr, /^flag provided but not defined: -nonsense\nUsage of phased-rollout:/);
  });

  describe('in a container of 200 MiB', () => {
    let cgroup: Cgroup;

    before(() => {
      cgroup = new Cgroup(200 * MiB);
    });

    after(() => {
      cgroup?.remove();
    });

    /** 48 % of the limit, and what dies young, of which V8 counts three halves. */
    function assertBounded(bytes: number): void {
      assert.ok(bytes >= 100 * MiB && bytes <= 150 * MiB, `${bytes / MiB} MiB`);
    }

    test('bounds its heap, whose young half is 4 MiB, as its entry point is started', () => {
      const [options = ''] = image.config.config.Env.filter((each) =>
        each.startsWith('NODE_OPTIONS='),
      );
      const probe = `import{getHeapStatistics}from'node:v8';console.log(JSON.stringify([getHeapStatistics().heap_size_limit,process.execArgv]))`;
      const value = `${options.slice('NODE_OPTIONS='.length)} --import=data:text/javascript,${probe}`;
      const { stdout, stderr } = containers.run({
        args: ['-kubernetes.namespace=x', '-log.level=nonsense'],
        env: { NODE_OPTIONS: value },
        cgroup,
      });
      const [limit, flags] = JSON.parse(stdout || stderr) as [number, readonly string[]];
      assert.equal(limit, (96 + 3 * 4) * MiB);
      assert.deepEqual(flags, ['--max-semi-space-size=4']);
    });

    test('bounds its heap where a command goes past the entry point', () => {
      const { stdout } = containers.run({
        command: [node, '-p', 'v8.getHeapStatistics().heap_size_limit'],
        cgroup,
      });
      assertBounded(Number(stdout));
    });
  });

  describe('as a pod on a real control plane', () => {
    let lane: RealLane;
    let fleet: PodFleet;
    let pods: PodFleetServer;

    before(async () => {
      lane = await startRealLane();
      fleet = new PodFleet(lane.plane.clock);
      pods = new PodFleetServer(fleet, lane.plane.clock);
    });

    after(async () => {
      await lane?.close();
      await pods?.close();
    });

    test('rolls a group, refuses and prepares scale-downs, and ends in good order', {
      timeout: 240_000,
    }, async () => {
      const env = await lane.env({
        hasWebhooks: true,
        zones: ['a', 'b'],
        program: containers.operator,
      });
      const [port = 0] = await freePorts(1);
      const stage = new WebhookStage(env, port, (await pods.listen()).href);
      await stage.guard();
      const operator = await stage.start(['-use-zone-tracker=true']);
      await stage.configure();
      assert.equal(told(await stage.scale('b', 2)), stage.refused('b', 2));
      await setImage(env, images.new);
      await env.until('every zone is updated', () => isComplete(env, images.new));
      assert.equal(told(await stage.scale('a', 2)), '200');
      assert.deepEqual([...new Set(fleet.story())], ['POST ingester-zone-a-2']);
      await env.until('zone a shrinks', () => stage.replicas('a') === 2);
      await operator.stop();
      await stage.noForbidden();
      const judgement = await env.judge();
      assert.equal(judgement.violations.length, 0, judgement.report());
      await env.close();
    });
  });
});

function programAndArguments([program, ...args]: readonly string[]): [string, string[]] {
  assert.ok(program !== undefined);
  return [program, args];
}
