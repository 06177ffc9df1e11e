import type { Webhook } from '#admission/review/review.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Config } from '#config/config.ts';
import type { PredecessorWait } from '#control/plan/predecessor-wait.ts';
import { groupOwners, OwnersOfSets } from '#control/watch/owners-of-sets.ts';
import type { OpenDisruptions } from '#control/write/open-disruptions.ts';
import type { Permission } from '#kubernetes/authorization/permission.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { PermittedInformer, TypeSight } from '#kubernetes/informer/permitted-informer.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { phasedRolloutOwners } from '#phased-rollout/owners.ts';
import { statefulsetRolloutOwners } from '#statefulset-rollout/owners.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { zoneAwareUpdateOwners } from '#zone-aware-update/owners.ts';
import type { RunningBudgets } from './budgets.ts';
import type { Caches } from './caches.ts';

/** What reconciles custom resources along with groups, in one process with them (D-65). */
export interface ResourceCapability {
  /** Names it to people, such as `phased-rollouts`. */
  readonly name: string;
  /** All that it takes of a Role. */
  readonly permissions: readonly Permission[];
  readonly webhooks: readonly Webhook[];
  /** Whether it asks PodDisruptionBudgets of Kubernetes, which are watched only then. @default false */
  readonly hasNativeBudgets?: boolean;
  /** Returns what it cannot run without, that of what it reconciles first. */
  needs(caches: Caches): readonly Need[];
  /**
   * Reconciles for one term, until `signal` aborts; begins when the cache of its resources is filled. What it may have under
   * way from an earlier term it notifies `term.budgets` at once.
   *
   * @returns whether all that was sent is answered, so that nothing may arrive late
   */
  run(term: ResourceTerm, signal: AbortSignal): Promise<{ readonly isSettled: boolean }>;
}

/** A cache that a capability needs. */
export interface Need extends Pick<PermittedInformer<never>, 'sight' | 'onState'> {
  readonly informer: { readonly type: ResourceType };
}

/** A term in which this process leads, as far as all of its capabilities share it. */
export interface ResourceTerm {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly client: Client;
  readonly caches: Caches;
  readonly events: EventRecorder;
  readonly owners: OwnersOfSets;
  readonly budgets: RunningBudgets;
  /** Deletions of ours that the cache may not show yet, no matter who sends them. */
  readonly open: OpenDisruptions;
  /** Returns a wait for one capability: what was in motion is remembered by its keys. */
  newPredecessorWait(): PredecessorWait;
  /** Reports whether this process may disrupt at this instant: it holds the Lease, or there is none. */
  leads(): boolean;
  /** The term of the Lease; absent where there is none. */
  readonly term?: string;
}

/** What a controller is given of a term, whatever it reconciles. */
interface TermStanding extends Pick<ResourceTerm, 'leads' | 'term'> {
  /** Those that may name its sets besides it. */
  readonly owners: ReturnType<OwnersOfSets['besides']>;
  readonly predecessor: PredecessorWait;
}

/** Returns what a controller of resources of `kind` is given of `term`. */
export function standingOf(term: ResourceTerm, kind: string): TermStanding {
  return {
    owners: term.owners.besides(kind),
    predecessor: term.newPredecessorWait(),
    leads: () => term.leads(),
    ...(term.term !== undefined && { term: term.term }),
  };
}

/** Returns the budgets that the controller `name` asks, and what wakes it where they, or other owners of its sets, change. */
export function budgetsFor(
  name: string,
  { budgets, owners }: Pick<ResourceTerm, 'budgets' | 'owners'>,
): {
  readonly budgets: ReturnType<RunningBudgets['of']>;
  readonly onBudgetChange: (wake: () => void) => void;
} {
  return {
    budgets: budgets.of(name),
    onBudgetChange: (wake) => {
      budgets.onChange(wake);
      owners.onState(wake);
    },
  };
}

/** Returns all by which sets may be named, as far as this process sees it (D-63): one line a kind. */
export function ownersOf({ rollouts, updates, statefulsetRollouts }: Caches): OwnersOfSets {
  return new OwnersOfSets([
    groupOwners,
    phasedRolloutOwners(rollouts.informer, () => isListed(rollouts.sight)),
    zoneAwareUpdateOwners(updates.informer, () => isListed(updates.sight)),
    statefulsetRolloutOwners(statefulsetRollouts.informer, () =>
      isListed(statefulsetRollouts.sight),
    ),
  ]);
}

function isListed(sight: TypeSight): boolean | undefined {
  return sight === 'asking' ? undefined : sight !== 'denied';
}

/** What keeps a capability from running, for people and as the reason of its gauge; undefined: it runs. */
interface Lack {
  readonly reason: 'NotPermitted' | 'DefinitionMissing';
  readonly message: string;
}

/** Shows, and logs once each time, which of `resources` run and what the others lack. */
export function showResources(
  resources: readonly ResourceCapability[],
  caches: Caches,
  { log, metrics }: { readonly log: Logger; readonly metrics: OperatorMetrics },
): void {
  for (const resource of resources) {
    const { name: capability } = resource;
    const needs = resource.needs(caches);
    let shown: string | undefined;
    const show = (): void => {
      if (needs.some(({ sight }) => sight === 'asking' || sight === 'listing')) return;
      const [lack] = needs.flatMap((need) => lackOf(need) ?? []);
      const reason = lack?.reason ?? 'Installed';
      if (reason === shown) return;
      shown = reason;
      metrics.setCapability({ capability, isEnabled: lack === undefined, reason });
      if (lack === undefined) log.info('a capability runs', { capability });
      else log.warn('a capability does not run', { capability, reason, why: lack.message });
    };
    for (const need of needs) need.onState(show);
    show();
  }
}

function lackOf({ sight, informer: { type } }: Need): Lack | undefined {
  if (sight !== 'absent' && sight !== 'denied') return undefined;
  const name = type.group === '' ? type.plural : `${type.plural}.${type.group}`;
  return sight === 'denied'
    ? { reason: 'NotPermitted', message: `the Role does not permit listing ${name}` }
    : {
        reason: 'DefinitionMissing',
        message: `there is no CustomResourceDefinition ${name}`,
      };
}
