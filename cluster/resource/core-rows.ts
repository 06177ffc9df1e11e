import { resourceTypes } from '#kubernetes/resource-type.ts';
import { objectAt, textAt } from '../json/members.ts';
import type { ResourceRow } from '../resource-row.ts';
import {
  configMap,
  event,
  lease,
  namespace,
  node,
  secret,
  selfSubjectAccessReview,
  selfSubjectReview,
  service,
  serviceAccount,
} from '../schema/core-kinds.ts';
import {
  configMapColumns,
  eventColumns,
  leaseColumns,
  namespaceColumns,
  secretColumns,
  serviceAccountColumns,
  serviceColumns,
} from './columns/core-columns.ts';
import { nodeColumns } from './columns/node-columns.ts';
import {
  defaultEvent,
  defaultSecret,
  prepareChangedNamespace,
  prepareNewNamespace,
  terminatingNamespace,
} from './defaults/default-core.ts';
import {
  defaultService,
  prepareChangedService,
  prepareNewService,
} from './defaults/default-service.ts';
import { allVerbs, defineRow, statusSubresource } from './define-row.ts';
import { fieldLabels } from './field-labels.ts';
import { validateConfigMap, validateSecret, validateService } from './validation/validate-core.ts';
import { labelName, subdomainName, validateMetadata } from './validation/validate-metadata.ts';
import { validateEvent, validateLease } from './validation/validate-workload.ts';

/** The rows in addition to workloads (SR-1, SR-3). */
export const coreRows: readonly ResourceRow[] = Object.freeze([
  defineRow({
    type: resourceTypes.namespaces,
    singular: 'namespace',
    shortNames: ['ns'],
    // As upstream: no client may delete all namespaces at once.
    verbs: allVerbs.filter((verb) => verb !== 'deletecollection'),
    schema: namespace,
    columns: namespaceColumns,
    prepareForCreate: prepareNewNamespace,
    prepareForUpdate: prepareChangedNamespace,
    beginDeletion: terminatingNamespace,
    validate: (object) => validateMetadata(object, labelName),
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
    // Upstream stores the status of a new Node too: that is how a kubelet registers.
    schema: node,
    columns: nodeColumns,
    validate: (object) => validateMetadata(object, subdomainName),
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
    columns: serviceColumns,
    subresources: [statusSubresource('Service')],
    withDefaults: defaultService,
    prepareForCreate: prepareNewService,
    prepareForUpdate: prepareChangedService,
    validate: validateService,
    ineffectiveFields: (object) =>
      ['NodePort', 'LoadBalancer'].includes(textAt(objectAt(object, 'spec'), 'type'))
        ? ['spec.type']
        : [],
    allowsUnconditionalUpdate: true,
    answersDeleted: true,
  }),
  defineRow({
    type: resourceTypes.configMaps,
    singular: 'configmap',
    shortNames: ['cm'],
    schema: configMap,
    columns: configMapColumns,
    validate: validateConfigMap,
    allowsUnconditionalUpdate: true,
  }),
  defineRow({
    type: resourceTypes.secrets,
    singular: 'secret',
    schema: secret,
    columns: secretColumns,
    withDefaults: defaultSecret,
    validate: validateSecret,
    allowsUnconditionalUpdate: true,
    fieldLabels: fieldLabels(['type']),
  }),
  defineRow({
    type: resourceTypes.events,
    singular: 'event',
    shortNames: ['ev'],
    schema: event,
    columns: eventColumns,
    withDefaults: defaultEvent,
    validate: validateEvent,
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
    columns: serviceAccountColumns,
    validate: (object) => validateMetadata(object, subdomainName),
    allowsUnconditionalUpdate: true,
    answersDeleted: true,
  }),
  defineRow({
    type: resourceTypes.leases,
    singular: 'lease',
    schema: lease,
    columns: leaseColumns,
    validate: validateLease,
    allowsCreateOnUpdate: true,
  }),
  defineRow({
    type: resourceTypes.selfSubjectAccessReviews,
    singular: 'selfsubjectaccessreview',
    schema: selfSubjectAccessReview,
    prepareForCreate: (object) => ({ ...object, status: { allowed: true } }),
    verbs: ['create'],
  }),
  defineRow({
    type: {
      group: 'authentication.k8s.io',
      version: 'v1',
      plural: 'selfsubjectreviews',
      kind: 'SelfSubjectReview',
      isNamespaced: false,
    },
    singular: 'selfsubjectreview',
    schema: selfSubjectReview,
    verbs: ['create'],
  }),
]);
