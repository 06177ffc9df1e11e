/** The program of an image: the operator, and the tools for a bedrock.yaml. The demo and the embedded cluster are for checkouts. */
import { basename } from 'node:path';
import { runCommand } from './run.ts';

const [, script = ''] = process.argv;
const args = process.argv.slice(2);
const [first = '-'] = args;
const name = basename(script);
if (name === 'manager') {
  process.exitCode = await phasedRollout(args);
} else if (name === 'zone-aware-controllers') {
  process.exitCode = await zoneAware(args);
} else if (first === 'phased-rollout') {
  process.exitCode = await phasedRollout(args.slice(1));
} else if (first === 'zone-aware-controllers') {
  process.exitCode = await zoneAware(args.slice(1));
} else if (first === 'statefulset-rollout') {
  process.exitCode = await statefulset(args.slice(1));
} else if (first === 'all') {
  process.exitCode = await all(args.slice(1));
} else if (first === 'bedrock') {
  process.exitCode = await bedrock(args.slice(1));
} else if (first.startsWith('-')) {
  process.exitCode = await runCommand(args);
} else {
  refuse(
    `There is no command "${first}" here: an image has the operator, which takes flags, or all, phased-rollout, statefulset-rollout or zone-aware-controllers and flags, and the command bedrock`,
  );
}

/** Loaded by its own names only: the grammar of PromQL comes with it. */
async function phasedRollout(given: readonly string[]): Promise<number> {
  const { phasedRolloutCommand } = await import('./phased-rollout.ts');
  return phasedRolloutCommand(given);
}

async function statefulset(given: readonly string[]): Promise<number> {
  const { statefulsetRolloutCommand } = await import('./statefulset-rollout.ts');
  return statefulsetRolloutCommand(given);
}

async function zoneAware(given: readonly string[]): Promise<number> {
  const { zoneAwareControllersCommand } = await import('./zone-aware-controllers.ts');
  return zoneAwareControllersCommand(given);
}

async function all(given: readonly string[]): Promise<number> {
  const { allCommand } = await import('./all.ts');
  return allCommand(given);
}

/** In a bundle it is a file of its own, so that no operator holds it. */
async function bedrock(given: readonly string[]): Promise<number> {
  const { bedrockCommand } = await import('#command/bedrock.ts');
  return bedrockCommand(given);
}

function refuse(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 2;
}
