import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { podLabels } from '#statefulset/pod-labels.ts';
import type { PodView } from '#statefulset/view.ts';
import { selecting } from '#support/budgets/budget-server.ts';
import { podView } from '#support/objects/views.ts';
import { compilePattern } from '../pattern/compile-pattern.ts';
import { KnownBudgets } from '../spec/known-budgets.ts';
import { overlapsOf } from './overlaps.ts';

function budget(name: string, matchLabels: JsonValue, namespace = 'test'): JsonObject {
  return {
    kind: 'ZoneAwarePodDisruptionBudget',
    metadata: { namespace, name, uid: `${namespace}-${name}`, generation: 1 },
    spec: selecting(matchLabels),
  };
}

const group = { 'rollout-group': 'ingester' };
const zone = { ...group, zone: 'a' };
const zoneA = podView({ name: 'ingester-zone-a-0', labels: zone });
const zoneB = podView({ name: 'ingester-zone-b-0', labels: group });

/** A pod with the labels that all of its template share, and one of its own, as a cache keeps them. */
function templated(name: string): PodView {
  const pod = podView({ name });
  return {
    ...pod,
    labels: podLabels({ ...group, 'statefulset.kubernetes.io/pod-name': name }, pod),
  };
}

/** Names of the budgets that overlap, and of the pod. */
function overlaps(budgets: readonly JsonObject[], pods: readonly PodView[]): readonly string[] {
  const known = new KnownBudgets(compilePattern);
  for (const each of budgets) known.put(each);
  return overlapsOf(known.list(), pods).map(
    ({ budgets: found, pod }) => `${found.map(({ name }) => name).join(', ')}: ${pod.name}`,
  );
}

const cases: Record<
  string,
  readonly [budgets: readonly JsonObject[], pods: readonly PodView[], overlaps: readonly string[]]
> = {
  'nothing of budgets that select different pods': [
    [budget('a', zone), budget('b', { 'rollout-group': 'other' })],
    [zoneA, zoneB],
    [],
  ],
  'budgets that select one pod': [
    [budget('b', group), budget('a', zone)],
    [zoneB, zoneA],
    ['a, b: ingester-zone-a-0'],
  ],
  'nothing where the pod that both could select does not exist': [
    [budget('a', zone), budget('b', group)],
    [zoneB],
    [],
  ],
  'the same budgets once, with the first pod by name': [
    [budget('a', group), budget('b', group)],
    [zoneB, zoneA],
    ['a, b: ingester-zone-a-0'],
  ],
  'different budgets over different pods each': [
    [budget('a', group), budget('b', group), budget('c', zone)],
    [zoneA, zoneB],
    ['a, b, c: ingester-zone-a-0', 'a, b: ingester-zone-b-0'],
  ],
  'budgets of which one selects by what each pod of a template has of its own': [
    [
      budget('a', { ...group, 'statefulset.kubernetes.io/pod-name': 'store-1' }),
      budget('b', group),
    ],
    [templated('store-0'), templated('store-1'), templated('store-2')],
    ['a, b: store-1'],
  ],
  'nothing of budgets of different namespaces': [
    [budget('a', group), budget('b', group, 'other')],
    [zoneA],
    [],
  ],
  'nothing of a budget of which it cannot be told what it selects': [
    [budget('a', group), budget('b', 'all')],
    [zoneA],
    [],
  ],
};

for (const [what, [budgets, pods, found]] of Object.entries(cases)) {
  test(`overlapsOf() names ${what}`, () => {
    assert.deepEqual(overlaps(budgets, pods), found);
  });
}
