import { type BedrockPorts, findingsText, told } from './bedrock-ports.ts';
import { parseValidateOptions, validateHelp } from './options/parse-validate-options.ts';
import { validateFile } from './validate-file.ts';

/**
 * Checks a `bedrock.yaml`, and does nothing else (H-18).
 *
 * @param args the arguments after `bedrock validate`
 * @returns the exit code: 0 in order, 2 for wrong input, 3 where the named service is of a kind that is not supported
 * @throws {FileError} where the file cannot be read
 */
export async function validateCommand(
  args: readonly string[],
  ports: BedrockPorts,
): Promise<0 | 2 | 3> {
  const parsed = parseValidateOptions(args);
  if (parsed.kind === 'help') return told(ports.out, validateHelp, 0);
  if (parsed.kind === 'invalid') return told(ports.err, `${parsed.sentence}\n`, 2);
  const { file } = parsed.options;
  const checked = validateFile(await ports.readInput(file), parsed.options);
  if (checked.kind === 'refused')
    return told(ports.err, findingsText(file, checked.findings), checked.code);
  const { stages, passedOver, warnings } = checked;
  ports.err(findingsText(file, warnings));
  const others = passedOver.map((name) => `${name}: not looked into, as it is not a StatefulSet\n`);
  const lines = stages.map((stage) => `${stage}: in order\n`);
  return told(ports.out, [...lines, ...others].join(''), 0);
}
