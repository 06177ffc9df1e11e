import type { ResourceRow } from '#embedded-cluster/resource-row.ts';
import {
  configMap,
  event,
  lease,
  namespace,
  node,
  secret,
  selfSubjectAccessReview,
  service,
  serviceAccount,
} from '#embedded-cluster/schema/core-kinds.ts';
import { persistentVolumeClaim } from '#embedded-cluster/schema/persistent-volume-claim.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { defineRow, statusSubresource } from './define-row.ts';
import { fieldLabels } from './field-labels.ts';

/** The rows beside workloads (SR-1, SR-3). */
export const coreRows: readonly ResourceRow[] = Object.freeze([
  defineRow({
    type: resourceTypes.namespaces,
    singular: 'namespace',
    shortNames: ['ns'],
    schema: namespace,
    subresources: [
      { name: 'finalize', kind: 'Namespace', verbs: ['update'] },
      statusSubresource('Namespace'),
    ],
    allowsUnconditionalUpdate: true,
    fieldLabels: fieldLabels(['status.phase']),
  }),
  defineRow({
    type: resourceTypes.nodes,
    singular: 'node',
    shortNames: ['no'],
    schema: node,
    subresources: [statusSubresource('Node')],
    allowsUnconditionalUpdate: true,
    fieldLabels: fieldLabels(['spec.unschedulable'], 'false'),
  }),
  defineRow({
    type: resourceTypes.services,
    singular: 'service',
    shortNames: ['svc'],
    categories: ['all'],
    schema: service,
    allowsUnconditionalUpdate: true,
  }),
  defineRow({
    type: resourceTypes.configMaps,
    singular: 'configmap',
    shortNames: ['cm'],
    schema: configMap,
    allowsUnconditionalUpdate: true,
  }),
  defineRow({
    type: resourceTypes.secrets,
    singular: 'secret',
    schema: secret,
    allowsUnconditionalUpdate: true,
    fieldLabels: fieldLabels(['type']),
  }),
  defineRow({
    type: resourceTypes.events,
    singular: 'event',
    shortNames: ['ev'],
    schema: event,
    allowsCreateOnUpdate: true,
    allowsUnconditionalUpdate: true,
    fieldLabels: {
      ...fieldLabels([
        'involvedObject.kind',
        'involvedObject.namespace',
        'involvedObject.name',
        'involvedObject.uid',
        'involvedObject.apiVersion',
        'involvedObject.resourceVersion',
        'involvedObject.fieldPath',
        'reason',
        'type',
        'reportingComponent',
      ]),
      source: fieldLabels(['source.component'])['source.component'] ?? (() => ''),
    },
  }),
  defineRow({
    type: resourceTypes.serviceAccounts,
    singular: 'serviceaccount',
    shortNames: ['sa'],
    schema: serviceAccount,
  }),
  defineRow({
    type: resourceTypes.persistentVolumeClaims,
    singular: 'persistentvolumeclaim',
    shortNames: ['pvc'],
    schema: persistentVolumeClaim,
    subresources: [statusSubresource('PersistentVolumeClaim')],
    allowsUnconditionalUpdate: true,
  }),
  defineRow({
    type: resourceTypes.leases,
    singular: 'lease',
    schema: lease,
    allowsCreateOnUpdate: true,
  }),
  defineRow({
    type: resourceTypes.selfSubjectAccessReviews,
    singular: 'selfsubjectaccessreview',
    schema: selfSubjectAccessReview,
    verbs: ['create'],
  }),
]);
