import { listOf, type Message, mapOf, message, one } from './message.ts';

const ownerReference: Message = {
  fields: {
    1: one('kind', 'string'),
    3: one('name', 'string'),
    4: one('uid', 'string'),
    5: one('apiVersion', 'string'),
    6: one('controller', 'bool'),
    7: one('blockOwnerDeletion', 'bool'),
  },
};

const objectMeta: Message = {
  fields: {
    1: one('name', 'string'),
    2: one('generateName', 'string'),
    3: one('namespace', 'string'),
    4: one('selfLink', 'skipped'),
    5: one('uid', 'string'),
    6: one('resourceVersion', 'string'),
    7: one('generation', 'int'),
    8: one('creationTimestamp', 'time'),
    9: one('deletionTimestamp', 'time'),
    10: one('deletionGracePeriodSeconds', 'int'),
    11: mapOf('labels', 'string'),
    12: mapOf('annotations', 'string'),
    13: listOf('ownerReferences', ownerReference),
    14: listOf('finalizers', 'string'),
    17: listOf('managedFields', 'skipped'),
  },
};

const metadata = one('metadata', objectMeta);

const objectReference = message(
  one('kind', 'string'),
  one('namespace', 'string'),
  one('name', 'string'),
  one('uid', 'string'),
  one('apiVersion', 'string'),
  one('resourceVersion', 'string'),
  one('fieldPath', 'string'),
);

const labelSelector = message(
  mapOf('matchLabels', 'string'),
  listOf(
    'matchExpressions',
    message(one('key', 'string'), one('operator', 'string'), listOf('values', 'string')),
  ),
);

const deleteOptions = message(
  one('gracePeriodSeconds', 'int'),
  one('preconditions', message(one('uid', 'string'), one('resourceVersion', 'string'))),
  one('orphanDependents', 'bool'),
  one('propagationPolicy', 'string'),
  listOf('dryRun', 'string'),
);

const namespaceMessage = message(
  metadata,
  one('spec', message(listOf('finalizers', 'string'))),
  one('status', message(one('phase', 'string'))),
);

const event = message(
  metadata,
  one('involvedObject', objectReference),
  one('reason', 'string'),
  one('message', 'string'),
  one('source', message(one('component', 'string'), one('host', 'string'))),
  one('firstTimestamp', 'time'),
  one('lastTimestamp', 'time'),
  one('count', 'int'),
  one('type', 'string'),
  one('eventTime', 'micro-time'),
  one('series', message(one('count', 'int'), one('lastObservedTime', 'micro-time'))),
  one('action', 'string'),
  one('related', objectReference),
  one('reportingComponent', 'string'),
  one('reportingInstance', 'string'),
);

const viewedEvent = message(
  metadata,
  one('eventTime', 'micro-time'),
  one('series', message(one('count', 'int'), one('lastObservedTime', 'micro-time'))),
  one('reportingController', 'string'),
  one('reportingInstance', 'string'),
  one('action', 'string'),
  one('reason', 'string'),
  one('regarding', objectReference),
  one('related', objectReference),
  one('note', 'string'),
  one('type', 'string'),
  one('deprecatedSource', message(one('component', 'string'), one('host', 'string'))),
  one('deprecatedFirstTimestamp', 'time'),
  one('deprecatedLastTimestamp', 'time'),
  one('deprecatedCount', 'int'),
);

const leaseSpec = message(
  one('holderIdentity', 'string'),
  one('leaseDurationSeconds', 'int'),
  one('acquireTime', 'micro-time'),
  one('renewTime', 'micro-time'),
  one('leaseTransitions', 'int'),
  one('strategy', 'string'),
  one('preferredHolder', 'string'),
);

const resourceAttributes = message(
  one('namespace', 'string'),
  one('verb', 'string'),
  one('group', 'string'),
  one('version', 'string'),
  one('resource', 'string'),
  one('subresource', 'string'),
  one('name', 'string'),
);

const accessReviewStatus = message(
  one('allowed', 'bool'),
  one('reason', 'string'),
  one('evaluationError', 'string'),
  one('denied', 'bool'),
);

const accessReview = message(
  metadata,
  one(
    'spec',
    message(
      one('resourceAttributes', resourceAttributes),
      one('nonResourceAttributes', message(one('path', 'string'), one('verb', 'string'))),
    ),
  ),
  one('status', accessReviewStatus),
);

const budgetSpec = message(
  one('minAvailable', 'int-or-string'),
  one('selector', labelSelector),
  one('maxUnavailable', 'int-or-string'),
  one('unhealthyPodEvictionPolicy', 'string'),
);

const budgetStatus = message(
  one('observedGeneration', 'int'),
  mapOf('disruptedPods', 'time'),
  one('disruptionsAllowed', 'int'),
  one('currentHealthy', 'int'),
  one('desiredHealthy', 'int'),
  one('expectedPods', 'int'),
);

const rules = listOf(
  'rules',
  message(
    listOf('verbs', 'string'),
    listOf('apiGroups', 'string'),
    listOf('resources', 'string'),
    listOf('resourceNames', 'string'),
    listOf('nonResourceURLs', 'string'),
  ),
);

const subject = message(
  one('kind', 'string'),
  one('apiGroup', 'string'),
  one('name', 'string'),
  one('namespace', 'string'),
);
const roleRef = message(one('apiGroup', 'string'), one('kind', 'string'), one('name', 'string'));
const binding = message(metadata, listOf('subjects', subject), one('roleRef', roleRef));

/** The messages that are decoded (HT-6), by `apiVersion` and kind; DeleteOptions come in any version. */
export const messages: ReadonlyMap<string, Message> = new Map<string, Message>([
  ['DeleteOptions', deleteOptions],
  ['v1 Namespace', namespaceMessage],
  [
    'v1 ConfigMap',
    message(
      metadata,
      mapOf('data', 'string'),
      mapOf('binaryData', 'bytes'),
      one('immutable', 'bool'),
    ),
  ],
  [
    'v1 Secret',
    message(
      metadata,
      mapOf('data', 'bytes'),
      one('type', 'string'),
      mapOf('stringData', 'string'),
      one('immutable', 'bool'),
    ),
  ],
  [
    'v1 ServiceAccount',
    message(
      metadata,
      listOf('secrets', objectReference),
      listOf('imagePullSecrets', message(one('name', 'string'))),
      one('automountServiceAccountToken', 'bool'),
    ),
  ],
  ['v1 Event', event],
  ['events.k8s.io/v1 Event', viewedEvent],
  ['coordination.k8s.io/v1 Lease', message(metadata, one('spec', leaseSpec))],
  ['authentication.k8s.io/v1 SelfSubjectReview', message(metadata, one('status', 'skipped'))],
  ['authorization.k8s.io/v1 SelfSubjectAccessReview', accessReview],
  ['policy/v1 Eviction', message(metadata, one('deleteOptions', deleteOptions))],
  [
    'policy/v1 PodDisruptionBudget',
    message(metadata, one('spec', budgetSpec), one('status', budgetStatus)),
  ],
  ['rbac.authorization.k8s.io/v1 Role', message(metadata, rules)],
  ['rbac.authorization.k8s.io/v1 ClusterRole', message(metadata, rules)],
  ['rbac.authorization.k8s.io/v1 RoleBinding', binding],
  ['rbac.authorization.k8s.io/v1 ClusterRoleBinding', binding],
]);
