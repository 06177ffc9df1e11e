{{/* Names. */}}

{{- define "rollout-operator.name" -}}
{{- .Values.nameOverride | default (.Chart.Name | replace "_" "-") | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "rollout-operator.fullname" -}}
{{- $name := .Values.nameOverride | default (.Chart.Name | replace "_" "-") -}}
{{- $generated := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- .Values.fullnameOverride | default $generated | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* What names of the cluster begin with: for the usual name as the peer's; for others with dots, which neither part of them has, so that no two releases have one. */}}
{{- define "rollout-operator.clusterPrefix" -}}
{{- $fullname := include "rollout-operator.fullname" . -}}
{{- $separator := ternary "-" "." (eq $fullname .Chart.Name) -}}
{{- print $fullname $separator .Release.Namespace $separator -}}
{{- end -}}

{{/* ServiceMonitors of several releases may be in one namespace. */}}
{{- define "rollout-operator.monitorName" -}}
{{- include "rollout-operator.fullname" . -}}
{{- if ne .Release.Namespace (.Values.serviceMonitor.namespace | default .Release.Namespace) -}}.{{ .Release.Namespace }}{{- end -}}
{{- end -}}

{{- define "rollout-operator.serviceAccountName" -}}
{{- $usual := ternary (include "rollout-operator.fullname" .) "default" .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default $usual -}}
{{- end -}}

{{- define "rollout-operator.image" -}}
{{- with .Values.image.registry }}{{ . }}/{{ end -}}
{{- .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion -}}
{{- end -}}

{{/* Labels. Those of the selector are what the chart of grafana/rollout-operator has, and can never change. */}}

{{- define "rollout-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "rollout-operator.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "rollout-operator.ownLabels" -}}
{{ include "rollout-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" (.Chart.Name | replace "_" "-") .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
{{- end -}}

{{- define "rollout-operator.labels" -}}
{{ include "rollout-operator.ownLabels" . }}
{{- with .Values.global.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "rollout-operator.podLabels" -}}
{{ include "rollout-operator.selectorLabels" . }}
{{- with .Values.podLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "rollout-operator.monitorLabels" -}}
{{- with .Values.serviceMonitor.labels }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{/* Flags. The last one counts, and those of extraArgs come last. */}}

{{/* What the program takes for flag .name: what extraArgs say last, else .default. A flag .isBoolean may be alone. */}}
{{- define "rollout-operator.flag" -}}
{{- $found := .default -}}
{{- $args := .root.Values.extraArgs -}}
{{- $pattern := printf "^--?%s(=|$)" (regexQuoteMeta .name) -}}
{{- $isBoolean := .isBoolean -}}
{{- range $index, $arg := $args -}}
{{- if regexMatch $pattern (toString $arg) -}}
{{- if contains "=" $arg -}}
{{- $found = regexReplaceAll "^[^=]*=" $arg "" -}}
{{- else if $isBoolean -}}
{{- $found = "true" -}}
{{- else if lt (add1 $index) (int64 (len $args)) -}}
{{- $found = index $args (add1 $index) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $found -}}
{{- end -}}

{{/* "true" or nothing: flag .name as Go reads a boolean. */}}
{{- define "rollout-operator.hasFlag" -}}
{{- $value := include "rollout-operator.flag" (merge (dict "isBoolean" true) .) -}}
{{- if has $value (list "1" "t" "T" "TRUE" "true" "True") -}}true{{- end -}}
{{- end -}}

{{- define "rollout-operator.hasZoneTracker" -}}
{{- if .Values.webhooks.enabled -}}
{{- include "rollout-operator.hasFlag" (dict "root" . "name" "use-zone-tracker" "default" (toString .Values.zoneTracker.enabled)) -}}
{{- end -}}
{{- end -}}

{{- define "rollout-operator.zoneTrackerName" -}}
{{- include "rollout-operator.flag" (dict "root" . "name" "zone-tracker.config-map-name" "default" .Values.zoneTracker.configMapName) -}}
{{- end -}}

{{- define "rollout-operator.secretName" -}}
{{- include "rollout-operator.flag" (dict "root" . "name" "server-tls.self-signed-cert.secret-name" "default" .Values.webhooks.selfSignedCertSecretName) -}}
{{- end -}}

{{- define "rollout-operator.leaseName" -}}
{{- include "rollout-operator.flag" (dict "root" . "name" "leader-election.resource-name" "default" "rollout-operator") -}}
{{- end -}}

{{/* "true" where extraEnv has .name. */}}
{{- define "rollout-operator.hasEnv" -}}
{{- $name := .name -}}
{{- range .root.Values.extraEnv -}}{{- if eq .name $name -}}true{{- end -}}{{- end -}}
{{- end -}}

{{/* Parts of objects. */}}

{{/* "true" where this release may make object .name of .kind: there is none, or it is of this release. */}}
{{- define "rollout-operator.mayShip" -}}
{{- $found := lookup "v1" .kind .root.Release.Namespace .name -}}
{{- $owner := dig "metadata" "annotations" "meta.helm.sh/release-name" "" ($found | default dict) -}}
{{- if or (not $found) (eq $owner .root.Release.Name) -}}true{{- end -}}
{{- end -}}

{{- define "rollout-operator.failurePolicy" -}}
{{- $each := .root.Values.webhooks.failurePolicies | default dict -}}
{{- get $each .webhook | default .root.Values.webhooks.failurePolicy | default "Fail" -}}
{{- end -}}

{{- define "rollout-operator.reviewedNamespaces" -}}
{{- $own := dict "kubernetes.io/metadata.name" .Release.Namespace -}}
{{- toYaml (merge $own ((.Values.namespaceSelector).matchLabels | default dict)) -}}
{{- end -}}

{{- define "rollout-operator.monitorNamespaces" -}}
{{- toYaml (.Values.serviceMonitor.namespaceSelector | default (dict "matchNames" (list .Release.Namespace))) -}}
{{- end -}}
