#!/usr/bin/env -S MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072 node --max-semi-space-size=4
import { basename } from 'node:path';
import { runCommand } from '#command/run.ts';

/** Commands that are planned; a name that does nothing yet says so. */
const unbuilt: ReadonlySet<string> = new Set(['plan', 'simulate', 'why', 'get', 'pause', 'resume']);

/** Those that are built; each is loaded by its name only. */
const commands: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  all: async (args) => (await import('#command/all.ts')).allCommand(args),
  bedrock: async (args) => (await import('#command/bedrock.ts')).bedrockCommand(args),
  cluster: async (args) => (await import('#demo/cluster-command.ts')).clusterCommand(args),
  demo: async (args) => (await import('#demo/demo-command.ts')).demoCommand(args),
  'phased-rollout': async (args) =>
    (await import('#command/phased-rollout.ts')).phasedRolloutCommand(args),
  'statefulset-rollout': async (args) =>
    (await import('#command/statefulset-rollout.ts')).statefulsetRolloutCommand(args),
  'zone-aware-controllers': async (args) =>
    (await import('#command/zone-aware-controllers.ts')).zoneAwareControllersCommand(args),
};

/** Runs the commands by their first argument; flags alone start the operator, as the peers' Deployments do. */
async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name.startsWith('-')) return runCommand(args);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command !== undefined) return command(rest);
  if (unbuilt.has(name)) {
    process.stderr.write(`The command "${name}" is not built in this version\n`);
    return 1;
  }
  const names = Object.keys(commands).join(', ');
  process.stderr.write(
    `There is no command ${JSON.stringify(name)}: name one of ${names}, or give flags alone, such as -kubernetes.namespace=<namespace>, to start the operator\n`,
  );
  return 2;
}

const [, script = '', ...given] = process.argv;
/** By the name of another operator's program, it is that (D-65). */
const commandsByName: Readonly<Record<string, string>> = {
  manager: 'phased-rollout',
  'zone-aware-controllers': 'zone-aware-controllers',
};
const named = commandsByName[basename(script)];
process.exitCode = await main(named === undefined ? given : [named, ...given]);
