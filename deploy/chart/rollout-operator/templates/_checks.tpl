{{/* Refuses values that would be ignored, or would make an operator that cannot work; all of them at once. */}}
{{- define "rollout-operator.check" -}}
{{- $found := include "rollout-operator.problems" . | trim -}}
{{- if $found -}}
{{- fail (printf "these values cannot be installed:\n%s" $found) -}}
{{- end -}}
{{- end -}}

{{- define "rollout-operator.problems" -}}
{{ include "rollout-operator.problemsOfPeer" . }}
{{ include "rollout-operator.problemsOfReplicas" . }}
{{ include "rollout-operator.problemsOfFlags" . }}
{{ include "rollout-operator.problemsOfLabels" . }}
{{ include "rollout-operator.problemsOfPolicy" . }}
{{ include "rollout-operator.problemsOfCluster" . }}
{{- end -}}

{{/* Values of the chart of grafana/rollout-operator that mean something else here, or nothing yet. */}}
{{- define "rollout-operator.problemsOfPeer" -}}
{{- if regexMatch "(^|/)grafana/rollout-operator$" .Values.image.repository }}
- image.repository is "{{ .Values.image.repository }}", which is the program that this one replaces: name the image of this operator, or leave the value out
{{- end }}
{{- if eq (toString .Values.enabled) "false" }}
- enabled is false, which is for a chart that has this one as a dependency with this condition: alone, do not install it
{{- end }}
{{- if not .Values.disruptionBudgets.enabled }}
{{- with (.Values.webhooks.failurePolicies).podEviction }}
- webhooks.failurePolicies.podEviction is "{{ . }}", but disruptionBudgets.enabled is false, so that no eviction is reviewed: leave the value out
{{- end }}
{{- end }}
{{- if and .Values.webhooks.zoneAwarePodDisruptionBudgets (not .Values.disruptionBudgets.enabled) }}
- webhooks.zoneAwarePodDisruptionBudgets has {{ len .Values.webhooks.zoneAwarePodDisruptionBudgets }}, but disruptionBudgets.enabled is false, so that the Role does not permit to obey them: leave one of the two out
{{- end }}
{{- range .Values.webhooks.zoneAwarePodDisruptionBudgets }}
{{- if and (not (kindIs "invalid" .maxUnavailable)) (not (kindIs "invalid" .maxUnavailablePercentage)) }}
- webhooks.zoneAwarePodDisruptionBudgets has {{ .name | quote }} with both maxUnavailable and maxUnavailablePercentage: leave one out
{{- end }}
{{- end }}
{{- if .Values.webhooks.objectSelector }}
- webhooks.objectSelector is set, but a Scale has no labels to select by, so that "kubectl scale" and autoscalers would pass unseen, or unasked sets be refused: leave the value out; only sets with the labels of the webhooks are refused anything
{{- end }}
{{- if kindIs "invalid" .Values.namespaceSelector }}
- namespaceSelector is null, but the operator may read the StatefulSets of its own namespace only, and would refuse to have those of others scaled down: leave the value out
{{- else if .Values.namespaceSelector.matchLabels }}
{{- $named := get .Values.namespaceSelector.matchLabels "kubernetes.io/metadata.name" }}
{{- if ne $named .Release.Namespace }}
- namespaceSelector.matchLabels must have "kubernetes.io/metadata.name: {{ .Release.Namespace }}" (it has {{ $named | default "none" | quote }}), as the operator may read the StatefulSets of its own namespace only, and would refuse to have those of others scaled down
{{- end }}
{{- end }}
{{- end -}}

{{- define "rollout-operator.problemsOfReplicas" -}}
{{- if gt (int .Values.replicas) 1 }}
{{- if eq .Values.rbac.role "peer" }}
- replicas is {{ .Values.replicas }}, but rbac.role "peer" permits no Lease, by which replicas agree on who works: set replicas to 1, or rbac.role to "ours"
{{- end }}
{{- if not (include "rollout-operator.hasFlag" (dict "root" . "name" "leader-election.enabled" "default" "true")) }}
- replicas is {{ .Values.replicas }}, but extraArgs switch the leader election off: set replicas to 1, or leave -leader-election.enabled out
{{- end }}
{{- end }}
{{- end -}}

{{/* Flags that other objects of the chart must agree with, and do not follow. */}}
{{- define "rollout-operator.problemsOfFlags" -}}
{{- $isServing := toString .Values.webhooks.enabled }}
{{- $asked := include "rollout-operator.hasFlag" (dict "root" . "name" "server-tls.enabled" "default" $isServing) | default "false" }}
{{- if ne $asked $isServing }}
- extraArgs set -server-tls.enabled to {{ $asked }}, but webhooks.enabled is {{ $isServing }}: set that value, and leave the flag out
{{- end }}
{{- $namespace := include "rollout-operator.flag" (dict "root" . "name" "kubernetes.namespace" "default" .Release.Namespace) }}
{{- if not (has $namespace (list .Release.Namespace "$(NAMESPACE)")) }}
- extraArgs set -kubernetes.namespace to "{{ $namespace }}", but the Role is for "{{ .Release.Namespace }}": install the chart into the namespace of the StatefulSets
{{- end }}
{{- if and (not .Values.webhooks.enabled) (include "rollout-operator.hasFlag" (dict "root" . "name" "use-zone-tracker" "default" "false")) }}
- extraArgs set -use-zone-tracker, but the webhooks write what it reads, and webhooks.enabled is false: leave the flag out
{{- end }}
{{- $isValue := false }}
{{- $stray := "" }}
{{- range $index, $each := .Values.extraArgs }}
{{- $arg := toString $each }}
{{- if $isValue }}
{{- $isValue = false }}
{{- else if and (not $stray) (or (has $arg (list "-" "--")) (not (regexMatch "^(-|\\$\\()" $arg))) }}
{{- $stray = printf "extraArgs[%d] is %q, which is no flag" $index $arg }}
{{- else if and (hasPrefix "-" $arg) (not (contains "=" $arg)) }}
{{- $isValue = not (has (regexReplaceAll "^--?" $arg "") (include "rollout-operator.booleanFlags" . | trim | splitList " ")) }}
{{- end }}
{{- end }}
{{- with $stray }}
- {{ . }}, so that the operator would read neither it nor what follows it: write flags as "-name=value", those that are true or false as "-name=true"
{{- end }}
{{- if include "rollout-operator.hasEnv" (dict "root" . "name" "NAMESPACE") }}
- extraEnv sets NAMESPACE, by which the operator learns of its own namespace: use another name
{{- end }}
{{- end -}}

{{- define "rollout-operator.problemsOfLabels" -}}
{{- $own := include "rollout-operator.ownLabels" . | fromYaml }}
{{- $selector := include "rollout-operator.selectorLabels" . | fromYaml }}
{{- $monitored := merge (dict) $own (.Values.global.commonLabels | default dict) }}
{{- range $key, $_ := .Values.global.commonLabels }}
{{- if hasKey $own $key }}
- global.commonLabels has "{{ $key }}", which the chart sets itself: leave it out
{{- else if has $key (list "grafana.com/inject-rollout-operator-ca" "grafana.com/namespace") }}
- global.commonLabels has "{{ $key }}", by which the operator finds its webhook configurations: leave it out
{{- end }}
{{- end }}
{{- range $key, $_ := .Values.podLabels }}
{{- if hasKey $selector $key }}
- podLabels has "{{ $key }}", by which the Deployment finds its pods: leave it out
{{- end }}
{{- end }}
{{- range $key, $_ := .Values.serviceMonitor.labels }}
{{- if hasKey $monitored $key }}
- serviceMonitor.labels has "{{ $key }}", which the chart or global.commonLabels set: leave it out
{{- end }}
{{- end }}
{{- end -}}

{{- define "rollout-operator.problemsOfPolicy" -}}
{{- if .Values.networkPolicy.enabled }}
{{- if .Values.hostNetwork }}
- networkPolicy.enabled is true, but no NetworkPolicy reaches pods with hostNetwork: set one of them to false
{{- end }}
{{- if and .Values.webhooks.enabled (not .Values.networkPolicy.apiServers) }}
- networkPolicy.apiServers is empty, so that no API server could call the webhooks, and every change of a StatefulSet would be refused: list their addresses, such as {ipBlock: {cidr: 192.0.2.0/24}}
{{- end }}
{{- if not .Values.networkPolicy.nodes }}
- networkPolicy.nodes is empty, so that no kubelet could probe the operator: list their addresses, such as {ipBlock: {cidr: 198.51.100.0/24}}
{{- end }}
{{- end }}
{{- end -}}

{{/* What would be replaced while it works. Without a cluster, as in "helm template", nothing is found. */}}
{{- define "rollout-operator.problemsOfCluster" -}}
{{- $name := include "rollout-operator.fullname" . }}
{{- $all := (lookup "apps/v1" "Deployment" .Release.Namespace "").items }}
{{- range $all }}
{{- $labels := dig "metadata" "labels" dict . }}
{{- $release := get $labels "app.kubernetes.io/instance" }}
{{- if and (dig "status" "replicas" 0 .) (ne .metadata.name $name) (hasPrefix "rollout-operator-" (get $labels "helm.sh/chart" | default "")) }}
- the Deployment "{{ .metadata.name }}" of the release "{{ $release }}" works in namespace "{{ $.Release.Namespace }}" already, and two operators must never work on the same StatefulSets: upgrade that release, or scale it to 0 and wait until its pods are gone
{{- end }}
{{- end }}
{{- $found := dict }}
{{- range $all }}{{- if eq .metadata.name $name }}{{- $found = . }}{{- end }}{{- end }}
{{- $pods := dig "status" "replicas" 0 $found }}
{{- range dig "spec" "template" "spec" "containers" list $found }}
{{- if and $pods (regexMatch "(^|/)grafana/rollout-operator([:@]|$)" (.image | default "")) }}
- the Deployment "{{ $name }}" still runs "{{ .image }}" ({{ $pods }} of its pods), and the two programs must never work at once: scale it to 0, wait until its pods are gone, and try again; replicas are set by this chart
{{- end }}
{{- end }}
{{- end -}}
