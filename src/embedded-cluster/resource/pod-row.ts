import { pod } from '#embedded-cluster/schema/workload-kinds.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { defineRow, statusSubresource } from './define-row.ts';
import { fieldLabels } from './field-labels.ts';

/** Pods (SR-1). */
export const podRow = defineRow({
  type: resourceTypes.pods,
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  schema: pod,
  subresources: [
    { name: 'binding', kind: 'Binding', verbs: ['create'] },
    { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
    statusSubresource('Pod'),
  ],
  hasGeneration: true,
  allowsUnconditionalUpdate: true,
  isGraceful: true,
  fieldLabels: fieldLabels([
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ]),
});
