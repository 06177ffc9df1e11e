import type { Clock } from '#base/clock.ts';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { type Monotonic, monotonic } from '#base/units.ts';
import type { BudgetProof, BudgetSight } from '#control/budget-sight.ts';
import type { SetSnapshot } from '#control/group-sets.ts';
import { isNotFound } from '#kubernetes/api-error.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { parseGroupKey } from '#statefulset/group.ts';
import { matchesLabelSelector } from '#statefulset/label-selector.ts';
import { objectAt, stringAt } from '#statefulset/parse-fields.ts';

/** Which pods a ZoneAwarePodDisruptionBudget governs; nothing else is read of it yet. */
export interface BudgetView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly selector: JsonValue | undefined;
}

/** The view of a ZoneAwarePodDisruptionBudget, frozen. */
export function parseBudget(object: JsonObject): BudgetView {
  const metadata = objectAt(object, 'metadata');
  return Object.freeze({
    namespace: stringAt(metadata, 'namespace') ?? '',
    name: stringAt(metadata, 'name') ?? '',
    uid: stringAt(metadata, 'uid') ?? '',
    resourceVersion: stringAt(metadata, 'resourceVersion') ?? '',
    selector: objectAt(object, 'spec')['selector'],
  });
}

/** What {@link ForeignBudgets} go through. */
export interface ForeignBudgetPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly informer: Pick<
    Informer<BudgetView>,
    'hasSynced' | 'isAbsent' | 'absence' | 'lister' | 'freshness' | 'look'
  >;
  /** Whether the Role permits to list them; what it does not is no part of the view (D-51). */
  readonly isPermitted: boolean;
}

/** What a list of budgets of one namespace answered; no budget where the server does not have the type. */
interface ReadBudgets {
  readonly sentAt: Monotonic;
  /** Undefined where the server does not have the type. */
  readonly revision: string | undefined;
  readonly budgets: readonly BudgetView[];
}

/**
 * Budgets that this version cannot honour, so that what they govern is not rolled (D-13): what the cache shows of them,
 * and what a list of ours showed, whichever is more. The type may be installed while the operator runs; a list notices.
 */
export class ForeignBudgets implements BudgetSight {
  readonly #ports: ForeignBudgetPorts;
  /** The newest list, by namespace. */
  readonly #reads = new Map<string, ReadBudgets>();

  constructor(ports: ForeignBudgetPorts) {
    this.#ports = ports;
  }

  proof(key: string): BudgetProof {
    const { informer, isPermitted } = this.#ports;
    if (!isPermitted) return { kind: 'not-permitted' };
    const { namespace } = parseGroupKey(key);
    const proofs = [
      this.#reads.get(namespace)?.sentAt,
      informer.absence?.provenAt,
      informer.hasSynced ? informer.freshness.proof?.sentAt : undefined,
    ].filter((at) => at !== undefined);
    if (proofs.length === 0) return { kind: 'unproven' };
    return { kind: 'proven', provenAt: monotonic(Math.max(...proofs)) };
  }

  async look(key: string, signal: AbortSignal): Promise<void> {
    const { client, clock, informer } = this.#ports;
    if (informer.isAbsent) await informer.look(signal);
    if (informer.isAbsent) return;
    const { namespace } = parseGroupKey(key);
    let sentAt = clock.monotonic();
    const beforeSend = (): void => {
      sentAt = clock.monotonic();
    };
    const list = await client
      .list(resourceTypes.zoneAwarePodDisruptionBudgets, { namespace }, { signal, beforeSend })
      .catch(absent);
    const budgets = list?.items.map(parseBudget) ?? [];
    this.#reads.set(namespace, { sentAt, revision: list?.resourceVersion, budgets });
  }

  /** Why budgets forbid to roll `sets`; undefined when none does. */
  over(sets: readonly SetSnapshot[]): string | undefined {
    const { isPermitted, informer } = this.#ports;
    const namespace = sets[0]?.set.namespace;
    if (!isPermitted || namespace === undefined) return undefined;
    const read = this.#reads.get(namespace);
    if (!informer.hasSynced && read === undefined) {
      return 'ZoneAwarePodDisruptionBudgets cannot be read yet, and one might govern this group; see the log for the reason';
    }
    return budgetOver(sets, [...informer.lister.list(), ...this.#unshown(read)]);
  }

  /** What `read` showed and the cache may not show yet; once it has, the cache alone counts, also for what is gone. */
  #unshown(read: ReadBudgets | undefined): readonly BudgetView[] {
    if (read?.revision === undefined) return [];
    const { hasSynced, freshness, absence } = this.#ports.informer;
    if (absence !== undefined && absence.provenAt > read.sentAt) return [];
    return hasSynced && freshness.hasSeen(read.revision) ? [] : read.budgets;
  }
}

/** A server without the type has no budgets. */
function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

/** Why `budgets` forbid to roll `sets` in this version (D-13): one that selects their pods cannot be honoured. */
function budgetOver(
  sets: readonly SetSnapshot[],
  budgets: readonly BudgetView[],
): string | undefined {
  for (const budget of budgets) {
    const governed = sets.find(
      ({ set }) =>
        set.namespace === budget.namespace &&
        matchesLabelSelector(budget.selector, set.spec.templateLabels),
    );
    if (governed !== undefined) {
      return (
        `ZoneAwarePodDisruptionBudget "${budget.name}" selects the pods of StatefulSet "${governed.set.name}", ` +
        'and this version does not have that capability; the group is not rolled without it'
      );
    }
  }
  return undefined;
}
