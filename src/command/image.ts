/** The program of an image: the operator, and the tools for a bedrock.yaml. The demo and the embedded cluster are for checkouts. */
import { basename } from 'node:path';

type Command = (args: readonly string[]) => Promise<number>;

/** The operator as flags alone start it. */
const operator: Command = async (args) => (await whole(import('./run.ts'))).runCommand(args);

/** By the first argument. Each is loaded when it is asked for: in a bundle it is a file of its own, with chunks that it shares. */
const commands: Readonly<Record<string, Command>> = {
  all: async (args) => (await whole(import('./all.ts'))).allCommand(args),
  bedrock: async (args) => (await whole(import('./bedrock.ts'))).bedrockCommand(args),
  'phased-rollout': async (args) =>
    (await whole(import('./phased-rollout.ts'))).phasedRolloutCommand(args),
  'statefulset-rollout': async (args) =>
    (await whole(import('./statefulset-rollout.ts'))).statefulsetRolloutCommand(args),
  'zone-aware-controllers': async (args) =>
    (await whole(import('./zone-aware-controllers.ts'))).zoneAwareControllersCommand(args),
};

/** By the name of another operator's program, it is that (D-65). */
const commandsByName: Readonly<Record<string, string>> = {
  manager: 'phased-rollout',
  'zone-aware-controllers': 'zone-aware-controllers',
};

async function main(args: readonly string[]): Promise<number> {
  const [name = '-', ...rest] = args;
  if (name.startsWith('-')) return operator(args);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command !== undefined) return command(rest);
  process.stderr.write(
    `There is no command "${name}" here: an image has the operator, which takes flags, or all, phased-rollout, statefulset-rollout or zone-aware-controllers and flags, and the command bedrock\n`,
  );
  return 2;
}

/** A file that was cut off: Node does not name it, and would write all that is in it. */
class DamagedFileError extends Error {
  override readonly name = 'DamagedFileError';
  readonly code = 'ERR_DAMAGED_FILE';
}

/** Returns what `part` is. @throws DamagedFileError where its file, or one that it imports, was cut off */
function whole<T>(part: Promise<T>): Promise<T> {
  return part.catch((error: unknown) => {
    if (!(error instanceof SyntaxError)) throw error;
    throw new DamagedFileError(`A file of the program is damaged (${error.message})`);
  });
}

const unloadable: readonly unknown[] = ['ERR_MODULE_NOT_FOUND', 'ERR_DAMAGED_FILE'];

/** Reports a file that is missing or damaged; this one imports no other, so that it can. @throws `error` where it is another one */
function reportUnloadable(error: unknown): number {
  if (!(error instanceof Error && 'code' in error && unloadable.includes(error.code))) throw error;
  const advice = 'keep all files of the build in the folder of the program';
  process.stderr.write(`${error.message}: ${advice}\n`);
  return 1;
}

const [, script = '', ...given] = process.argv;
const named = commandsByName[basename(script)];
process.exitCode = await main(named === undefined ? given : [named, ...given]).catch(
  reportUnloadable,
);
