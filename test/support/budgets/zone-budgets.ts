import type { JsonValue } from '#base/json.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { judgedZoneBudget } from '#zone-disruption-budget/ledger/judged-budget.ts';
import { governedPods } from '#zone-disruption-budget/snapshot.ts';
import { parseZoneBudget } from '#zone-disruption-budget/spec/parse-zone-budget.ts';
import { podView, type StatefulSetOverrides, statefulSetView } from '../objects/views.ts';
import { BudgetBed } from './budgeted-zones.ts';

/** Labels of every pod that a test says nothing else of. */
export const labels = { name: 'web' } as const;

/** What a test says of the set `web` and its pods: nine of them are ready, in the zones a, b and c in turn, unless it says otherwise. */
export interface ZonedWeb extends StatefulSetOverrides {
  readonly replicas?: number;
  /** How each pod differs from a ready one, by ordinal; `missing`: there is none. */
  readonly pods?: Readonly<Record<number, Partial<PodView> | 'missing'>>;
  /** How many pods there are but for the missing ones. @default `replicas` */
  readonly listed?: number;
  /** Further pods. @default none */
  readonly others?: readonly PodView[];
  /** Further sets. @default none */
  readonly otherSets?: readonly StatefulSetView[];
  readonly maxUnavailable?: JsonValue;
  /** Where a pod is, or was; undefined: it is unknown. @default a, b, c in turn */
  readonly zoneOf?: (podName: string) => string | undefined;
}

/** Returns the zone of the pod of this name where nothing else is said: a, b and c in turn. */
export function zoneInTurn(podName: string): string | undefined {
  const ordinal = Number(podName.slice(podName.lastIndexOf('-') + 1));
  return ['a', 'b', 'c'][ordinal % 3];
}

/** Returns the set `web` and its pods. */
function webPods({ replicas = 9, pods = {}, listed = replicas, ...rest }: ZonedWeb = {}): {
  readonly set: StatefulSetView;
  readonly pods: readonly PodView[];
} {
  const templateLabels = { ...labels };
  const set = statefulSetView({
    name: 'web',
    spec: { replicas, templateLabels },
    status: { replicas: listed, ...rest.status },
  });
  const ordinals = Array.from({ length: listed }, (_, ordinal) => ordinal);
  const there = ordinals.flatMap((ordinal) => {
    const differs = pods[ordinal] ?? {};
    return differs === 'missing' ? [] : podView({ name: `web-${ordinal}`, labels, ...differs });
  });
  return { set, pods: there };
}

/** Returns a ledger of the budget `web` over {@link ZonedWeb}. */
export function zoneBudgetBed(given: ZonedWeb = {}): BudgetBed {
  const { maxUnavailable = 1, zoneOf = zoneInTurn, others = [], otherSets = [] } = given;
  const parsed = parseZoneBudget({ spec: { selector: { matchLabels: labels }, maxUnavailable } });
  if (parsed.kind === 'invalid') throw new Error(parsed.problem.message);
  const ref = { namespace: 'test', name: 'web', uid: 'zdb' };
  const { set, pods } = webPods(given);
  const view = { pods: [...pods, ...others], sets: [set, ...otherSets] };
  const { snapshot } = governedPods(parsed.spec.selector, view);
  return new BudgetBed(judgedZoneBudget(ref, parsed.spec, zoneOf), snapshot);
}
