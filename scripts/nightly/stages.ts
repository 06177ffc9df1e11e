/** All that a night runs. Each stage ends in minutes, so that a night that was cut off loses no more than one. */
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { benches } from '../../bench/benches.ts';
import { percentStories } from '../../test/integration/statefulset-rollout/percent-sweep.ts';
import { scenarios } from '../../test/simulation/scenarios.ts';
import { readMutants, roomOf } from '../mutants/mutant.ts';
import { tasks } from '../tasks/tasks.ts';
import type { Stage, Tool } from './stage.ts';

/** Returns the stages of the checkout at `root`, the quick ones first. */
export async function allStages(root: string): Promise<readonly Stage[]> {
  const folders = (pattern: string): readonly string[] =>
    globSync(pattern, { cwd: root })
      .map((path) => basename(path))
      .toSorted();
  const rooms = new Set((await readMutants(root)).map(roomOf));
  const topics = folders('test/real/*/').filter((topic) => topic !== lane);
  return [
    { name: 'ok', command: 'npm run -s ok', needs: ['git', 'openssl'] },
    taskStage('test:integration', ['openssl']),
    taskStage('test:simulation'),
    taskStage('test:nightly'),
    taskStage('test:mixin', ['go', 'promtool']),
    ...topics.map((topic) => realStage('baseline', topic)),
    ...topics.map((topic) => realStage('oldest', topic)),
    taskStage('test:image', ['go', 'mmdebstrap']),
    ...[...rooms].toSorted().map((room) => taskStage('mutants', ['git'], ['--room', room])),
    taskStage('test:lies'),
    ...storyNames().map((name) => taskStage('sweep', [], ['--scenario', name])),
    taskStage('fuzz'),
    ...Object.keys(benches).map((name) => taskStage('bench', [], [name])),
  ];
}

/** A task of `npm run do`, with arguments that name the stage as well. */
function taskStage(task: string, needs: readonly Tool[] = [], args: readonly string[] = []): Stage {
  const command = tasks.get(task)?.command;
  if (command === undefined) throw new Error(`There is no task "${task}"`);
  const words = args.filter((arg) => !arg.startsWith('--'));
  const name = [task.replace(/^test:/, ''), ...words].join(' ');
  return { name, command: [command, ...args].join(' '), needs };
}

/** The tests of the lane itself need no control plane, and run along with those that ask it most. */
const lane = 'lane';

/** The newest version that is published is the baseline (test/real-cluster/control-plane/binaries.ts). */
function realStage(version: 'oldest' | 'baseline', topic: string): Stage {
  const { command, needs } = taskStage('test:real', ['go', 'prometheus', 'openssl']);
  const topics = topic === 'control-plane' ? `{${topic},${lane}}` : topic;
  const files = `"test/real/${topics}/**/*.test.ts"`;
  return {
    name: `real ${version} ${topic}`,
    command: `${command} --kubernetes ${version} ${files}`,
    needs,
  };
}

/** All stories of `npm run do sweep`. */
function storyNames(): readonly string[] {
  return [...scenarios.map(({ name }) => name), ...Object.keys(percentStories)];
}
