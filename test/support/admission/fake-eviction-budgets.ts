import { assertNever } from '#base/assert-never.ts';
import type { JsonObject } from '#base/json.ts';
import type { Budget, BudgetRef } from '#disruption/budget.ts';
import type { DisruptionSnapshot } from '#disruption/snapshot.ts';
import type { BudgetSpec } from '#disruption-budget/api.ts';
import type {
  EvictionBudgets,
  EvictionVerdict,
} from '#disruption-budget/eviction/eviction-budgets.ts';
import { compilePattern } from '#disruption-budget/pattern/compile-pattern.ts';
import { type KnownBudget, KnownBudgets } from '#disruption-budget/spec/known-budgets.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { PodView } from '#statefulset/view.ts';
import { BudgetBed, zones } from '../budgets/budgeted-zones.ts';

/** By which budgets of tests select, and which all their pods carry. */
const labels = { 'rollout-group': 'ingester' };

/** Budgets over the zones of a test, as evictions ask them: parsed and judged as they are, without a store or a cache. */
export class FakeEvictionBudgets implements EvictionBudgets {
  readonly #known = new KnownBudgets(compilePattern);
  readonly #beds = new Map<string, BudgetBed>();
  readonly #pods = new Map<string, PodView>();
  /** What controls pods besides StatefulSets, by uid, as `Kind name`. */
  readonly owners = new Map<string, string>();
  #snapshot: DisruptionSnapshot = zones();
  /** Answers in place of the budgets. */
  script: ((pod: PodView, signal: AbortSignal) => Promise<EvictionVerdict>) | undefined;
  /** Namespaces without budgets. */
  readonly ungoverned = new Set<string>();
  /** Pods that were asked for, by name, and how. */
  readonly judged: { readonly name: string; readonly isDryRun: boolean }[] = [];

  /** Puts the pods of `snapshot` in place of those of before, under the budgets that follow. */
  show(snapshot: DisruptionSnapshot): void {
    this.#snapshot = snapshot;
    this.#pods.clear();
    for (const { pods } of snapshot.sets ?? []) for (const pod of pods ?? []) this.add(pod);
    for (const bed of this.#beds.values()) bed.snapshot = snapshot;
  }

  /** Puts `pod` into the cache. */
  add(pod: PodView): void {
    this.#pods.set(`${pod.namespace}/${pod.name}`, {
      ...pod,
      labels: { ...labels, ...pod.labels },
    });
  }

  /** Makes the budget `name`, over all pods of the group unless `spec` says otherwise. */
  budget(name: string, spec: JsonObject = {}): void {
    const { group, version, kind } = resourceTypes.zoneAwarePodDisruptionBudgets;
    this.#known.put({
      apiVersion: `${group}/${version}`,
      kind,
      metadata: { namespace: 'test', name, uid: `${name}-uid`, generation: 1 },
      spec: { selector: { matchLabels: labels }, ...spec },
    });
  }

  /** Names of the pods that are given away under budget `name`. */
  reserved(name: string): readonly string[] {
    return this.#beds.get(name)?.reserved() ?? [];
  }

  pod(namespace: string, name: string): PodView | undefined {
    return this.#pods.get(`${namespace}/${name}`);
  }

  mayGovern(namespace: string): boolean {
    return !this.ungoverned.has(namespace);
  }

  governs({ namespace, labels: own }: PodView): boolean {
    return this.#known.governing(namespace, own).kind !== 'none';
  }

  async judgeEviction(
    pod: PodView,
    { isDryRun }: { readonly isDryRun: boolean },
    signal: AbortSignal,
  ): Promise<EvictionVerdict> {
    signal.throwIfAborted();
    this.judged.push({ name: pod.name, isDryRun });
    if (this.script !== undefined) return this.script(pod, signal);
    const governing = this.#known.governing(pod.namespace, pod.labels);
    switch (governing.kind) {
      case 'none':
        return { kind: 'not-governed', isSetGoverned: false };
      case 'unclear': {
        const { text } = governing;
        return { kind: 'ambiguous', budgets: governing.budgets.map(({ name }) => name), text };
      }
      case 'one':
        return this.#ask(pod, governing, isDryRun);
      default:
        return assertNever(governing);
    }
  }

  #ask(
    pod: PodView,
    { budget: known, spec }: { readonly budget: KnownBudget; readonly spec: BudgetSpec },
    isDryRun: boolean,
  ): EvictionVerdict {
    const budget = budgetOf(known, spec);
    const { ref } = budget;
    const { name, uid, controllerUid } = pod;
    const text = this.#ownerProblem(pod);
    if (text !== undefined) return { kind: 'no-set', budget: ref, text };
    const isSeen = this.#snapshot.sets?.some(({ set }) => set.uid === controllerUid) ?? true;
    if (!isSeen) return { kind: 'unclear', budget: ref, why: setNotSeen, until: undefined };
    const bed = this.#beds.get(known.name) ?? new BudgetBed(budget, this.#snapshot);
    this.#beds.set(known.name, bed);
    const asking = { by: 'eviction' } as const;
    const request = { pod: { name, uid, controllerUid }, asking, isDryRun };
    const [answer] = bed.decide({ requests: [request] }).answers;
    if (answer === undefined) throw new Error('There is no answer to a request');
    return { ...answer, budget: ref };
  }

  /** Returns what is wrong with the owner, in the words of the peer. */
  #ownerProblem({ name, controllerUid }: PodView): string | undefined {
    if (controllerUid === undefined) return 'unable to find a StatefulSet pod owner';
    const owner = this.owners.get(controllerUid);
    if (owner === undefined) return undefined;
    const [kind = '', ownerName = ''] = owner.split(' ');
    return `pod owner is not a StatefulSet - ${name} has owner ${ownerName} (${kind})`;
  }
}

const setNotSeen = 'the StatefulSet that controls the pod has not been seen yet';

function budgetOf(known: KnownBudget, { maxUnavailable, span }: BudgetSpec): Budget {
  const { namespace, name, uid } = known;
  const ref: BudgetRef = { kind: 'ZoneAwarePodDisruptionBudget', namespace, name, uid };
  const limit =
    maxUnavailable.kind === 'count'
      ? maxUnavailable
      : ({ kind: 'percent-of-own-set', percent: maxUnavailable.percentage } as const);
  if (span.kind === 'zone') return { ref, limit, mode: { kind: 'zones-of-sets' } };
  const partitionOf = (podName: string): string | undefined => {
    const partition = span.partitionOf(podName);
    return partition.kind === 'partition' ? partition.name : undefined;
  };
  const crossZoneDelay = span.crossZoneEvictionDelay;
  return { ref, limit, mode: { kind: 'partitions', partitionOf, crossZoneDelay } };
}
