import { errorOf, messageOf } from '#base/error-of.ts';
import { isInvalid } from '#kubernetes/transport/api-error.ts';
import { told } from './bedrock/bedrock-ports.ts';
import { convertCommand } from './bedrock/convert-command.ts';
import type { DrivePorts } from './bedrock/drive-ports.ts';
import { namedCommand, namedCommands } from './bedrock/named-commands.ts';
import { realPorts } from './bedrock/real-ports.ts';
import { runCommand } from './bedrock/run-command.ts';
import { validateCommand } from './bedrock/validate-command.ts';

const usage = `Usage: rollout-operator bedrock <command> [options]; --help after a command lists its options

  validate   checks a bedrock.yaml
  convert    writes the resources of one stage of it
  run        deploys one stage of it, phase by phase
  status     prints how far a rollout has come
  pause, resume, retry
             hold a rollout, let it go on, begin it again
  api        serves the reference deploy API
`;

/**
 * Runs the tools for `bedrock.yaml` (H).
 *
 * @param args the arguments after `bedrock`
 * @returns the exit code (H-16): 0 done, 1 where a file or a request fails, 2 for wrong input, 3 for what is not supported, 4 for
 *   a rollout that has failed
 */
export async function bedrockCommand(
  args: readonly string[],
  ports: DrivePorts = realPorts(),
): Promise<number> {
  try {
    return await runNamed(args, ports);
  } catch (error) {
    // What the API server finds wrong was wrong with the input.
    return told(ports.err, `${messageOf(errorOf(error))}\n`, isInvalid(error) ? 2 : 1);
  }
}

async function runNamed(
  [name = '', ...rest]: readonly string[],
  ports: DrivePorts,
): Promise<number> {
  const named = namedCommands.get(name);
  if (named !== undefined) return namedCommand(named, rest, ports);
  switch (name) {
    case 'convert':
      return convertCommand(rest, ports);
    case 'validate':
      return validateCommand(rest, ports);
    case 'run':
      return runCommand(rest, ports);
    case 'api':
      // Loaded here only: it brings a server with it.
      return (await import('./bedrock-api/api-command.ts')).apiCommand(rest, ports);
    case '--help':
    case '-h':
      return told(ports.out, usage, 0);
    default:
      return told(ports.err, usage, 2);
  }
}
