import { isJsonObject, type JsonObject } from '#base/json.ts';
import { type Instant, type Millis, seconds } from '#base/units.ts';
import { selects } from '#embedded-cluster/controllers/label-selector.ts';
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
  const selector = valueAt(budget, 'spec', 'selector');
  if (!isJsonObject(selector) || isEmpty(selector)) return false;
  const texts = Object.entries(labels).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string',
  );
  return selects(selector, Object.fromEntries(texts));
}

function isEmpty(selector: JsonObject): boolean {
  const pairs = valueAt(selector, 'matchLabels');
  const demands = objectsAt(selector, 'matchExpressions');
  return demands.length === 0 && (!isJsonObject(pairs) || Object.keys(pairs).length === 0);
}
