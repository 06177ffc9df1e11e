/** One served resource: what a path is built from, and how its kind is called. */
export interface ResourceType {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural, lower case: the path segment. */
  readonly plural: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
}

function served(apiVersion: string, plural: string, kind: string): ResourceType {
  const [group, version] = splitApiVersion(apiVersion);
  return Object.freeze({ group, version, plural, kind, isNamespaced: true });
}

function clusterScoped(type: ResourceType): ResourceType {
  return Object.freeze({ ...type, isNamespaced: false });
}

/** Returns the group (empty for core) and version of an `apiVersion`, such as `apps/v1` or `v1`. */
export function splitApiVersion(apiVersion: string): readonly [group: string, version: string] {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

/** Returns the `apiVersion` of objects of this type. */
export function apiVersionOf(type: ResourceType): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

/** The resource types that this program itself reads or writes. */
export const resourceTypes = Object.freeze({
  pods: served('v1', 'pods', 'Pod'),
  events: served('v1', 'events', 'Event'),
  configMaps: served('v1', 'configmaps', 'ConfigMap'),
  secrets: served('v1', 'secrets', 'Secret'),
  services: served('v1', 'services', 'Service'),
  serviceAccounts: served('v1', 'serviceaccounts', 'ServiceAccount'),
  persistentVolumeClaims: served('v1', 'persistentvolumeclaims', 'PersistentVolumeClaim'),
  namespaces: clusterScoped(served('v1', 'namespaces', 'Namespace')),
  nodes: clusterScoped(served('v1', 'nodes', 'Node')),
  statefulSets: served('apps/v1', 'statefulsets', 'StatefulSet'),
  controllerRevisions: served('apps/v1', 'controllerrevisions', 'ControllerRevision'),
  podDisruptionBudgets: served('policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget'),
  zoneAwarePodDisruptionBudgets: served(
    'rollout-operator.grafana.com/v1',
    'zoneawarepoddisruptionbudgets',
    'ZoneAwarePodDisruptionBudget',
  ),
  replicaTemplates: served(
    'rollout-operator.grafana.com/v1',
    'replicatemplates',
    'ReplicaTemplate',
  ),
  zoneAwareUpdates: served('zonecontrol.k8s.aws/v1', 'zoneawareupdates', 'ZoneAwareUpdate'),
  zoneDisruptionBudgets: served(
    'zonecontrol.k8s.aws/v1',
    'zonedisruptionbudgets',
    'ZoneDisruptionBudget',
  ),
  phasedRollouts: served('sts.plus/v1alpha1', 'phasedrollouts', 'PhasedRollout'),
  statefulsetRollouts: served(
    'bedrock.operator.slack.com/v1',
    'statefulsetrollouts',
    'StatefulsetRollout',
  ),
  leases: served('coordination.k8s.io/v1', 'leases', 'Lease'),
  customResourceDefinitions: clusterScoped(
    served('apiextensions.k8s.io/v1', 'customresourcedefinitions', 'CustomResourceDefinition'),
  ),
  validatingWebhookConfigurations: clusterScoped(
    served(
      'admissionregistration.k8s.io/v1',
      'validatingwebhookconfigurations',
      'ValidatingWebhookConfiguration',
    ),
  ),
  mutatingWebhookConfigurations: clusterScoped(
    served(
      'admissionregistration.k8s.io/v1',
      'mutatingwebhookconfigurations',
      'MutatingWebhookConfiguration',
    ),
  ),
  selfSubjectAccessReviews: clusterScoped(
    served('authorization.k8s.io/v1', 'selfsubjectaccessreviews', 'SelfSubjectAccessReview'),
  ),
});
