/** values.yaml of the chart: the words of the chart of grafana/rollout-operator, with what deploy/ says as defaults. */
import { usualNames } from '#operator/permissions/permissions.ts';
import { valuesOfDeployment } from './chart-deployment.ts';
import { yaml } from './manifest-text.ts';

/** See above. @param version of the program */
export function chartValues(version: string): string {
  const source = valuesOfDeployment(version);
  const under = (value: unknown): string =>
    yaml(value as object)
      .trimEnd()
      .replaceAll(/^/gm, '  ');
  return `${first(source, under)}${second(under(source['resources']))}`;
}

function first(
  { replicas, repository, podSecurityContext, securityContext }: Readonly<Record<string, unknown>>,
  under: (value: unknown) => string,
): string {
  return `global:
  # Labels for all objects of this chart.
  commonLabels: {}

# Two, so that webhooks are answered while one is away; one of them works at a time. Under rbac.role "peer": 1.
replicas: ${String(replicas)}

# How many old ReplicaSets are kept.
revisionHistoryLimit: 10

image:
  # Before the repository, such as docker.io; none where empty.
  registry: ""
  repository: ${String(repository)}
  pullPolicy: IfNotPresent
  # The version of the program where empty.
  tag: ""

imagePullSecrets: []

hostAliases: []

# Whether pods use the network of their node.
hostNetwork: false

nameOverride: ""
fullnameOverride: ""

serviceAccount:
  # Whether one is made. Otherwise that of serviceAccount.name is used, or "default".
  create: true
  annotations: {}
  # The full name of the release where empty.
  name: ""

rbac:
  # "ours": what this version uses, object by object. "peer": the Roles of grafana/rollout-operator, for places where
  # no account may change them; without Events, with one replica, and a wait of two minutes after each start.
  role: ours

crds:
  # Whether the chart in charts/crds installs the definitions of ReplicaTemplate, ZoneAwarePodDisruptionBudget, PhasedRollout
  # and StatefulsetRollout.
  enabled: true

# Annotations of the Deployment.
annotations: {}

podAnnotations: {}

# More labels for the pods.
podLabels: {}

podSecurityContext:
${under(podSecurityContext)}

securityContext:
${under(securityContext)}

# More flags; of a flag that is there twice the last counts, which is one of these.
extraArgs: []

# More variables. NODE_OPTIONS replaces ours, which ends the heap before the memory limit does.
extraEnv: []

# More variables, from Secrets and ConfigMaps.
extraEnvFrom: []

`;
}

function second(resources: string): string {
  return `resources:
${resources}

minReadySeconds: 0

nodeSelector: {}

tolerations: []

# On two nodes where there are two, where empty.
affinity: {}

priorityClassName: ""

podDisruptionBudget:
  # Whether nodes are drained one after the other.
  enabled: true

disruptionBudgets:
  # Whether ZoneAwarePodDisruptionBudgets are obeyed: evictions are reviewed, with webhooks, and one ConfigMap a budget
  # notes which of its pods are given away. No rule can restrict whose ConfigMaps are made, so that false grants less.
  enabled: true

phasedRollouts:
  # Whether PhasedRollouts of the namespace are carried out by the same process, and reviewed where webhooks are enabled.
  enabled: false

statefulsetRollouts:
  # Whether StatefulsetRollouts of the namespace are carried out by the same process.
  enabled: false

networkPolicy:
  # Whether only those below reach the operator. Each is a list of what a NetworkPolicy has under "from".
  enabled: false
  # The API servers, which call the webhooks.
  apiServers: []
  # The nodes, whose kubelets probe.
  nodes: []
  # What scrapes.
  prometheus: []

serviceMonitor:
  enabled: false
  # That of the release where null.
  namespace: null
  # That of the release where empty.
  namespaceSelector: {}
  annotations: {}
  labels: {}
  interval: null
  scrapeTimeout: null
  relabelings: []

webhooks:
  # Whether scale-downs are reviewed, and pods prepared for them; and evictions, under disruption budgets.
  enabled: true
  # Of prepare-downscale, in seconds, 1 to 30.
  timeoutSeconds: 10
  # Whether a change is refused ("Fail") or made ("Ignore") when its review fails.
  failurePolicy: Fail
  # The same for one webhook.
  failurePolicies:
    noDownscale: null
    prepareDownscale: null
    podEviction: null
    zpdbValidation: null
  # The Secret of the certificate, which the operator makes and renews.
  selfSignedCertSecretName: ${usualNames.secret}
  # A ConfigMap of the namespace with ca.crt, the CAs of the client certificate that the API servers present to
  # webhooks: no other client is answered then. Every client that reaches the port is, where empty.
  clientCaConfigMap: ""
  # ZoneAwarePodDisruptionBudgets that are made, each with name and matchLabels, and maybe labels, annotations,
  # maxUnavailable or maxUnavailablePercentage, podNamePartitionRegex, podNameRegexGroup and crossZoneEvictionDelay. They
  # are reviewed: with failurePolicy Fail they cannot be made by the first installation, whose operator does not run yet.
  zoneAwarePodDisruptionBudgets: []

zoneTracker:
  # Whether the times of down-scales are kept in one ConfigMap, with webhooks; otherwise in annotations of the sets.
  enabled: true
  configMapName: ${usualNames.zoneTracker}

# What else namespaces must have whose StatefulSets are reviewed; that of the release is the only one in question.
namespaceSelector:
  matchExpressions: []
`;
}
