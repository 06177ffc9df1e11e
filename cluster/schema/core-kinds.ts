import {
  bool,
  bytes,
  fields,
  int,
  intOrString,
  json,
  kept,
  list,
  listBy,
  mapOf,
  microTime,
  quantity,
  setOf,
  text,
  time,
} from './field-schema.ts';
import {
  condition,
  kindOf,
  labelSelector,
  localObjectReference,
  objectReference,
} from './metadata.ts';

/** ConfigMap. */
export const configMap = kindOf({
  immutable: kept(bool),
  data: mapOf(kept(text)),
  binaryData: mapOf(bytes),
});

/** Secret; `stringData` is write-only. */
export const secret = kindOf({
  immutable: kept(bool),
  data: mapOf(bytes),
  stringData: mapOf(kept(text)),
  type: text,
});

/** ServiceAccount. */
export const serviceAccount = kindOf({
  secrets: listBy('name', objectReference),
  imagePullSecrets: list(localObjectReference),
  automountServiceAccountToken: kept(bool),
});

/** Namespace. */
export const namespace = kindOf({
  spec: fields({ finalizers: list(text) }),
  status: fields({
    phase: text,
    conditions: listBy(
      'type',
      fields({
        type: kept(text),
        status: kept(text),
        lastTransitionTime: time,
        reason: text,
        message: text,
      }),
    ),
  }),
});

const servicePort = fields({
  name: text,
  protocol: text,
  appProtocol: kept(text),
  port: kept(int),
  targetPort: intOrString,
  nodePort: int,
});

const servicePolicies = {
  externalTrafficPolicy: text,
  healthCheckNodePort: int,
  publishNotReadyAddresses: bool,
  sessionAffinityConfig: fields({ clientIP: fields({ timeoutSeconds: kept(int) }) }),
  internalTrafficPolicy: kept(text),
  trafficDistribution: kept(text),
};

/** Service. */
export const service = kindOf({
  spec: fields({
    ports: listBy('port', servicePort),
    selector: mapOf(text),
    clusterIP: text,
    clusterIPs: list(text),
    type: text,
    externalIPs: list(text),
    sessionAffinity: text,
    loadBalancerIP: text,
    loadBalancerSourceRanges: list(text),
    externalName: text,
    ...servicePolicies,
    ipFamilies: list(text),
    ipFamilyPolicy: kept(text),
    allocateLoadBalancerNodePorts: kept(bool),
    loadBalancerClass: kept(text),
  }),
  status: fields({
    loadBalancer: fields({
      ingress: list(
        fields({
          ip: text,
          hostname: text,
          ipMode: kept(text),
          ports: list(fields({ port: kept(int), protocol: kept(text), error: kept(text) })),
        }),
      ),
    }),
    conditions: listBy('type', condition),
  }),
});

/** Event of the core group. */
export const event = kindOf({
  involvedObject: objectReference,
  reason: text,
  message: text,
  source: fields({ component: text, host: text }),
  firstTimestamp: time,
  lastTimestamp: time,
  count: int,
  type: text,
  eventTime: microTime,
  series: fields({ count: int, lastObservedTime: microTime }),
  action: text,
  related: objectReference,
  reportingComponent: kept(text),
  reportingInstance: kept(text),
});

/** Lease. */
export const lease = kindOf({
  spec: fields({
    holderIdentity: kept(text),
    leaseDurationSeconds: kept(int),
    acquireTime: microTime,
    renewTime: microTime,
    leaseTransitions: kept(int),
    strategy: kept(text),
    preferredHolder: kept(text),
  }),
});

const nodeSystemInfo = fields({
  machineID: kept(text),
  systemUUID: kept(text),
  bootID: kept(text),
  kernelVersion: kept(text),
  osImage: kept(text),
  containerRuntimeVersion: kept(text),
  kubeletVersion: kept(text),
  kubeProxyVersion: kept(text),
  operatingSystem: kept(text),
  architecture: kept(text),
  swap: fields({ capacity: kept(int) }),
});

const nodeStatus = fields({
  capacity: mapOf(quantity),
  allocatable: mapOf(quantity),
  phase: text,
  conditions: listBy(
    'type',
    fields({
      type: kept(text),
      status: kept(text),
      lastHeartbeatTime: time,
      lastTransitionTime: time,
      reason: text,
      message: text,
    }),
  ),
  addresses: listBy('type', fields({ type: kept(text), address: kept(text) })),
  daemonEndpoints: fields({ kubeletEndpoint: fields({ Port: kept(int) }) }),
  nodeInfo: nodeSystemInfo,
  images: list(fields({ names: list(text), sizeBytes: int })),
  volumesInUse: list(text),
  volumesAttached: list(fields({ name: kept(text), devicePath: kept(text) })),
  config: json,
  runtimeHandlers: list(
    fields({
      name: kept(text),
      features: fields({ recursiveReadOnlyMounts: kept(bool), userNamespaces: kept(bool) }),
    }),
  ),
  features: fields({ supplementalGroupsPolicy: kept(bool) }),
  declaredFeatures: list(text),
});

/** Node. */
export const node = kindOf({
  spec: fields({
    podCIDR: text,
    podCIDRs: setOf(text),
    providerID: text,
    unschedulable: bool,
    taints: list(fields({ key: kept(text), value: text, effect: kept(text), timeAdded: time })),
    configSource: json,
    externalID: text,
  }),
  status: nodeStatus,
});

const requirements = fields({
  rawSelector: text,
  requirements: labelSelector.fields['matchExpressions'] ?? json,
});

/** SelfSubjectReview. */
export const selfSubjectReview = kindOf({
  status: fields({ userInfo: json }),
});

/** SelfSubjectAccessReview. */
export const selfSubjectAccessReview = kindOf({
  spec: fields({
    resourceAttributes: fields({
      namespace: text,
      verb: text,
      group: text,
      version: text,
      resource: text,
      subresource: text,
      name: text,
      fieldSelector: requirements,
      labelSelector: requirements,
    }),
    nonResourceAttributes: fields({ path: text, verb: text }),
  }),
  status: fields({
    allowed: kept(bool),
    denied: bool,
    reason: text,
    evaluationError: text,
  }),
});
