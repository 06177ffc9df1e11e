/** The Deployment of the chart: that of deploy/, with values where the chart has some. */

import { everything } from './all-files.ts';
import { amendAll, at, type Path } from './amend.ts';
import {
  account,
  any,
  conditions,
  fullname,
  image,
  metadata,
  secretName,
  selectorLabels,
  zoneTrackerName,
} from './chart-words.ts';
import { builtImage, deployment, plain, withWebhooks } from './deployment.ts';
import { bare, block, given, text, when } from './template.ts';

const pod: Path = ['spec', 'template', 'spec'];
const container: Path = [...pod, 'containers', 0];

/** See above. */
export function chartDeployment(version: string): unknown {
  const source = deployment(builtImage(version), withWebhooks);
  const dnsName = `${fullname}.${text('.Release.Namespace')}.svc`;
  const { ports, env } = at(source, container) as {
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
    readonly env: readonly { readonly name: string }[];
  };
  const rest: Readonly<Record<string, unknown>> = at(source, pod) as object as Record<
    string,
    unknown
  >;
  const { containers, ...beside } = rest;
  const named = amendAll(source, [
    [['metadata'], metadata(fullname, { annotations: given('.Values.annotations') })],
    [['spec', 'replicas'], bare('.Values.replicas')],
    [['spec', 'revisionHistoryLimit'], bare('.Values.revisionHistoryLimit')],
    [['spec', 'minReadySeconds'], bare('.Values.minReadySeconds')],
    [['spec', 'selector', 'matchLabels'], selectorLabels],
    [
      ['spec', 'template', 'metadata'],
      {
        annotations: given('.Values.podAnnotations'),
        labels: block('include "rollout-operator.podLabels" .'),
      },
    ],
    [pod, { ...placement, ...beside, containers }],
    [[...pod, 'serviceAccountName'], account],
    [[...pod, 'affinity'], block('include "rollout-operator.affinity" .')],
    [[...pod, 'securityContext'], block('toYaml .Values.podSecurityContext')],
    [
      [...pod, 'volumes'],
      when(clientCa, [
        { name: 'client-ca', configMap: { name: text('.Values.webhooks.clientCaConfigMap') } },
      ]),
    ],
  ]);
  return amendAll(named, [
    [[...container, 'image'], image],
    [[...container, 'imagePullPolicy'], text('.Values.image.pullPolicy')],
    [[...container, 'args'], argumentsOf(dnsName)],
    [
      [...container, 'env'],
      [...env.map(unlessGiven), given('.Values.extraEnv')],
    ],
    [[...container, 'envFrom'], given('.Values.extraEnvFrom')],
    [[...container, 'ports'], ports.map(portOf)],
    [[...container, 'resources'], block('toYaml .Values.resources')],
    [[...container, 'securityContext'], block('toYaml .Values.securityContext')],
    [
      [...container, 'volumeMounts'],
      when(clientCa, [{ name: 'client-ca', mountPath: clientCaFolder, readOnly: true }]),
    ],
  ]);
}

/** Whether clients of the webhooks have to present a certificate. */
const clientCa = 'and .Values.webhooks.enabled .Values.webhooks.clientCaConfigMap';
const clientCaFolder = '/etc/rollout-operator/client-ca';

/** Where pods run, and with what; all of it is the user's. */
const placement = {
  priorityClassName: given('.Values.priorityClassName'),
  imagePullSecrets: given('.Values.imagePullSecrets'),
  hostNetwork: given('.Values.hostNetwork'),
  // Without it such a pod does not find the pods that it calls by their names.
  dnsPolicy: when('.Values.hostNetwork', 'ClusterFirstWithHostNet'),
  hostAliases: given('.Values.hostAliases'),
  nodeSelector: given('.Values.nodeSelector'),
  tolerations: given('.Values.tolerations'),
};

function argumentsOf(dnsName: string): readonly unknown[] {
  const { webhooks, zoneTracker, phasedRollouts, statefulsetRollouts } = conditions;
  const [command] = everything.args;
  const more = withWebhooks.args.slice(plain.args.length);
  const certificate = [
    `-server-tls.self-signed-cert.secret-name=${secretName}`,
    `-server-tls.self-signed-cert.dns-name=${dnsName}`,
  ];
  const isOfTracker = (arg: string): boolean => arg.startsWith('-use-zone-tracker');
  const tracker = [...more.filter(isOfTracker), `-zone-tracker.config-map-name=${zoneTrackerName}`];
  return [
    when(any(phasedRollouts, statefulsetRollouts), command),
    ...plain.args,
    ...[...more.filter((arg) => !isOfTracker(arg)), ...certificate].map((arg) =>
      when(webhooks, arg),
    ),
    when(clientCa, `-server-tls.client-ca=${clientCaFolder}/ca.crt`),
    ...tracker.map((arg) => when(zoneTracker, arg)),
    given('.Values.extraArgs'),
  ];
}

/** NODE_OPTIONS of the user, where there are some, replace ours. */
function unlessGiven(entry: { readonly name: string }): unknown {
  return when(
    `not (include "rollout-operator.hasEnv" (dict "root" . "name" "${entry.name}"))`,
    entry,
  );
}

function portOf(port: { readonly name: string; readonly containerPort: number }): unknown {
  const isOfWebhooks = !plain.ports.some(({ name }) => name === port.name);
  const flag = isOfWebhooks ? 'server-tls.port' : 'server.port';
  const number = `include "rollout-operator.flag" (dict "root" . "name" "${flag}" "default" "${port.containerPort}")`;
  const entry = { name: port.name, containerPort: bare(number), protocol: 'TCP' };
  return isOfWebhooks ? when(conditions.webhooks, entry) : entry;
}

/** What is in values.yaml for what the Deployment of deploy/ says. */
export function valuesOfDeployment(version: string): Readonly<Record<string, unknown>> {
  const source = deployment(builtImage(version), withWebhooks);
  const [repository = ''] = String(at(source, [...container, 'image'])).split(':');
  return {
    replicas: at(source, ['spec', 'replicas']),
    repository,
    podSecurityContext: at(source, [...pod, 'securityContext']),
    securityContext: at(source, [...container, 'securityContext']),
    resources: at(source, [...container, 'resources']),
  };
}

/** The affinity of deploy/, with the labels of the chart, as the helper of that name. */
export function affinityOf(version: string): unknown {
  const source = at(deployment(builtImage(version), withWebhooks), [...pod, 'affinity']);
  const labels: Path = [
    'podAntiAffinity',
    'preferredDuringSchedulingIgnoredDuringExecution',
    0,
    'podAffinityTerm',
    'labelSelector',
    'matchLabels',
  ];
  at(source, labels);
  return amendAll(source, [[labels, selectorLabels]]);
}
