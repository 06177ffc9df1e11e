import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { microTimestamp, timestamp } from '../clock/timestamp.ts';
import type { NodeConfig } from './node-fleet-options.ts';

/** Returns the Node object of a configured node (KU-1). */
export function nodeBody(node: NodeConfig): JsonObject {
  const zone = node.zone === undefined ? {} : { 'topology.kubernetes.io/zone': node.zone };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: node.name,
      labels: {
        'kubernetes.io/hostname': node.name,
        'kubernetes.io/os': 'linux',
        'topology.kubernetes.io/region': 'local',
        ...zone,
        ...node.labels,
      },
    },
    spec: {},
  };
}

/** Returns a Ready condition of a node. */
export function nodeReady(status: 'True' | 'Unknown', now: Instant): JsonObject {
  const isReady = status === 'True';
  return {
    type: 'Ready',
    status,
    reason: isReady ? 'KubeletReady' : 'NodeStatusUnknown',
    message: isReady ? 'kubelet is posting ready status' : 'Kubelet stopped posting node status.',
    lastHeartbeatTime: timestamp(now),
    lastTransitionTime: timestamp(now),
  };
}

/** Returns what a node says of itself, as far as it is known here; all members are required. */
function nodeInfo(version: string): JsonObject {
  return {
    architecture: 'amd64',
    bootID: '',
    containerRuntimeVersion: 'played://0',
    kernelVersion: 'none',
    kubeProxyVersion: '',
    kubeletVersion: version,
    machineID: '',
    operatingSystem: 'linux',
    osImage: 'embedded cluster',
    systemUUID: '',
  };
}

/** Returns the merge document of a node's first status: capacity, address, Ready. `version`: that of its kubelet. */
export function nodeStatus(
  node: NodeConfig,
  { address, version, now }: { address: string; version: string; now: Instant },
): JsonObject {
  const capacity = { cpu: '1000', memory: '4Ti', pods: String(node.podCapacity ?? 10_000) };
  return {
    status: {
      capacity,
      allocatable: capacity,
      addresses: [
        { type: 'InternalIP', address },
        { type: 'Hostname', address: node.name },
      ],
      conditions: [nodeReady('True', now)],
      nodeInfo: nodeInfo(version),
    },
  };
}

/** Returns the Lease by which a node shows that it lives. */
export function leaseBody(node: string, now: Instant): JsonObject {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: node, namespace: 'kube-node-lease' },
    spec: { holderIdentity: node, leaseDurationSeconds: 40, renewTime: microTimestamp(now) },
  };
}
