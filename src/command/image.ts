/** The program of an image: the operator alone. The demo and the embedded cluster are for checkouts. */
import { basename } from 'node:path';
import { runCommand } from './run.ts';

/** What images of other operators are started by; a Deployment whose image is changed starts us by the same name. */
const unbuilt: Readonly<Record<string, string>> = {
  'zone-aware-controllers': 'the zone-aware-controllers-for-k8s',
};

const [, script = ''] = process.argv;
const args = process.argv.slice(2);
const [first = '-'] = args;
const name = basename(script);
const replaced = unbuilt[name];
if (replaced !== undefined) {
  refuse(
    `This version does not stand in for ${replaced}, whose "${name}" it was started as: only /bin/rollout-operator and /manager are built`,
  );
} else if (name === 'manager') {
  process.exitCode = await phasedRollout(args);
} else if (first === 'phased-rollout') {
  process.exitCode = await phasedRollout(args.slice(1));
} else if (first === 'all') {
  process.exitCode = await all(args.slice(1));
} else if (first.startsWith('-')) {
  process.exitCode = await runCommand(args);
} else {
  refuse(
    `There is no command "${first}" here: an image has the operator alone, which takes flags, or all or phased-rollout and flags`,
  );
}

/** Loaded by its own names only: the grammar of PromQL comes with it. */
async function phasedRollout(given: readonly string[]): Promise<number> {
  const { phasedRolloutCommand } = await import('./phased-rollout.ts');
  return phasedRolloutCommand(given);
}

async function all(given: readonly string[]): Promise<number> {
  const { allCommand } = await import('./all.ts');
  return allCommand(given);
}

function refuse(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 2;
}
