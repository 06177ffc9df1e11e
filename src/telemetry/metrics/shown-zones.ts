/** Zones of one object that each figure shows by name: more than any region has. */
const most = 100;
/** Longest name of a zone that is shown as it is, in UTF-16 code units. */
const longestName = 256;
const rest = 'other';

/**
 * Returns what a metric shows of numbers by zone: a status may name zones without end, no matter who wrote it. The first 100 by name stand
 * as they are, and the sum of all others under `other`.
 */
export function shownZones(counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const isShown = [...counts.keys()].every((zone) => zone.length <= longestName);
  if (isShown && counts.size <= most) return counts;
  const byName = [...counts.keys()].toSorted().filter((zone) => zone.length <= longestName);
  const named = new Set(byName.slice(0, most));
  const shown = new Map<string, number>();
  for (const [zone, count] of counts) {
    const label = named.has(zone) ? zone : rest;
    shown.set(label, (shown.get(label) ?? 0) + count);
  }
  return shown;
}
