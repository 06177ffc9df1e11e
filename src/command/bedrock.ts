import { FileError, randomIdentity, readInput, writeFiles } from './bedrock/bedrock-io.ts';
import { type BedrockPorts, told } from './bedrock/bedrock-ports.ts';
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
  try {
    return await runNamed(args, ports);
  } catch (error) {
    if (error instanceof FileError) return told(ports.err, `${error.message}\n`, 1);
    throw error;
  }
}

function runNamed([name = '', ...rest]: readonly string[], ports: BedrockPorts): Promise<number> {
  switch (name) {
    case 'convert':
      return convertCommand(rest, ports);
    case 'validate':
      return validateCommand(rest, ports);
    case '--help':
    case '-h':
      return Promise.resolve(told(ports.out, usage, 0));
    default:
      return Promise.resolve(
        unbuilt.has(name)
          ? told(ports.err, `The command "bedrock ${name}" is not built yet\n`, 1)
          : told(ports.err, usage, 2),
      );
  }
}
