import { resourceTypes } from '#kubernetes/resource-type.ts';
import { pod } from '../schema/workload-kinds.ts';
import { podColumns } from './columns/pod-columns.ts';
import { defaultPod, prepareNewPod } from './defaults/default-pod.ts';
import { defineRow, statusSubresource } from './define-row.ts';
import { fieldLabels } from './field-labels.ts';
import { validatePod } from './validation/validate-pod.ts';

/** Pods (SR-1). */
export const podRow = defineRow({
  type: resourceTypes.pods,
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  schema: pod,
  columns: podColumns,
  subresources: [
    { name: 'binding', kind: 'Binding', verbs: ['create'] },
    { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
    statusSubresource('Pod'),
  ],
  hasGeneration: true,
  allowsUnconditionalUpdate: true,
  isGraceful: true,
  answersDeleted: true,
  withDefaults: defaultPod,
  prepareForCreate: prepareNewPod,
  validate: validatePod,
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
