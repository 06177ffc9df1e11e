#!/usr/bin/env -S MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072 node --max-semi-space-size=4
import { basename } from 'node:path';
import { runCommand } from '#command/run.ts';

/** Commands that are planned; a name that does nothing yet says so. */
const unbuilt: ReadonlySet<string> = new Set([
  'plan',
  'simulate',
  'why',
  'get',
  'pause',
  'resume',
  'statefulset-rollout',
]);

/** Those that are built. */
const commands = [
  'all',
  'bedrock',
  'cluster',
  'demo',
  'phased-rollout',
  'zone-aware-controllers',
] as const;

/** The commands by their first argument; flags alone start the operator, as the peers' Deployments do. */
async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  if (command !== undefined && unbuilt.has(command)) {
    process.stderr.write(`The command "${command}" is not built in this version\n`);
    return 1;
  }
  switch (command) {
    case 'demo': {
      const { demoCommand } = await import('#command/demo.ts');
      return demoCommand(rest);
    }
    case 'cluster': {
      const { clusterCommand } = await import('#command/cluster.ts');
      return clusterCommand(rest);
    }
    case 'bedrock': {
      const { bedrockCommand } = await import('#command/bedrock.ts');
      return bedrockCommand(rest);
    }
    case 'all': {
      const { allCommand } = await import('#command/all.ts');
      return allCommand(rest);
    }
    case 'phased-rollout': {
      const { phasedRolloutCommand } = await import('#command/phased-rollout.ts');
      return phasedRolloutCommand(rest);
    }
    case 'zone-aware-controllers': {
      const { zoneAwareControllersCommand } = await import('#command/zone-aware-controllers.ts');
      return zoneAwareControllersCommand(rest);
    }
    default:
      if (command === undefined || command.startsWith('-')) return runCommand(args);
      process.stderr.write(
        `There is no command ${JSON.stringify(command)}: name one of ${commands.join(', ')}, or give flags alone, such as -kubernetes.namespace=<namespace>, to start the operator\n`,
      );
      return 2;
  }
}

const [, script = '', ...given] = process.argv;
/** By the name of another operator's program, it is that (D-65). */
const commandsByName: Readonly<Record<string, string>> = {
  manager: 'phased-rollout',
  'zone-aware-controllers': 'zone-aware-controllers',
};
const named = commandsByName[basename(script)];
process.exitCode = await main(named === undefined ? given : [named, ...given]);
