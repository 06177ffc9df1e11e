import type { JsonObject } from '#base/json.ts';
import { addresses } from './install-variants.ts';

/** Values that are refused, and with which words. */
export const refusals: Readonly<
  Record<string, { readonly values: JsonObject; readonly says: RegExp }>
> = {
  'an unknown value': {
    values: { replicaCount: 2 },
    says: /replicaCount/,
  },
  "a value of the peer's chart of the wrong type": {
    values: { minReadySeconds: 'soon' },
    says: /minReadySeconds/,
  },
  'a failure policy that the API does not have': {
    values: { webhooks: { failurePolicy: 'Retry' } },
    says: /failurePolicy/,
  },
  "the peer's image": {
    values: { image: { registry: 'docker.io', repository: 'grafana/rollout-operator' } },
    says: /image\.repository is "grafana\/rollout-operator", which is the program that this one replaces/,
  },
  'two replicas under a Role without leases': {
    values: { rbac: { role: 'peer' } },
    says: /replicas is 2, but rbac\.role "peer" permits no Lease/,
  },
  'two replicas without an election': {
    values: { extraArgs: ['-leader-election.enabled=false'] },
    says: /replicas is 2, but extraArgs switch the leader election off/,
  },
  'a failure policy of a webhook that is not installed': {
    values: {
      disruptionBudgets: { enabled: false },
      webhooks: { failurePolicies: { podEviction: 'Fail' } },
    },
    says: /webhooks\.failurePolicies\.podEviction is "Fail", but disruptionBudgets\.enabled is false/,
  },
  'budgets that the Role does not permit to obey': {
    values: {
      disruptionBudgets: { enabled: false },
      webhooks: { zoneAwarePodDisruptionBudgets: [{ name: 'a', matchLabels: { app: 'a' } }] },
    },
    says: /webhooks\.zoneAwarePodDisruptionBudgets has 1, but disruptionBudgets\.enabled is false/,
  },
  'a budget with two limits': {
    values: {
      webhooks: {
        zoneAwarePodDisruptionBudgets: [
          { name: 'a', matchLabels: {}, maxUnavailable: 0, maxUnavailablePercentage: 5 },
        ],
      },
    },
    says: /has "a" with both maxUnavailable and maxUnavailablePercentage: leave one out/,
  },
  'a budget that selects nothing': {
    values: { webhooks: { zoneAwarePodDisruptionBudgets: [{ name: 'a' }] } },
    says: /matchLabels/,
  },
  'an object selector, which no Scale matches': {
    values: { webhooks: { objectSelector: { matchLabels: { app: 'loki' } } } },
    says: /webhooks\.objectSelector is set, but a Scale has no labels/,
  },
  'reviews of every namespace': {
    values: { namespaceSelector: null },
    says: /namespaceSelector is null, but the operator may read the StatefulSets of its own namespace only/,
  },
  'reviews of another namespace': {
    values: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'other' } } },
    says: /namespaceSelector\.matchLabels must have "kubernetes\.io\/metadata\.name: cells" \(it has "other"\)/,
  },
  'a flag against the value for it': {
    values: { webhooks: { enabled: false }, extraArgs: ['--server-tls.enabled'] },
    says: /extraArgs set -server-tls\.enabled to true, but webhooks\.enabled is false/,
  },
  'a word that is no flag, after a boolean': {
    values: { extraArgs: ['-log.level', 'info', '-use-zone-tracker', 'true', '-server.port=9001'] },
    says: /extraArgs\[3\] is "true", which is no flag, so that the operator would read neither it nor what follows it: write flags as "-name=value", those that are true or false as "-name=true"/,
  },
  'a word that is no flag, first': {
    values: { extraArgs: ['info'] },
    says: /extraArgs\[0\] is "info", which is no flag/,
  },
  'two dashes, which end the flags': {
    values: { extraArgs: ['--use-zone-tracker', '--', '-server.port=9001'] },
    says: /extraArgs\[1\] is "--", which is no flag/,
  },
  'an empty argument': {
    values: { extraArgs: ['-log.level=info', ''] },
    says: /extraArgs\[1\] is "", which is no flag/,
  },
  'a flag that leads into another namespace': {
    values: { extraArgs: ['-kubernetes.namespace', 'other'] },
    says: /extraArgs set -kubernetes\.namespace to "other", but the Role is for "cells"/,
  },
  'the zone tracker without webhooks': {
    values: { webhooks: { enabled: false }, extraArgs: ['-use-zone-tracker'] },
    says: /extraArgs set -use-zone-tracker, but the webhooks write what it reads/,
  },
  'a variable that the operator needs': {
    values: { extraEnv: [{ name: 'NAMESPACE', value: 'x' }] },
    says: /extraEnv sets NAMESPACE/,
  },
  'a label of the selector for pods': {
    values: { podLabels: { 'app.kubernetes.io/name': 'x' } },
    says: /podLabels has "app\.kubernetes\.io\/name", by which the Deployment finds its pods/,
  },
  'a label of the chart for all': {
    values: { global: { commonLabels: { 'app.kubernetes.io/version': 'x' } } },
    says: /global\.commonLabels has "app\.kubernetes\.io\/version", which the chart sets itself/,
  },
  'a label by which webhook configurations are found': {
    values: { global: { commonLabels: { 'grafana.com/namespace': 'x' } } },
    says: /global\.commonLabels has "grafana\.com\/namespace", by which the operator finds its webhook configurations/,
  },
  'a label twice for the ServiceMonitor': {
    values: {
      global: { commonLabels: { team: 'one' } },
      serviceMonitor: { labels: { team: 'two' } },
    },
    says: /serviceMonitor\.labels has "team"/,
  },
  'a NetworkPolicy that locks all out': {
    values: { networkPolicy: { enabled: true } },
    says: /networkPolicy\.apiServers is empty(?:.|\n)*networkPolicy\.nodes is empty/,
  },
  'a NetworkPolicy for pods on the network of their node': {
    values: {
      networkPolicy: { enabled: true, apiServers: addresses, nodes: addresses },
      hostNetwork: true,
    },
    says: /no NetworkPolicy reaches pods with hostNetwork/,
  },
  'a condition of another chart, alone': {
    values: { enabled: false },
    says: /enabled is false, which is for a chart that has this one as a dependency/,
  },
};
