#!/usr/bin/env node
import { runCommand } from '#command/run.ts';

/** The commands by their first argument; flags alone start the operator, as the peers' Deployments do. */
async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  switch (command) {
    case 'demo': {
      const { demoCommand } = await import('#command/demo.ts');
      return demoCommand(rest);
    }
    case 'cluster': {
      const { clusterCommand } = await import('#command/cluster.ts');
      return clusterCommand(rest);
    }
    default:
      return runCommand(args);
  }
}

process.exitCode = await main(process.argv.slice(2));
