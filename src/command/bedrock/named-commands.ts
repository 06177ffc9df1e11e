import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import type { ObjectKey } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { told } from './bedrock-ports.ts';
import { fieldManager } from './deploy/apply-resources.ts';
import { statusText } from './deploy/status-text.ts';
import type { ClusterAccess, DrivePorts } from './drive-ports.ts';
import { namedHelp, parseNamedOptions } from './options/parse-named-options.ts';

/** A command about one rollout. */
export interface NamedCommand {
  readonly name: string;
  /** What it does, for `--help`. */
  readonly does: string;
  /** @returns what is printed */
  readonly run: (
    { client }: ClusterAccess,
    key: ObjectKey,
    ports: Pick<DrivePorts, 'randomIdentity'>,
  ) => Promise<string>;
}

const type = resourceTypes.statefulsetRollouts;
const timeout = seconds(30);

/** Commands about one rollout, by name (H-20). */
export const namedCommands: ReadonlyMap<string, NamedCommand> = new Map(
  [
    {
      name: 'status',
      does: 'Prints how far a rollout has come, and what keeps it.',
      run: async ({ client }: ClusterAccess, key: ObjectKey) =>
        statusText(await client.get(type, key, { timeout })),
    },
    {
      name: 'pause',
      does: 'Holds a rollout: no further pod goes until it is resumed.',
      run: (cluster: ClusterAccess, key: ObjectKey) =>
        edited(cluster, key, { change: { pauseRequested: true }, says: 'pause requested' }),
    },
    {
      name: 'resume',
      does: 'Lets a rollout that was paused go on.',
      run: (cluster: ClusterAccess, key: ObjectKey) =>
        edited(cluster, key, { change: { pauseRequested: false }, says: 'no pause requested' }),
    },
    {
      name: 'retry',
      does: 'Begins a rollout again under another identity; pods that are new already stay.',
      run: (cluster: ClusterAccess, key: ObjectKey, ports: Pick<DrivePorts, 'randomIdentity'>) => {
        const rolloutIdentity = ports.randomIdentity();
        const says = `begins again as ${rolloutIdentity}`;
        return edited(cluster, key, { change: { rolloutIdentity }, says });
      },
    },
  ].map((command) => [command.name, command]),
);

/**
 * Runs a command about one rollout.
 *
 * @param args the arguments after its name
 * @returns the exit code: 0 done, 2 for wrong arguments
 * @throws {Error} where the cluster cannot be reached, or refuses
 */
export async function namedCommand(
  { name, does, run }: NamedCommand,
  args: readonly string[],
  ports: DrivePorts,
): Promise<0 | 2> {
  const parsed = parseNamedOptions(args);
  if (parsed.kind === 'help') return told(ports.out, namedHelp(name, does), 0);
  if (parsed.kind === 'invalid') return told(ports.err, `${parsed.sentence}\n`, 2);
  const { options } = parsed;
  const cluster = await ports.openCluster(options.kubeconfig);
  try {
    const { namespace = cluster.namespace } = options;
    return told(ports.out, await run(cluster, { namespace, name: options.name }, ports), 0);
  } finally {
    await cluster.close();
  }
}

async function edited(
  { client }: ClusterAccess,
  key: ObjectKey,
  { change, says }: { readonly change: JsonObject; readonly says: string },
): Promise<string> {
  const body = { kind: 'merge', document: { spec: change } } as const;
  await client.patch(type, key, { body, fieldManager, timeout });
  return `${key.namespace}/${key.name}: ${says}\n`;
}
