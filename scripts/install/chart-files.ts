/** The Helm chart, from what deploy/ is generated from. What has no source but itself is in {@link handWritten}. */
import { operatorFlags } from '#config/flags/flags.ts';
import { zoneAwarePodDisruptionBudgetDefinition } from '#disruption-budget/api.ts';
import { phasedRolloutDefinition } from '#phased-rollout/definition.ts';
import { replicaTemplateDefinition } from '#replica-coordination/replica-template.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import { affinityOf, chartDeployment } from './chart-deployment.ts';
import { chartObjects } from './chart-objects.ts';
import { chartRoles } from './chart-roles.ts';
import { chartSchema } from './chart-schema.ts';
import { chartValues } from './chart-values.ts';
import { header, yaml } from './manifest-text.ts';
import { template } from './template.ts';

/** Files of the chart that nothing generates. */
export const handWritten: readonly string[] = [
  '.helmignore',
  'templates/NOTES.txt',
  'templates/_checks.tpl',
  'templates/_helpers.tpl',
  'templates/zone-aware-pod-disruption-budgets.yaml',
];

const note = header.replace('generate-deploy', 'generate-install');
const templateNote = `{{/* ${note.replace(/^# |\n$/g, '')} */}}`;

/** The generated files of the chart by their paths in it. @param version of the program and of the chart */
export function chartFiles(version: string): Readonly<Record<string, string>> {
  const templates = {
    ...chartObjects(),
    ...chartRoles(),
    'deployment.yaml': deploymentOf(version),
  };
  return {
    'Chart.yaml': `${note}${yaml(chartOf(version))}`,
    'values.yaml': `${note}${chartValues(version)}`,
    'values.schema.json': `${JSON.stringify(chartSchema, undefined, 2)}\n`,
    'charts/crds/Chart.yaml': `${note}${yaml(definitionsOf(version))}`,
    'charts/crds/crds/phased-rollout-definition.yaml': `${note}${yaml(phasedRolloutDefinition)}`,
    'charts/crds/crds/replica-template-definition.yaml': `${note}${yaml(replicaTemplateDefinition)}`,
    'charts/crds/crds/statefulset-rollout-definition.yaml': `${note}${yaml(statefulsetRolloutDefinition)}`,
    'charts/crds/crds/zone-aware-pod-disruption-budget-definition.yaml': `${note}${yaml(zoneAwarePodDisruptionBudgetDefinition)}`,
    'templates/_affinity.tpl': affinity(version),
    'templates/_flags.tpl': booleanFlags(),
    ...Object.fromEntries(
      Object.entries(templates).map(([file, text]) => [`templates/${file}`, `${note}${text}`]),
    ),
  };
}

function chartOf(version: string): object {
  return {
    apiVersion: 'v2',
    // Deployments made by the peer's chart are found by labels that carry this name.
    name: 'rollout-operator',
    description: 'One Kubernetes operator for every StatefulSet rollout',
    type: 'application',
    version,
    appVersion: version,
    dependencies: [{ name: 'crds', version, condition: 'crds.enabled' }],
  };
}

function definitionsOf(version: string): object {
  return {
    apiVersion: 'v2',
    name: 'crds',
    description: 'The custom resource definitions that this version of rollout-operator has',
    type: 'application',
    version,
  };
}

function deploymentOf(version: string): string {
  return `{{- include "rollout-operator.check" . }}\n${template([chartDeployment(version)])}`;
}

/** What a word after a flag is, its value or none, depends on the flag. */
function booleanFlags(): string {
  const names = operatorFlags().set.booleanNames();
  return `${templateNote}
{{- define "rollout-operator.booleanFlags" -}}
${names.join(' ')}
{{- end -}}
`;
}

function affinity(version: string): string {
  const usual = template([affinityOf(version)])
    .replace('---\n', '')
    .trimEnd();
  return `${templateNote}
{{- define "rollout-operator.affinity" -}}
{{- if .Values.affinity -}}
{{ toYaml .Values.affinity }}
{{- else -}}
${usual}
{{- end -}}
{{- end -}}
`;
}
