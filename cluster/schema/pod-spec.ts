import {
  container,
  ephemeralContainer,
  resourceRequirements,
  securityProfile,
  seLinuxOptions,
  windowsOptions,
} from './container.ts';
import { bool, fields, int, kept, list, listBy, mapOf, quantity, text } from './field-schema.ts';
import { labelSelector, localObjectReference, objectMeta } from './metadata.ts';
import { volume } from './volume.ts';

const nodeRequirements = list(
  fields({ key: kept(text), operator: kept(text), values: list(text) }),
);

const nodeSelectorTerm = fields({
  matchExpressions: nodeRequirements,
  matchFields: nodeRequirements,
});

const podAffinityTerm = fields({
  labelSelector,
  namespaces: list(text),
  topologyKey: kept(text),
  namespaceSelector: labelSelector,
  matchLabelKeys: list(text),
  mismatchLabelKeys: list(text),
});

const podAffinity = fields({
  requiredDuringSchedulingIgnoredDuringExecution: list(podAffinityTerm),
  preferredDuringSchedulingIgnoredDuringExecution: list(
    fields({ weight: kept(int), podAffinityTerm }),
  ),
});

const affinity = fields({
  nodeAffinity: fields({
    requiredDuringSchedulingIgnoredDuringExecution: fields({
      nodeSelectorTerms: kept(list(nodeSelectorTerm)),
    }),
    preferredDuringSchedulingIgnoredDuringExecution: list(
      fields({ weight: kept(int), preference: nodeSelectorTerm }),
    ),
  }),
  podAffinity,
  podAntiAffinity: podAffinity,
});

const podSecurityContext = fields({
  seLinuxOptions,
  windowsOptions,
  runAsUser: kept(int),
  runAsGroup: kept(int),
  runAsNonRoot: kept(bool),
  supplementalGroups: list(kept(int)),
  supplementalGroupsPolicy: kept(text),
  fsGroup: kept(int),
  sysctls: list(fields({ name: kept(text), value: kept(text) })),
  fsGroupChangePolicy: kept(text),
  seccompProfile: securityProfile,
  appArmorProfile: securityProfile,
  seLinuxChangePolicy: kept(text),
});

const tolerations = list(
  fields({
    key: text,
    operator: text,
    value: text,
    effect: text,
    tolerationSeconds: kept(int),
  }),
);

const topologySpreadConstraints = listBy(
  'topologyKey',
  fields({
    maxSkew: kept(int),
    topologyKey: kept(text),
    whenUnsatisfiable: kept(text),
    labelSelector,
    minDomains: kept(int),
    nodeAffinityPolicy: kept(text),
    nodeTaintsPolicy: kept(text),
    matchLabelKeys: list(text),
  }),
);

const dnsConfig = fields({
  nameservers: list(text),
  searches: list(text),
  options: list(fields({ name: text, value: kept(text) })),
});

const namespaceSharing = {
  hostNetwork: bool,
  hostPID: bool,
  hostIPC: bool,
  hostUsers: kept(bool),
  shareProcessNamespace: kept(bool),
};

const placement = {
  nodeSelector: mapOf(text),
  nodeName: text,
  affinity,
  schedulerName: text,
  tolerations,
  priorityClassName: text,
  priority: kept(int),
  preemptionPolicy: kept(text),
  topologySpreadConstraints,
  schedulingGates: listBy('name', fields({ name: kept(text) })),
  workloadRef: fields({
    name: kept(text),
    podGroup: kept(text),
    podGroupReplicaKey: text,
  }),
};

/** PodSpec. */
export const podSpec = fields({
  volumes: listBy('name', volume),
  initContainers: listBy('name', container),
  containers: kept(listBy('name', container)),
  ephemeralContainers: listBy('name', ephemeralContainer),
  restartPolicy: text,
  terminationGracePeriodSeconds: kept(int),
  activeDeadlineSeconds: kept(int),
  dnsPolicy: text,
  serviceAccountName: text,
  serviceAccount: text,
  automountServiceAccountToken: kept(bool),
  ...namespaceSharing,
  securityContext: podSecurityContext,
  imagePullSecrets: listBy('name', localObjectReference),
  hostname: text,
  hostnameOverride: kept(text),
  subdomain: text,
  ...placement,
  hostAliases: listBy('ip', fields({ ip: kept(text), hostnames: list(text) })),
  dnsConfig,
  readinessGates: list(fields({ conditionType: kept(text) })),
  runtimeClassName: kept(text),
  enableServiceLinks: kept(bool),
  overhead: mapOf(quantity),
  setHostnameAsFQDN: kept(bool),
  os: fields({ name: kept(text) }),
  resourceClaims: listBy(
    'name',
    fields({
      name: kept(text),
      resourceClaimName: kept(text),
      resourceClaimTemplateName: kept(text),
    }),
  ),
  resources: resourceRequirements,
});

/** PodTemplateSpec. */
export const podTemplate = fields({ metadata: objectMeta, spec: podSpec });
