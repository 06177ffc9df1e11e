import { resourceRequirements } from './container.ts';
import {
  bool,
  fields,
  int,
  json,
  kept,
  list,
  listBy,
  mapOf,
  quantity,
  text,
  time,
} from './field-schema.ts';

const containerState = fields({
  waiting: fields({ reason: text, message: text }),
  running: fields({ startedAt: time }),
  terminated: fields({
    exitCode: kept(int),
    signal: int,
    reason: text,
    message: text,
    startedAt: time,
    finishedAt: time,
    containerID: text,
  }),
});

const resourceHealth = list(
  fields({
    name: kept(text),
    resources: list(fields({ resourceID: kept(text), health: text, message: text })),
  }),
);

const containerStatuses = list(
  fields({
    name: kept(text),
    state: containerState,
    lastState: containerState,
    ready: kept(bool),
    restartCount: kept(int),
    image: kept(text),
    imageID: kept(text),
    containerID: text,
    started: kept(bool),
    allocatedResources: mapOf(quantity),
    resources: resourceRequirements,
    volumeMounts: listBy(
      'mountPath',
      fields({
        name: kept(text),
        mountPath: kept(text),
        readOnly: bool,
        recursiveReadOnly: kept(text),
        volumeStatus: json,
      }),
    ),
    user: fields({
      linux: fields({
        uid: kept(int),
        gid: kept(int),
        supplementalGroups: list(kept(int)),
      }),
    }),
    allocatedResourcesStatus: resourceHealth,
    stopSignal: kept(text),
  }),
);

/** PodStatus. */
export const podStatus = fields({
  observedGeneration: int,
  phase: text,
  conditions: listBy(
    'type',
    fields({
      type: kept(text),
      observedGeneration: int,
      status: kept(text),
      lastProbeTime: time,
      lastTransitionTime: time,
      reason: text,
      message: text,
    }),
  ),
  message: text,
  reason: text,
  nominatedNodeName: text,
  hostIP: text,
  hostIPs: listBy('ip', fields({ ip: kept(text) })),
  podIP: text,
  podIPs: listBy('ip', fields({ ip: kept(text) })),
  startTime: time,
  initContainerStatuses: containerStatuses,
  containerStatuses,
  qosClass: text,
  ephemeralContainerStatuses: containerStatuses,
  resize: text,
  resourceClaimStatuses: listBy(
    'name',
    fields({ name: kept(text), resourceClaimName: kept(text) }),
  ),
  extendedResourceClaimStatus: fields({
    requestMappings: list(
      fields({
        containerName: kept(text),
        resourceName: kept(text),
        requestName: kept(text),
      }),
    ),
    resourceClaimName: kept(text),
  }),
  allocatedResources: mapOf(quantity),
  resources: resourceRequirements,
});
