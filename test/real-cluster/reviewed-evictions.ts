/** The shipped configuration of evictions on a real cluster, in front of one operator. */
import { webhookConfigurations } from '#admission/webhook-configuration/webhook-configurations.ts';
import { millis } from '#base/units.ts';
import { webhookTypes } from '#certificate/webhook-configuration.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { freePorts } from '#support/free-ports.ts';
import type { OperatorHandle } from '../scenarios/env.ts';
import type { RealEnv } from './real-env.ts';

/**
 * Starts an operator that reviews evictions. The API server learns of a configuration a moment after it is written: as long
 * as no server answers it fails evictions, and as soon as it lets them pass it has called the operator.
 */
export async function startReviewing(
  env: Pick<RealEnv, 'admin' | 'namespace' | 'ask' | 'pass' | 'startOperatorWith'>,
  pod: string,
): Promise<OperatorHandle> {
  const { admin, namespace } = env;
  const [port = 0] = await freePorts(1);
  const spec = { type: 'ExternalName', externalName: 'localhost' };
  const service = { metadata: { name: 'rollout-operator' }, spec };
  await admin.create(resourceTypes.services, { namespace }, { body: service });
  for (const body of webhookConfigurations({ namespace, port })) {
    if (textAt(body, 'metadata', 'name').startsWith('pod-eviction-')) {
      await admin.create(webhookTypes.validating, {}, { body });
    }
  }
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/eviction?dryRun=All`;
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod } };
  const answered = async (wanted: number): Promise<void> => {
    for (let tries = 0; tries < 300; tries += 1) {
      if ((await env.ask('POST', path, eviction)).status === wanted) return;
      await env.pass(millis(100));
    }
    throw new Error(`Waited in vain until an eviction is answered with ${wanted}`);
  };
  await answered(500);
  const tls = ['-server-tls.enabled=true', `-server-tls.port=${port}`];
  const operator = await env.startOperatorWith(tls);
  await answered(201);
  return operator;
}
