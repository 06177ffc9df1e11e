import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { staticCredentials } from '#kubernetes/connect/bearer-token.ts';
import { connect } from '#kubernetes/connect/connection.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { phasedRolloutDefinition } from '#phased-rollout/definition.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import type { Access } from '../cluster/cluster-commands.ts';
import { inTurns } from '../cluster/in-turns.ts';
import { type GroupsOptions, namespace, setNames } from '../cluster/workload.ts';

/** What is asked of each set, and where. */
interface Asked {
  readonly url: string;
  readonly check: JsonObject;
  /** What comes between the set and its PhasedRollout. @default nothing */
  readonly between?: (set: string) => Promise<void>;
}

/** Returns a client of one who may do everything, over the network. */
export async function adminOf({ url, adminToken }: Access): Promise<Client> {
  const clock = systemClock();
  const credentials = staticCredentials(`Bearer ${adminToken}`);
  const transport = connect(
    { server: new URL(url), tls: () => ({}), credentials },
    { clock, env: {} },
  );
  return createClient({ transport, clock, timeout: millis(0), userAgent: 'bench' });
}

/** Has every set roll by itself, blocked by its partition, and be rolled out by a PhasedRollout of its name. */
export async function inPhases(
  client: Client,
  options: GroupsOptions,
  asked: Asked,
): Promise<void> {
  const body = phasedRolloutDefinition;
  await client.create(resourceTypes.customResourceDefinitions, {}, { body });
  await inTurns(setNames(options), async ({ name }) => {
    const key = { namespace, name };
    const rollingUpdate = { partition: options.podsPerSet };
    const strategy = { spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate } } };
    await client.patch(resourceTypes.statefulSets, key, {
      body: { kind: 'merge', document: strategy },
    });
    await asked.between?.(name);
    await client.create(resourceTypes.phasedRollouts, key, { body: phasedRollout(name, asked) });
  });
}

function phasedRollout(name: string, { url, check }: Asked): JsonObject {
  return {
    apiVersion: 'sts.plus/v1alpha1',
    kind: 'PhasedRollout',
    metadata: { name, namespace },
    spec: {
      targetRef: name,
      check: { ...check, query: { expr: `errors{set="${name}"} < 5`, url } },
    },
  };
}
