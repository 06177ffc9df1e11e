import type { GroupVersionKind } from './review.ts';

/** The kinds that the peer's decoder knows, by `apiVersion`; each also as a list. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  'apps/v1': ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  v1: [
    'Binding',
    'ComponentStatus',
    'ConfigMap',
    'Endpoints',
    'Event',
    'LimitRange',
    'Namespace',
    'Node',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Pod',
    'PodTemplate',
    'ReplicationController',
    'ResourceQuota',
    'Secret',
    'Service',
    'ServiceAccount',
    'Status',
  ],
  'admission.k8s.io/v1': ['AdmissionReview'],
  'admission.k8s.io/v1beta1': ['AdmissionReview'],
  'admissionregistration.k8s.io/v1': [
    'MutatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
  ],
  'admissionregistration.k8s.io/v1beta1': [
    'MutatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
  ],
  'autoscaling/v1': ['HorizontalPodAutoscaler', 'Scale'],
};

const known: ReadonlySet<string> = new Set(
  Object.entries(kinds).flatMap(([apiVersion, names]) =>
    names.flatMap((name) => [`${apiVersion} ${name}`, `${apiVersion} ${name}List`]),
  ),
);

/** Reports whether the peer's decoder knows the kind: then it is of the wrong type here, else it cannot be decoded. */
export function isKnownKind({ group, version, kind }: GroupVersionKind): boolean {
  return known.has(`${group === '' ? version : `${group}/${version}`} ${kind}`);
}
