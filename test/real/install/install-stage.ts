/** What the tests of the chart and the kustomize base need on a cluster. */

import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { RealLane } from '../../real-cluster/real-lane.ts';
import { ask } from '../../scenarios/ask.ts';

const text = { type: 'string' } as const;
const texts = { type: 'object', additionalProperties: text } as const;

/** The definition of ServiceMonitor with the fields that ours have, each in its public shape: strict validation knows no other. */
export const monitorDefinition: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'servicemonitors.monitoring.coreos.com' },
  spec: {
    group: 'monitoring.coreos.com',
    scope: 'Namespaced',
    names: {
      plural: 'servicemonitors',
      singular: 'servicemonitor',
      kind: 'ServiceMonitor',
      listKind: 'ServiceMonitorList',
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['selector', 'endpoints'],
                properties: {
                  selector: { type: 'object', properties: { matchLabels: texts } },
                  namespaceSelector: {
                    type: 'object',
                    properties: {
                      any: { type: 'boolean' },
                      matchNames: { type: 'array', items: text },
                    },
                  },
                  endpoints: {
                    type: 'array',
                    items: {
                      type: 'object',
                      properties: {
                        port: text,
                        scheme: { enum: ['http', 'https'], type: 'string' },
                        interval: { type: 'string', pattern: '^[0-9]+(ms|s|m|h)$' },
                        scrapeTimeout: { type: 'string', pattern: '^[0-9]+(ms|s|m|h)$' },
                        relabelings: {
                          type: 'array',
                          items: {
                            type: 'object',
                            properties: { action: text, targetLabel: text, replacement: text },
                          },
                        },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

/** A kustomization of the base with `components`, in a folder beside a copy of it. */
export function bases(...components: readonly string[]): object {
  const hasWebhooks = components.includes('webhooks');
  return {
    resources: ['../kustomize/base'],
    components: components.map((each) => `../kustomize/components/${each}`),
    ...(hasWebhooks && { transformers: ['../kustomize/namespace-names'] }),
  };
}

/** Makes `namespace`, and waits for nothing in it. */
export async function createNamespace({ plane }: RealLane, namespace: string): Promise<void> {
  const metadata = { name: namespace };
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata };
  await plane.admin.create(resourceTypes.namespaces, metadata, { body });
}

/** Waits until the API server serves what `definition` defines. */
export async function settle({ plane }: RealLane, definition: JsonObject): Promise<void> {
  const { group, names, versions } = definition['spec'] as {
    group: string;
    names: { plural: string };
    versions: readonly { name: string }[];
  };
  const path = `/apis/${group}/${versions[0]?.name}/${names.plural}`;
  const transport = plane.connectAsAdmin();
  const deadline = plane.clock.monotonic() + seconds(30);
  try {
    for (;;) {
      const { status } = await ask(transport, { method: 'GET', path, rest: [] });
      if (status === 200) return;
      if (plane.clock.monotonic() > deadline) throw new Error(`Waited in vain for ${path}`);
      await plane.clock.sleep(millis(50));
    }
  } finally {
    await transport.close();
  }
}
