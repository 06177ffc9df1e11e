import { FileError, randomIdentity, readInput, writeFiles } from './bedrock/bedrock-io.ts';
import type { BedrockPorts } from './bedrock/bedrock-ports.ts';
import { convertCommand } from './bedrock/convert-command.ts';
import { validateCommand } from './bedrock/validate-command.ts';

/** Commands that are planned; a name that does nothing yet says so. */
const unbuilt: ReadonlySet<string> = new Set(['run', 'retry', 'pause', 'resume', 'status']);

const usage = `Usage: rollout-operator bedrock convert|validate -f bedrock.yaml [options]; --help after either lists its options
`;

const realPorts: BedrockPorts = {
  readInput,
  writeFiles,
  randomIdentity,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};

/**
 * Runs the tools for `bedrock.yaml` (H).
 *
 * @param args the arguments after `bedrock`
 * @returns the exit code: 0 done, 1 where a file cannot be read or written, 2 for wrong input, 3 for what is not supported
 */
export async function bedrockCommand(
  args: readonly string[],
  ports: BedrockPorts = realPorts,
): Promise<number> {
  const [name = '', ...rest] = args;
  try {
    if (name === 'convert') return await convertCommand(rest, ports);
    if (name === 'validate') return await validateCommand(rest, ports);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    ports.err(`${error.message}\n`);
    return 1;
  }
  if (unbuilt.has(name)) {
    ports.err(`The command "bedrock ${name}" is not built yet\n`);
    return 1;
  }
  const isHelp = name === '--help' || name === '-h';
  (isHelp ? ports.out : ports.err)(usage);
  return isHelp ? 0 : 2;
}
