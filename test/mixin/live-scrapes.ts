/** Scrapes of the real program in the states in which it shows all that it can show. */
import { millis } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { formatLedger } from '#disruption/format-ledger.ts';
import { emptyLedger } from '#disruption/ledger.ts';
import { ledgerName } from '#disruption-budget/api.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError } from '#kubernetes/transport/api-error.ts';
import { prepared, reviewDocument } from '#support/admission/admission-requests.ts';
import { WebhookClient } from '#support/admission/webhook-client.ts';
import { freePorts } from '#support/free-ports.ts';
import { budgetOver } from '#support/objects/budgets.ts';
import {
  createReplicaTemplate,
  installReplicaTemplates,
  mirrorAnnotations,
} from '#support/objects/scaling.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { PodFleetServer } from '#support/pods/pod-fleet-server.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { OperatorProcess } from '../integration/stages/operator-program.ts';
import { WebhookStage } from '../integration/stages/webhook-stage.ts';
import { allScrape } from './all-scrape.ts';
import { scrapeWith } from './scrape-with.ts';

const namespace = 'test';
/** Where processes work that are not to lead in place of the one that all happens to. */
const elsewhere = 'other';
const user = { name: 'rollout-operator', groups: ['system:authenticated'] };
const clock = systemClock();

/** All but Events. */
const rules = [
  {
    apiGroups: [
      'apps',
      'admissionregistration.k8s.io',
      'apiextensions.k8s.io',
      'coordination.k8s.io',
      'rollout-operator.grafana.com',
    ],
    resources: ['*'],
    verbs: ['*'],
  },
  { apiGroups: [''], resources: ['pods', 'secrets', 'configmaps'], verbs: ['*'] },
];

/**
 * What scrapes of a few processes of the program got, one text each.
 *
 * @throws {Error} that names what no scrape had, when `signal` aborts before it has
 */
export async function liveScrapes(signal: AbortSignal): Promise<readonly string[]> {
  const pods = new PodFleet(clock);
  const proxy = new PodFleetServer(pods, clock);
  const stage = await WebhookStage.open(user);
  const others: OperatorProcess[] = [];
  try {
    stage.cluster.authorizer.restrict([{ user: user.name, rules }]);
    const env = { HTTP_PROXY: (await proxy.listen()).href };
    await installReplicaTemplates(stage.admin);
    await makeUnreadableBudget(stage);
    await makeGovernedPods(stage);
    const body = { metadata: { name: elsewhere } };
    await stage.admin.create(resourceTypes.namespaces, {}, { body });
    await holdAnotherLease(stage);
    const [limited = 0, shortLived = 0] = await freePorts(2);
    const waiting = startShortLived(stage, shortLived);
    others.push(startLimited(stage, limited), waiting);
    return await Promise.all([
      allScrape(signal),
      leadingScrape(stage, { pods, env }, signal),
      scrapeWith(`http://127.0.0.1:${limited}`, shownByLimited, signal),
      replaceSecret(stage, waiting).then(() =>
        scrapeWith(`http://127.0.0.1:${shortLived}`, shownByWaiting, signal),
      ),
    ]);
  } finally {
    for (const each of others) each.kill('SIGKILL');
    await Promise.all(others.map((each) => each.exitCode()));
    await stage.close();
    await proxy.close();
  }
}

const shownByLeader = [
  /^rollout_operator_webhook_reviews_not_routed\{reason="PodNotLabelled"\} 1$/m,
  /^rollout_operator_view_not_fresh\{resource="pods"\} 1$/m,
  /^rollout_operator_rival_leases\{/m,
  /^rollout_operator_statefulset_warnings\{/m,
  /^rollout_operator_refused_permissions\{/m,
  /path="rollout-operator.grafana.com\/v1\/replicatemplates object scale subresource"/,
  /^rollout_operator_client_invalid_cluster_validation_label_requests_total\{/m,
  /^rollout_operator_zpdb_configurations_observed_total\{result="invalid"\} [1-9]/m,
  /^rollout_operator_disruption_budget_problem\{.*problem="unreadable"\} 1$/m,
  /^rollout_operator_zpdb_eviction_requests_total\{reason="allowed",status="200"\} 1$/m,
  /^rollout_operator_zpdb_eviction_requests_total\{reason="denied",status="429"\} 1$/m,
];

const shownByLimited = [
  /^rollout_operator_kubernetes_api_client_rate_limited_requests_total\{/m,
  /^rollout_operator_server_invalid_cluster_validation_label_requests_total\{/m,
  /^rollout_operator_lost_spans_total\{/m,
];

const shownByWaiting = [
  /^rollout_operator_certificate_rotation_waiting\{reason="SecretRefused"\} 1$/m,
];

/** What the operator shows that leads, and to which all happens. */
async function leadingScrape(
  stage: WebhookStage,
  { pods, env }: { readonly pods: PodFleet; readonly env: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<string> {
  // There is no such pod: it cannot be labelled.
  const { process, port, plain } = await stage.operator([], { ...env, POD_NAME: 'gone' });
  await stage.configure(port);
  await makeSets(stage);
  await review(stage, { pods, port });
  await hideView(stage, process);
  return scrapeWith(plain, shownByLeader, signal);
}

/** A budget that nobody has reviewed, over pods that there are none of. */
async function makeUnreadableBudget(stage: WebhookStage): Promise<void> {
  await stage.installBudgets();
  const selector = { matchLabels: { app: 'nobody' } };
  const spec = { selector, podNamePartitionRegex: 'no-group' };
  const body = { ...budgetOver('unreadable', {}), spec };
  const type = resourceTypes.zoneAwarePodDisruptionBudgets;
  await served(() => stage.admin.create(type, { namespace }, { body }));
}

/** Two zones of a ready pod each, of which a budget lets one go at a time. */
async function makeGovernedPods(stage: WebhookStage): Promise<void> {
  const labels = { app: 'governed' };
  for (const name of ['governed-a', 'governed-b']) {
    await stage.set({ name, labels, replicas: 1 });
    const uid = textAt(await stage.stored(name), 'metadata', 'uid');
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true };
    const metadata = { name: `${name}-0`, labels, ownerReferences: [owner] };
    const spec = { containers: [{ name: 'ingester', image: 'ingester:1' }] };
    await stage.admin.create(resourceTypes.pods, { namespace }, { body: { metadata, spec } });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    const body = { kind: 'merge', document: { status } } as const;
    const key = { namespace, name: metadata.name };
    await stage.admin.patch(resourceTypes.pods, key, { body, subresource: 'status' });
  }
  const type = resourceTypes.zoneAwarePodDisruptionBudgets;
  const spec = { selector: { matchLabels: labels }, maxUnavailable: 1 };
  const body = { ...budgetOver('governed', labels), spec };
  const { uid } = (await stage.admin.create(type, { namespace }, { body })).metadata;
  // A budget that was there before the operator may have lost its ledger, which is waited out for two minutes.
  const ledger = {
    metadata: { name: ledgerName('governed') },
    data: {
      ...formatLedger(
        emptyLedger({ kind: 'ZoneAwarePodDisruptionBudget', namespace, name: 'governed', uid }),
      ),
    },
  };
  await stage.admin.create(resourceTypes.configMaps, { namespace }, { body: ledger });
}

/** A Lease of another name, which a user holds for the namespace of the operator. */
async function holdAnotherLease({ admin }: WebhookStage): Promise<void> {
  const metadata = { name: 'another', labels: { 'rollout-operator/scope': namespace } };
  const spec = { holderIdentity: 'somebody', leaseDurationSeconds: 15 };
  await admin.create(resourceTypes.leases, { namespace }, { body: { metadata, spec } });
}

/** One that gives up most of what it would ask the API server, lets only its own cluster in, and traces for nobody. */
function startLimited(stage: WebhookStage, port: number): OperatorProcess {
  const args = [
    ...common(stage, port),
    '-kubernetes.client-qps=0.1',
    '-kubernetes.client-burst=1',
    '-kubernetes.client-timeout=1s',
    '-server.cluster-validation.http.enabled',
  ];
  return new OperatorProcess(args, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
}

/** One that looks at its Secret every few seconds, as its certificate is short-lived. */
function startShortLived(stage: WebhookStage, port: number): OperatorProcess {
  return new OperatorProcess([
    ...common(stage, port),
    '-server-tls.enabled',
    '-server-tls.port=0',
    '-server-tls.self-signed-cert.secret-name=short-lived',
    '-server-tls.self-signed-cert.expiration=2m',
  ]);
}

/** Puts a Secret that is another owner's in place of that of `process`. */
async function replaceSecret({ admin }: WebhookStage, process: OperatorProcess): Promise<void> {
  await process.line(/msg="certificate served"/);
  const metadata = { name: 'short-lived' };
  const key = { namespace: elsewhere, ...metadata };
  await admin.delete(resourceTypes.secrets, key, { preconditions: {} });
  const body = { metadata, data: { 'tls.crt': 'eA==' } };
  await admin.create(resourceTypes.secrets, { namespace: elsewhere }, { body });
}

function common(stage: WebhookStage, port: number): readonly string[] {
  return [
    `-kubernetes.config-file=${stage.path('kubeconfig')}`,
    `-kubernetes.namespace=${elsewhere}`,
    `-server.port=${port}`,
  ];
}

/** Sets of which one is held, one has input that cannot be used, one mirrors another resource. */
async function makeSets(stage: WebhookStage): Promise<void> {
  const labels = { 'rollout-group': 'ingester' };
  await stage.set({
    name: 'guarded',
    labels: { ...labels, 'grafana.com/no-downscale': 'true' },
    annotations: { 'rollout-max-unavailable': 'many' },
  });
  await stage.set({ name: 'asked', ...prepared });
  await stage.set({ name: 'mirror', labels, annotations: mirrorAnnotations('template') });
  await served(() => createReplicaTemplate(stage.admin, { namespace, name: 'template' }, 3));
}

/** Does `write` again while the server does not serve the type yet. */
async function served(write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      // The server is in this process, and would have no turn otherwise.
      await clock.sleep(millis(20));
    }
  }
}

/** Reviews that are granted, refused, and none at all; pods that answer, fail, and are of another cluster. */
async function review(
  stage: WebhookStage,
  { pods, port }: { readonly pods: PodFleet; readonly port: number },
): Promise<void> {
  const refusal = (change: Promise<unknown>): Promise<unknown> => change.catch(() => undefined);
  await refusal(stage.scale('guarded', 1));
  await refusal(stage.scale('asked', 2));
  const body = JSON.stringify({ cluster_validation_error_message: 'wrong', route: 'prepare' });
  const headers = { 'content-type': 'application/json' };
  for (const answer of [{ status: 500 }, { status: 511, body, headers }]) {
    pods.behave({ kind: 'answer', ...answer });
    await refusal(stage.scale('asked', 1));
  }
  const servername = `rollout-operator.${namespace}.svc`;
  const client = new WebhookClient(port, await stage.bundle(), { servername });
  for (const path of ['no-downscale', 'prepare-downscale'])
    await client.post(`/admission/${path}`, 'this is no review');
  for (const name of ['gone-0', 'governed-a-0', 'governed-b-0']) {
    const eviction = reviewDocument({ subResource: 'eviction', operation: 'CREATE', name });
    await client.post('/admission/pod-eviction', JSON.stringify(eviction));
  }
  await client.close();
}

/** Keeps the view of pods from being kept up to date until the program says so. */
async function hideView(stage: WebhookStage, process: OperatorProcess): Promise<void> {
  const { faults } = stage.cluster;
  faults.add({
    match: { user: user.name, verb: ['list', 'watch'], resource: 'pods' },
    action: { kind: 'error', code: 500 },
  });
  for (const watch of faults.watches({ user: user.name, resource: 'pods' })) watch.break();
  await process.line(/reason=ViewNotFresh/);
}
