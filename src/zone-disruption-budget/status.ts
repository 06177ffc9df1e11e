/** The status of a ZoneDisruptionBudget: what its ledger and the pods show, by zone, for people and programs to read. */
import type { JsonObject } from '#base/json.ts';
import { type Instant, instant } from '#base/units.ts';
import { instantAt, integerAt, objectAt } from '#statefulset/parse-fields.ts';

/** Numbers of pods by zone. */
export type ByZone = ReadonlyMap<string, number>;

/** What the `status` says. */
export interface ZoneBudgetStatus {
  /** The generation that the numbers belong to; 0 where there are none. */
  readonly observedGeneration: number;
  /** When the pods were given away that are still in their places, by name. */
  readonly disruptedPods: ReadonlyMap<string, Instant>;
  readonly disruptionsAllowed: ByZone;
  readonly currentHealthy: ByZone;
  readonly currentUnhealthy: ByZone;
  readonly desiredHealthy: ByZone;
  readonly expectedPods: ByZone;
}

/** The members that are numbers by zone. */
const byZone = [
  'disruptionsAllowed',
  'currentHealthy',
  'currentUnhealthy',
  'desiredHealthy',
  'expectedPods',
] as const;

/** Returns `status` as it is written: maps without an entry are left out, the generation never is. */
export function formatZoneStatus(status: ZoneBudgetStatus): JsonObject {
  const { observedGeneration, disruptedPods } = status;
  const times = [...disruptedPods].map(([pod, at]) => [pod, wholeSeconds(at)] as const);
  const members: [string, JsonObject][] = [
    ['disruptedPods', Object.fromEntries(sorted(times))],
    ...byZone.map((name): [string, JsonObject] => [name, Object.fromEntries(sorted(status[name]))]),
  ];
  const filled: JsonObject = Object.fromEntries(
    members.filter(([, map]) => Object.keys(map).length > 0),
  );
  return { observedGeneration, ...filled };
}

/** Reads the `status` of `object`. Total: what is absent or cannot be read is not there. */
export function parseZoneStatus(object: JsonObject): ZoneBudgetStatus {
  const status = objectAt(object, 'status');
  const disrupted = objectAt(status, 'disruptedPods');
  const numbers = (name: (typeof byZone)[number]): ByZone => {
    const map = objectAt(status, name);
    return new Map(Object.keys(map).flatMap((zone) => pair(zone, integerAt(map, zone))));
  };
  return {
    observedGeneration: integerAt(status, 'observedGeneration') ?? 0,
    disruptedPods: new Map(
      Object.keys(disrupted).flatMap((pod) => pair(pod, instantAt(disrupted, pod))),
    ),
    disruptionsAllowed: numbers('disruptionsAllowed'),
    currentHealthy: numbers('currentHealthy'),
    currentUnhealthy: numbers('currentUnhealthy'),
    desiredHealthy: numbers('desiredHealthy'),
    expectedPods: numbers('expectedPods'),
  };
}

/** Returns whether both are written alike, so that nothing has to be written (K-15). */
export function isSameZoneStatus(one: ZoneBudgetStatus, other: ZoneBudgetStatus): boolean {
  return JSON.stringify(formatZoneStatus(one)) === JSON.stringify(formatZoneStatus(other));
}

/**
 * Returns `before` as it stands while it is unknown what may go: no zone may lose a pod (W-09), and the generation stays
 * that of the numbers, so that no reader takes them for those of a newer spec.
 */
export function failSafeStatus(before: ZoneBudgetStatus): ZoneBudgetStatus {
  const zones = byZone.flatMap((name) => [...before[name].keys()]);
  return { ...before, disruptionsAllowed: new Map(zones.map((zone) => [zone, 0])) };
}

function pair<T>(key: string, value: T | undefined): readonly (readonly [string, T])[] {
  return value === undefined ? [] : [[key, value]];
}

function sorted<T>(entries: Iterable<readonly [string, T]>): readonly (readonly [string, T])[] {
  return [...entries].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** Returns RFC 3339 text in UTC, rounded down: nothing was given away later than it says. */
function wholeSeconds(at: Instant): string {
  const whole = instant(Math.floor(at / 1_000) * 1_000);
  return new Date(whole).toISOString().replace('.000Z', 'Z');
}
