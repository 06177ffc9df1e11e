/**
 * The composition root, with the other files `operator-*.ts`: caches, budgets, webhooks and controllers are put together
 * here. It decides nothing about a pod; each room below knows only its own part.
 */

import { aborted } from '#base/async/aborted.ts';
import { seconds } from '#base/units.ts';
import { askPermissions } from '#control/optional-permissions.ts';
import { announcedClient } from '#control/write/announced-client.ts';
import type { EvictionBudgets } from '#disruption-budget/eviction/eviction-budgets.ts';
import { boundedClient } from '#kubernetes/bounded-client.ts';
import type { Client } from '#kubernetes/client.ts';
import { silentRecorder } from '#kubernetes/events/events.ts';
import type { Leading } from '#kubernetes/leader-election/leader-election.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import type { Readiness } from '#telemetry/http/readiness.ts';
import type { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import {
  type Admission,
  type AdmissionSettings,
  routeReviews,
  startAdmission,
} from './operator/admission.ts';
import { openBudgets, type RunningBudgets } from './operator/budgets.ts';
import { type Caches, cachesSynced, createCaches, runCaches } from './operator/caches.ts';
import { showCapabilities } from './operator/capabilities.ts';
import { decoratedClient } from './operator/manager/client.ts';
import { electionOf, runElection } from './operator/manager/election.ts';
import { lead } from './operator/manager/led-terms.ts';
import { endTogether } from './operator/manager/options.ts';
import { flushed, recorderOf } from './operator/manager/term-parts.ts';
import { tellMissingRules } from './operator/permissions/role.ts';
import { ownersOf, type ResourceCapability, showResources } from './operator/resources.ts';
import { reconcileTerm, type TermParts, type TermSettings } from './operator/term.ts';
import type { OpenZoneCapabilities } from './operator/zone-aware/zone-capabilities.ts';

/** What one run of the operator is given. */
export interface OperatorOptions extends TermSettings {
  readonly budgetMetrics: BudgetMetrics;
  readonly readiness: Readiness;
  /** The authorised way to the API server, without any decoration. */
  readonly transport: Transport;
  /** Serves the admission webhooks; absent while TLS is off. */
  readonly admission?: AdmissionSettings;
  /** Opens zone-aware controllers that run along with the others: only what has them loads them. */
  readonly zones?: OpenZoneCapabilities;
  /** Given what evictions ask, which it is to be the same for as long as the operator runs. */
  readonly onEvictionBudgets?: (budgets: EvictionBudgets) => void;
}

/** What runs along with groups. */
export type Beside = Pick<OperatorOptions, 'resources' | 'zones'>;

/** Longest time that a call of a pass takes once the limiter let it go, whatever its flag says above that (D-53). */
const longestAnswer = seconds(30);
/** How soon is asked again whether the Role permits what a capability begins with (D-65). */
const permissionInterval = seconds(60);

/**
 * Runs the operator until `signal` aborts: fills the caches, becomes ready, reconciles (PR-1). Ready is withdrawn
 * first when it stops (KW-19).
 *
 * @throws when its view of the cluster cannot be trusted any more (D-6), or a request at the start fails for good
 */
export async function runOperator(options: OperatorOptions, signal: AbortSignal): Promise<void> {
  const { log, readiness } = options;
  showCapabilities(options);
  const ending = new AbortController();
  const stop = (): void => {
    readiness.withdraw();
    ending.abort();
  };
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  const client = decoratedClient(options);
  const opened = open(options, client);
  const { caches, budgets, resources } = opened;
  const owners = ownersOf(caches);
  showResources(resources, caches, options);
  options.onEvictionBudgets?.(budgets.authority.evictions);
  const unreadable = new AbortController();
  const beside = { ...options, resources };
  const admission = admissionOf(beside, budgets, ending.signal);
  log.info('caches syncing');
  const running = [
    ...runCaches(caches, unreadable.signal, ending.signal),
    admission.run,
    opened.run(ending.signal),
    work(beside, { client, caches, owners, budgets, admission, unreadable }, ending.signal),
  ];
  try {
    await endTogether(running, stop);
  } finally {
    budgets.authority.close();
    signal.removeEventListener('abort', stop);
  }
}

/** What all capabilities look at, and ask before they take pods. */
interface Opened {
  readonly caches: Caches;
  readonly budgets: RunningBudgets;
  readonly resources: readonly ResourceCapability[];
  /** Runs what there is besides the caches, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

function open(options: OperatorOptions, client: Client): Opened {
  const { config, clock, log, budgetMetrics: metrics, zones, resources = [] } = options;
  const hasZones = zones !== undefined;
  const hasOthers = hasZones || resources.length > 0;
  const caches = createCaches(client, {
    ...options,
    hasZones,
    hasNativeBudgets: resources.some((each) => each.hasNativeBudgets),
    ...(hasOthers && { askAgain: permissionInterval }),
  });
  const { namespace } = config.kubernetes;
  const onLedgerRefused = (verb: string): void =>
    options.metrics.setPermissionRefused(verb, 'configmaps', true);
  const settings = { client, namespace, clock, log, metrics, onLedgerRefused };
  const budgets = openBudgets({ ...settings, caches });
  if (zones === undefined || caches.zones === undefined) {
    return { caches, budgets, resources, run: aborted };
  }
  const opened = zones({
    config,
    clock,
    log,
    client: boundedClient(client, longestAnswer),
    reviewClient: client,
    caches: { ...caches, zones: caches.zones },
    budgets,
  });
  return { ...opened, caches, resources: [...resources, ...opened.resources] };
}

function admissionOf(
  { admission: settings, ...options }: OperatorOptions,
  budgets: RunningBudgets,
  signal: AbortSignal,
): Admission {
  const { resources = [] } = options;
  const further = resources.flatMap(({ webhooks }) => webhooks);
  const admission = settings === undefined ? {} : { admission: { ...settings, further } };
  const serving = {
    ...options,
    ...admission,
    evictionBudgets: budgets.authority.evictions,
    onTrust: (isFirst: () => boolean) => budgets.noteTrust(isFirst),
  };
  return startAdmission(serving, () => decoratedClient(options), signal);
}

interface Parts extends Omit<TermParts, 'events' | 'election' | 'leading'> {
  readonly admission: Admission;
  /** Aborted when the Role does not permit listing budgets: they are no part of the view then (D-51). */
  readonly unreadable: AbortController;
}

async function work(options: OperatorOptions, parts: Parts, signal: AbortSignal): Promise<void> {
  const { config, clock, log, metrics } = options;
  const { caches } = parts;
  const client = boundedClient(parts.client, longestAnswer);
  const proven = cachesSynced(caches, clock, signal);
  const namespace = config.kubernetes.namespace;
  const [permitted] = await Promise.all([
    askPermissions({ client, log, metrics, namespace, proven }, signal),
    proven,
    parts.admission.ready,
  ]);
  if (signal.aborted) return;
  if (!permitted.canListBudgets) {
    parts.unreadable.abort();
    parts.budgets.deny();
  }
  log.info('caches synced', {
    pods: caches.pods.lister.size,
    statefulsets: caches.statefulSets.lister.size,
  });
  const events = permitted.canCreateEvents ? recorderOf(options, client) : silentRecorder;
  options.readiness.announce();
  const routing = routeReviews(options, client, signal);
  // Only now: who could not fill its caches would hold the Lease for nothing.
  const leaseClient = decoratedClient(options, false);
  const election = electionOf(options, leaseClient);
  const closed = new AbortController();
  const electing = runElection(election, options, { client: leaseClient, signal: closed.signal });
  const hasBudgets = (): boolean => parts.budgets.hasAny();
  const resources = (options.resources ?? []).flatMap(({ permissions }) => permissions);
  const lacking = { client, permitted, hasBudgets, election, resources };
  const telling = tellMissingRules(options, lacking, closed.signal);
  try {
    const horizon = config.rollout.predecessorHorizon;
    const sets = caches.statefulSets.lister;
    const announcing = announcedClient(client, { election, clock, horizon, sets });
    const given = { ...parts, client: announcing, events, election };
    const reconcile = (leading: Leading, working: AbortSignal): Promise<boolean> =>
      reconcileTerm(options, { ...given, leading }, working);
    await lead(election, reconcile, signal);
  } finally {
    closed.abort();
    await Promise.all([electing, telling, routing]);
    await flushed(events, clock);
  }
}
