import { isJsonObject, type JsonObject } from '#base/json.ts';
import { type Instant, type Millis, seconds } from '#base/units.ts';
import type { Call, Commit } from '#embedded-cluster/event-log.ts';
import { objectsAt, textAt, valueAt } from '../json-path.ts';
import type { Removal } from '../removal.ts';
import { Findings, type Invariant, type Violation } from './invariant.ts';

interface Budget {
  readonly object: JsonObject;
  /** Since when it selects what it selects now. */
  readonly since: Instant;
}

/** How soon a budget that appears, also with its type, holds what it selects (D-51). */
const noticed: Millis = seconds(10);

/**
 * D-13, D-51: until budgets are built we delete no pod that a ZoneAwarePodDisruptionBudget selects, beginning 10 s after
 * the budget was stored. Evictions are not ours to refuse here.
 */
export class UnbuiltBudget implements Invariant {
  readonly #findings = new Findings();
  /** By namespace and name. */
  readonly #budgets = new Map<string, Budget>();

  get violations(): readonly Violation[] {
    return this.#findings.list;
  }

  onCommit({ resource, namespace, name, at, before, after }: Commit): void {
    if (!resource.startsWith('zoneawarepoddisruptionbudgets.')) return;
    const key = `${namespace}/${name}`;
    const known = this.#budgets.get(key);
    if (after === undefined) this.#budgets.delete(key);
    else if (known === undefined || selectorOf(before) !== selectorOf(after)) {
      this.#budgets.set(key, { object: after, since: at });
    }
  }

  onAnswered({ commit, pod, statement }: Removal, call: Call): void {
    if (call.subresource === 'eviction') return;
    const sentAt = statement?.sentAt ?? commit.at;
    for (const [key, { object, since }] of this.#budgets) {
      if (textAt(object, 'metadata', 'namespace') !== pod.namespace) continue;
      if (sentAt - since <= noticed || !isSelected(pod.labels, object)) continue;
      const message = `We deleted pod ${pod.namespace}/${pod.name}, which budget ${key} selects since ${sentAt - since} ms before`;
      this.#findings.add('D-13', commit, message);
    }
  }
}

function selectorOf(budget: JsonObject | undefined): string {
  return JSON.stringify(budget === undefined ? undefined : valueAt(budget, 'spec', 'selector'));
}

/** Whether the selector of `budget` selects `labels`; one that is absent or empty selects nothing here. */
function isSelected(labels: JsonObject, budget: JsonObject): boolean {
  const wanted = valueAt(budget, 'spec', 'selector', 'matchLabels');
  const pairs = isJsonObject(wanted) ? Object.entries(wanted) : [];
  const demands = objectsAt(budget, 'spec', 'selector', 'matchExpressions');
  if (pairs.length + demands.length === 0) return false;
  return (
    pairs.every(([key, value]) => labels[key] === value) &&
    demands.every((demand) => isMet(demand, labels))
  );
}

function isMet(demand: JsonObject, labels: JsonObject): boolean {
  const value = labels[textAt(demand, 'key') ?? ''];
  const values = demand['values'];
  const isListed = Array.isArray(values) && value !== undefined && values.includes(value);
  switch (demand['operator']) {
    case 'In':
      return isListed;
    case 'NotIn':
      return !isListed;
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}
