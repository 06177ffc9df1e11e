import { type BedrockPorts, findingsText, told } from './bedrock-ports.ts';
import { convertFile } from './convert/convert-file.ts';
import { outputFiles, resourcesText } from './convert/output-files.ts';
import { convertHelp, parseConvertOptions } from './options/parse-convert-options.ts';

/**
 * Makes the resources of one stage of a `bedrock.yaml` (H-10…H-18).
 *
 * @param args the arguments after `bedrock convert`
 * @returns the exit code: 0 done, 2 for wrong input, 3 for a kind that is not supported
 * @throws {FileError} where a file cannot be read or written
 */
export async function convertCommand(
  args: readonly string[],
  ports: BedrockPorts,
): Promise<0 | 2 | 3> {
  const parsed = parseConvertOptions(args);
  if (parsed.kind === 'help') return told(ports.out, convertHelp, 0);
  if (parsed.kind === 'invalid') return told(ports.err, `${parsed.sentence}\n`, 2);
  const { deploy, output } = parsed;
  const text = await ports.readInput(deploy.file);
  const converted = convertFile(text, deploy, ports.randomIdentity());
  if (converted.kind === 'refused')
    return told(ports.err, findingsText(deploy.file, converted.findings), converted.code);
  const { clusters, phases, warnings } = converted;
  ports.err(findingsText(deploy.file, warnings));
  const { out, format } = output;
  if (out !== undefined) {
    const files = outputFiles(phases, clusters, format);
    await ports.writeFiles(out, files);
    return told(ports.err, files.map(({ path }) => `wrote ${out}/${path}\n`).join(''), 0);
  }
  if (clusters.length > 1) {
    const sentence = `The stage has ${clusters.length} clusters: name one with --cluster, or a folder with --out for all of them\n`;
    return told(ports.err, sentence, 2);
  }
  const resources = phases.flatMap((phase) => phase.resources);
  return told(ports.out, resourcesText(resources, format), 0);
}
