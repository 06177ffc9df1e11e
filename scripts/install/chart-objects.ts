/** The templates of the chart, but for the Deployment and the Roles. */
import { CLAIMS_NAME } from '#admission/claim/claim.ts';
import { sharedPhasedConfigurations } from '#admission/webhook-configuration/phased-webhook-configurations.ts';
import {
  webhookConfigurations,
  webhookService,
} from '#admission/webhook-configuration/webhook-configurations.ts';
import { amend, amendAll, at, type Path } from './amend.ts';
import {
  account,
  all,
  clusterMetadata,
  conditions,
  fullname,
  helper,
  metadata,
  monitorName,
  namespace,
  secretName,
  selectorLabels,
  zoneTrackerName,
} from './chart-words.ts';
import { networkPolicy, podDisruptionBudget } from './operator-files.ts';
import { serviceMonitor } from './service-monitor.ts';
import { bare, block, given, template, text, when } from './template.ts';

const { webhooks, disruptionBudgets, phasedRollouts, zoneTracker } = conditions;

/** By the name of the template. */
export function chartObjects(): Readonly<Record<string, string>> {
  return {
    'service-account.yaml': template([
      when('.Values.serviceAccount.create', {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: metadata(account, { annotations: given('.Values.serviceAccount.annotations') }),
      }),
    ]),
    'pod-disruption-budget.yaml': template([
      when(
        '.Values.podDisruptionBudget.enabled',
        amendAll(podDisruptionBudget, [
          [['metadata'], metadata(fullname)],
          [['spec', 'selector', 'matchLabels'], selectorLabels],
        ]),
      ),
    ]),
    'network-policy.yaml': template([when('.Values.networkPolicy.enabled', chartPolicy())]),
    'service.yaml': template([when(`or ${webhooks} ${conditions.serviceMonitor}`, chartService())]),
    'service-monitor.yaml': template([when(conditions.serviceMonitor, chartMonitor())]),
    'webhook-configurations.yaml': template(
      webhookConfigurations({ namespace, service: fullname }).map((each) =>
        when(conditionOf(each), chartConfiguration(each)),
      ),
    ),
    'phased-rollout-webhook-configurations.yaml': template(
      sharedPhasedConfigurations({ namespace, service: fullname }).map((each) =>
        when(all(webhooks, phasedRollouts), chartPhasedConfiguration(each)),
      ),
    ),
    'webhook-objects.yaml': template([
      shipped('Secret', secretName, webhooks),
      shipped('ConfigMap', CLAIMS_NAME, webhooks),
      shipped('ConfigMap', zoneTrackerName, zoneTracker),
    ]),
  };
}

/** The operator writes it, and the peer may have: one that is there already, of nobody's release, is left alone. */
function shipped(kind: 'Secret' | 'ConfigMap', name: string, condition: string): unknown {
  const arg = name.includes('«') ? `(${name.replace(/[«»]/g, '')})` : `"${name}"`;
  const isOurs = helper('mayShip', `"kind" "${kind}"`, `"name" ${arg}`);
  const type = kind === 'Secret' ? { type: 'Opaque' } : {};
  return when(all(condition, isOurs), {
    apiVersion: 'v1',
    kind,
    ...type,
    metadata: metadata(name),
  });
}

function chartService(): unknown {
  const source = webhookService({});
  const [port] = at(source, ['spec', 'ports']) as readonly object[];
  const metrics = {
    name: 'http-metrics',
    port: bare(helper('flag', '"name" "server.port"', '"default" "8001"')),
    protocol: 'TCP',
    targetPort: 'http-metrics',
  };
  return amendAll(source, [
    [['metadata'], metadata(fullname)],
    [['spec', 'selector'], selectorLabels],
    [
      ['spec', 'ports'],
      [when(conditions.serviceMonitor, metrics), when(webhooks, port)],
    ],
  ]);
}

function chartMonitor(): unknown {
  const values = '.Values.serviceMonitor';
  const endpoint: Path = ['spec', 'endpoints', 0];
  const source = serviceMonitor({});
  return amendAll(source, [
    [
      ['metadata'],
      {
        ...clusterMetadata(monitorName, {
          '...own': block('include "rollout-operator.monitorLabels" .'),
        }),
        namespace: text(`${values}.namespace | default .Release.Namespace`),
        annotations: given(`${values}.annotations`),
      },
    ],
    [['spec', 'selector', 'matchLabels'], selectorLabels],
    [['spec', 'namespaceSelector'], block('include "rollout-operator.monitorNamespaces" .')],
    [[...endpoint, 'interval'], given(`${values}.interval`)],
    [[...endpoint, 'scrapeTimeout'], given(`${values}.scrapeTimeout`)],
    [[...endpoint, 'relabelings'], given(`${values}.relabelings`)],
  ]);
}

/** Where budgets are not obeyed, nothing has to be asked about evictions. */
function conditionOf(source: unknown): string {
  const { name } = at(source, ['metadata']) as { name: string };
  return name.startsWith('pod-eviction-') ? all(webhooks, disruptionBudgets) : webhooks;
}

function chartConfiguration(source: unknown): unknown {
  const hook: Path = ['webhooks', 0];
  const isMutating = at(source, ['kind']) === 'MutatingWebhookConfiguration';
  const { labels, name: own } = at(source, ['metadata']) as { labels: object; name: string };
  const name = policyNames.find(([hook]) => own.startsWith(hook))?.[1] ?? '';
  const policy = text(helper('failurePolicy', `"webhook" "${name}"`));
  const changed = amendAll(source, [
    [['metadata'], clusterMetadata(own, labels)],
    [[...hook, 'failurePolicy'], policy],
    ...conditionsIn(source),
    ...reviewedNamespaces,
  ]);
  return isMutating
    ? amend(changed, [...hook, 'timeoutSeconds'], bare('.Values.webhooks.timeoutSeconds'))
    : changed;
}

/** Older API servers may not know the field, and helm would refuse what it renders for them. */
function conditionsIn(source: unknown): Parameters<typeof amendAll>[1] {
  const [{ matchConditions }] = at(source, ['webhooks']) as readonly [
    { readonly matchConditions?: readonly object[] },
  ];
  if (matchConditions === undefined) return [];
  const isKnown = 'semverCompare ">=1.30-0" .Capabilities.KubeVersion.Version';
  return [[['webhooks', 0, 'matchConditions'], when(isKnown, matchConditions)]];
}

/** Which namespaces webhooks review, as the user says. */
const reviewedNamespaces: Parameters<typeof amendAll>[1] = [
  [
    ['webhooks', 0, 'namespaceSelector', 'matchExpressions'],
    given('(.Values.namespaceSelector).matchExpressions'),
  ],
  [
    ['webhooks', 0, 'namespaceSelector', 'matchLabels'],
    { '...own': block('include "rollout-operator.reviewedNamespaces" .') },
  ],
];

/** Its failure policy is not the user's to choose: the operator holds what cannot be read, reviewed or not. */
function chartPhasedConfiguration(source: unknown): unknown {
  const { labels, name } = at(source, ['metadata']) as { labels: object; name: string };
  return amendAll(source, [[['metadata'], clusterMetadata(name, labels)], ...reviewedNamespaces]);
}

/** What `webhooks.failurePolicies` calls each webhook. */
const policyNames = [
  ['no-downscale-', 'noDownscale'],
  ['prepare-downscale-', 'prepareDownscale'],
  ['pod-eviction-', 'podEviction'],
  ['zpdb-validation-', 'zpdbValidation'],
] as const;

function chartPolicy(): unknown {
  const values = '.Values.networkPolicy';
  const from = (index: number): Path => ['spec', 'ingress', index];
  const [webhookPeers, probers, scrapers] = [0, 1, 2].map((index) =>
    amend(at(networkPolicy, from(index)), ['from'], block(`toYaml ${values}.${peersOf[index]}`)),
  );
  return amendAll(networkPolicy, [
    [['metadata'], metadata(fullname)],
    [['spec', 'podSelector', 'matchLabels'], selectorLabels],
    [
      ['spec', 'ingress'],
      [when(webhooks, webhookPeers), probers, when(`${values}.prometheus`, scrapers)],
    ],
  ]);
}

/** Who is let in by each rule of the example in deploy/, in its order, as values name them. */
const peersOf = ['apiServers', 'nodes', 'prometheus'] as const;
