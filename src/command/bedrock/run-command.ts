/**
 * Tools for a `bedrock.yaml`: read, check, convert, and deploy it phase by phase. They write StatefulsetRollouts as any
 * user would; what these bring about is `statefulset-rollout/`.
 */
import { quoted } from '#base/text/quoted.ts';
import { findingsText, told } from './bedrock-ports.ts';
import { type ConvertedFile, convertFile } from './convert/convert-file.ts';
import { ApiDriver } from './deploy/api-driver.ts';
import { keyOf } from './deploy/apply-resources.ts';
import { ClusterDriver } from './deploy/cluster-driver.ts';
import type { PhaseDriver } from './deploy/phase-driver.ts';
import { runPhases } from './deploy/run-phases.ts';
import type { DrivePorts } from './drive-ports.ts';
import type { DeployOptions } from './options/convert-options.ts';
import { parseRunOptions, type RunOptions, runHelp } from './options/parse-run-options.ts';

type Converted = Extract<ConvertedFile, { readonly kind: 'converted' }>;

/**
 * Deploys one stage of a `bedrock.yaml`, phase by phase (H-20).
 *
 * @param args the arguments after `bedrock run`
 * @returns the exit code (H-16)
 * @throws {Error} where a file cannot be read, or a request fails for good
 */
export async function runCommand(
  args: readonly string[],
  ports: DrivePorts,
): Promise<0 | 1 | 2 | 3 | 4> {
  const parsed = parseRunOptions(args);
  if (parsed.kind === 'help') return told(ports.out, runHelp, 0);
  if (parsed.kind === 'invalid') return told(ports.err, `${parsed.sentence}\n`, 2);
  const { deploy } = parsed.options;
  const identity = deploy.identity ?? ports.randomIdentity();
  const options = { ...parsed.options, deploy: { ...deploy, identity } };
  const text = await ports.readInput(deploy.file);
  const converted = convertFile(text, options.deploy, identity);
  if (converted.kind === 'refused')
    return told(ports.err, findingsText(deploy.file, converted.findings), converted.code);
  ports.err(findingsText(deploy.file, converted.warnings));
  const chosen = chosenPhases(converted, options, ports);
  if (typeof chosen === 'string') return told(ports.err, `${chosen}\n`, 2);
  const driver = await driverOf({ converted: chosen, text, identity }, options, ports);
  try {
    return await runPhases(
      {
        driver,
        percents: chosen.phases.map(({ percent }) => percent),
        isConfirmed: options.isConfirmed,
        timeout: options.timeout,
        howToGoOn: (percent) => howToGoOn(chosen, identity, percent),
      },
      ports,
    );
  } finally {
    await driver.close();
  }
}

/** Returns the phases that are left to carry out, or a sentence on why none can be. */
function chosenPhases(
  converted: Converted,
  { from, isConfirmed }: RunOptions,
  { confirm }: DrivePorts,
): Converted | string {
  const { clusters, stage } = converted;
  if (clusters.length > 1)
    return `The stage has ${clusters.length} clusters: name with --cluster the one that is deployed to`;
  const begin = from === undefined ? 0 : stage.phases.indexOf(from);
  if (begin < 0) return `--from must be one of the phases ${stage.phases.join(', ')}: got ${from}`;
  const phases = converted.phases.slice(begin);
  if (phases.length > 1 && !isConfirmed && confirm === undefined)
    return 'There is no terminal to ask at between two phases: give --yes to go on without being asked';
  return { ...converted, phases };
}

interface Deployment {
  readonly converted: Converted;
  readonly text: string;
  readonly identity: string;
}

async function driverOf(
  { converted, text }: Deployment,
  { kubeconfig, api, deploy, isConfirmed, replaces }: RunOptions,
  ports: DrivePorts,
): Promise<PhaseDriver> {
  const { phases, stage } = converted;
  const { clock, out: tell } = ports;
  if (api === undefined) {
    const cluster = await ports.openCluster(kubeconfig);
    const [firstPercent = 100] = stage.phases;
    return new ClusterDriver({ cluster, clock, phases, firstPercent, tell });
  }
  const percents = phases.map(({ percent }) => percent);
  const request = {
    text,
    deploy: namedCluster(deploy, converted),
    percents,
    isConfirmed,
    replaces,
  };
  return new ApiDriver({ api: await ports.openApi(api), clock, request, tell });
}

function namedCluster(deploy: DeployOptions, { clusters }: Converted): DeployOptions {
  const [only] = clusters;
  return only === undefined ? deploy : { ...deploy, cluster: only };
}

function howToGoOn({ phases }: Converted, identity: string, percent: number): string {
  const [first] = phases;
  if (first === undefined) return '';
  const { namespace, name } = keyOf(first.resources[1]);
  const object = `${name} -n ${namespace}`;
  return [
    `What is applied goes on in the cluster. See it: rollout-operator bedrock status ${object}`,
    `Hold it: rollout-operator bedrock pause ${object}`,
    `Go on: the same command with --from ${percent} --rollout-identity ${shellWord(identity)}`,
    '',
  ].join('\n');
}

function shellWord(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : quoted(text);
}
