/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-assignment -- objects are looked into by path, and a lie that misses its target lets its scenario pass, which fails the run */
import type { EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Admission, AdmissionAttributes } from '#cluster/rest/request/server-context.ts';
import { SETS, stored } from './commits.ts';
import type { Lie } from './lie.ts';

/** Puts `change` between the server and its webhooks. */
function lieToWebhooks(
  cluster: EmbeddedCluster,
  change: (attributes: AdmissionAttributes) => AdmissionAttributes | undefined,
): void {
  const { context } = cluster;
  let honest: Admission | undefined;
  const lying: Admission = {
    mutate: async (attributes) => {
      const shown = change(attributes);
      if (shown !== undefined) await honest?.mutate(shown);
      return attributes.object;
    },
    validate: async (attributes) => {
      const shown = change(attributes);
      if (shown !== undefined) await honest?.validate(shown);
    },
  };
  Object.defineProperty(context, 'admission', {
    get: () => (honest === undefined ? undefined : lying),
    set: (admission: Admission | undefined) => {
      honest = admission;
    },
  });
}

/** Lies about webhooks. */
export const webhookLies: Readonly<Record<string, Lie>> = {
  'a scale is shown to the webhooks of the set': {
    trap: 'FT-16',
    file: 'admission',
    scenario: '[cluster 44] a scale is shown as a Scale to the webhooks of statefulsets/scale',
    tell: (cluster) =>
      lieToWebhooks(cluster, (attributes) => {
        const { call } = attributes;
        if (call.route.subresource?.name !== 'scale') return attributes;
        return {
          ...attributes,
          call: { ...call, route: { ...call.route, subresource: undefined } },
        };
      }),
  },
  'a Scale has the labels of the set': {
    trap: 'FT-16',
    file: 'admission',
    scenario: '[cluster 45] an objectSelector skips /scale and evictions',
    tell: (cluster) =>
      lieToWebhooks(cluster, (attributes) => {
        const { call, object } = attributes;
        if (call.route.subresource?.name !== 'scale') return attributes;
        const [set] = stored(cluster, SETS);
        const metadata: any = object?.['metadata'];
        const labelled = { ...object, metadata: { ...metadata, labels: set.metadata.labels } };
        return { ...attributes, object: labelled };
      }),
  },
  'a deletion is shown to webhooks once': {
    trap: 'FT-33',
    file: 'admission',
    scenario: '[cluster 47] a forced deletion asks twice within one request',
    tell: (cluster) => {
      const seen = new Set<number>();
      lieToWebhooks(cluster, (attributes) => {
        const { operation, call, oldObject } = attributes;
        const metadata: any = oldObject?.['metadata'];
        const isMarked = metadata?.deletionTimestamp !== undefined;
        if (operation === 'DELETE' && isMarked && seen.has(call.callId)) return undefined;
        seen.add(call.callId);
        return attributes;
      });
    },
  },
};
