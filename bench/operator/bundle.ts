import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundleInto } from '../../scripts/build.ts';
import { heapOfContainer } from '../../scripts/install/deployment.ts';
import type { Bench } from '../bench.ts';
import type { BoundedFigure } from '../bounds.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { Access } from '../cluster/cluster-commands.ts';
import { bounded, type Figure, type Findings, percentile, type Size } from '../figures.ts';
import { imageEnvironment } from './node-flags.ts';
import { Operator } from './operator.ts';
import { loadSince, machineReading } from './process-usage.ts';
import { settings as fullClusters, webhooks } from './start.ts';

interface Setting {
  /** Starts of the bundle and of the sources, in turns. */
  readonly pairs: number;
  /** How long the operator is left alone before its memory is read, in ms. */
  readonly settle: number;
  /** Pods of each of the three zones of a small group and of a large one. */
  readonly small: number;
  readonly large: number;
  /** From DELETE to Ready of the replacement, in ms. */
  readonly restart: number;
}

const settings: Readonly<Record<Size, Setting>> = {
  full: { pairs: 3, settle: 10_000, small: 4, large: 300, restart: 1_000 },
  tiny: { pairs: 1, settle: 100, small: 2, large: 2, restart: 110 },
};

const zones = 3;

/** As the image and the Deployment have it: no cache of compiled sources, and a heap for the container's limit. */
export const bundledEnvironment = {
  ...imageEnvironment(),
  NODE_COMPILE_CACHE: '',
  NODE_OPTIONS: `--max-old-space-size=${heapOfContainer}`,
};

/** What an image holds: the bundled program, as in a pod and with its webhooks on. */
export const bundle: Bench = {
  about: 'bundled program: CPU of a start next to the sources, RSS with 12, 900 and 10,000 pods',
  run: (size) =>
    withBundle(async (program) => [
      await measureFull(program, size),
      await measureGroups(program, size),
    ]),
};

/** Bundles the operator as it runs in a pod, and hands the file to `use`. */
export async function withBundle<T>(use: (program: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-bundle-'));
  try {
    await bundleInto(folder, { entry: 'bench/operator/in-cluster-operator.ts' });
    return await use(join(folder, 'rollout-operator.mjs'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** As many pods as the largest users have. */
async function measureFull(program: string, size: Size): Promise<Findings> {
  const { pairs } = settings[size];
  const full = fullClusters[size];
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: false });
  await cluster.call('fill', full);
  // Leaves the compiled sources to the starts that count.
  await cpuOfStart(access);
  const before = machineReading();
  const cpu: { readonly bundle: number; readonly sources: number }[] = [];
  while (cpu.length < pairs) {
    cpu.push({ bundle: await cpuOfStart(access, program), sources: await cpuOfStart(access) });
  }
  const load = loadSince(before);
  const each = cpu.map((pair) => `${pair.bundle.toFixed(2)} ÷ ${pair.sources.toFixed(2)} s`);
  const ratio = percentile(
    cpu.map((pair) => pair.bundle / pair.sources),
    0.5,
  );
  await using operator = await startOf(access, program);
  return {
    bench: 'bundle',
    setting: `${full.sets} sets and ${full.sets * full.podsPerSet} pods; the sources with their compile cache, the bundle without; ${load}`,
    figures: [
      bounded(
        'CPU of a start, bundle ÷ sources',
        {
          value: ratio,
          how: `until the first 200 of /ready; ${pairs} pairs in turns: ${each.join(', ')}`,
        },
        size,
      ),
      await settledMemory('RSS with 10,000 pods of 8 KB', operator, size),
    ],
  };
}

async function measureGroups(program: string, size: Size): Promise<Findings> {
  const { small, large } = settings[size];
  const few = await memoryOfGroup('RSS with 12 pods', { program, podsPerSet: small }, size);
  const many = await memoryOfGroup(
    'RSS with 900 pods',
    { program, podsPerSet: large, isRolled: true },
    size,
  );
  return {
    bench: 'bundle',
    setting: `one group of ${zones} zones, ${small} and ${large} pods each`,
    figures: [...few, ...many],
  };
}

interface Group {
  readonly program: string;
  readonly podsPerSet: number;
  readonly isRolled?: boolean;
}

async function memoryOfGroup(
  name: BoundedFigure,
  { program, podsPerSet, isRolled = false }: Group,
  size: Size,
): Promise<readonly Figure[]> {
  const { restart } = settings[size];
  const maxUnavailable = Math.ceil(podsPerSet / 10);
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: false });
  await cluster.call('fill', { groups: 1, zones, podsPerSet, maxUnavailable, podBytes: 8_000 });
  await cluster.call('pace', { milliseconds: restart, jitter: 0 });
  await using operator = await startOf(access, program);
  await operator.hasLookedAt(1);
  const idle = await settledMemory(name, operator, size);
  if (!isRolled) return [idle];
  await cluster.call('roll', { groups: 1, patience: 60_000 + 120 * restart });
  return [idle, await settledMemory('RSS after a rollout of 900 pods', operator, size)];
}

/** @param program the bundle; without it the sources @returns seconds until it is ready */
async function cpuOfStart(access: Access, program?: string): Promise<number> {
  await using operator = await startOf(access, program);
  return operator.usage().cpuSeconds;
}

function startOf(access: Access, program?: string): Promise<Operator> {
  return Operator.start(access, 'in-cluster', {
    flags: webhooks,
    ...(program !== undefined && { program, env: bundledEnvironment }),
  });
}

async function settledMemory(name: BoundedFigure, operator: Operator, size: Size): Promise<Figure> {
  await sleep(settings[size].settle);
  const { rss, peakRss } = operator.usage();
  const how = `VmRSS of /proc after the operator was left alone; VmHWM ${peakRss.toFixed(0)} MB`;
  return bounded(name, { value: rss, how }, size);
}
