const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** Steps of the short form: below `until` seconds an age is shown in `unit`, and in `part` where that is not zero. */
const STEPS: readonly {
  readonly until: number;
  readonly unit: readonly [seconds: number, letter: string];
  readonly part?: readonly [seconds: number, letter: string];
}[] = [
  { until: 2 * MINUTE, unit: [1, 's'] },
  { until: 10 * MINUTE, unit: [MINUTE, 'm'], part: [1, 's'] },
  { until: 3 * HOUR, unit: [MINUTE, 'm'] },
  { until: 8 * HOUR, unit: [HOUR, 'h'], part: [MINUTE, 'm'] },
  { until: 2 * DAY, unit: [HOUR, 'h'] },
  { until: 8 * DAY, unit: [DAY, 'd'], part: [HOUR, 'h'] },
  { until: 2 * YEAR, unit: [DAY, 'd'] },
  { until: 8 * YEAR, unit: [YEAR, 'y'], part: [DAY, 'd'] },
  { until: Number.POSITIVE_INFINITY, unit: [YEAR, 'y'] },
];

/** Returns a span of `seconds` in the short form of kubectl's columns, such as `5m30s` or `2d3h` (TB-3). */
export function humanDuration(seconds: number): string {
  const whole = Math.trunc(seconds);
  if (whole < -1) return '<invalid>';
  const age = Math.max(0, whole);
  for (const { until, unit, part } of STEPS) {
    if (age >= until) continue;
    const count = Math.floor(age / unit[0]);
    const rest = part === undefined ? 0 : Math.floor((age % unit[0]) / part[0]);
    const tail = rest === 0 || part === undefined ? '' : `${rest}${part[1]}`;
    return `${count}${unit[1]}${tail}`;
  }
  return '<unknown>';
}

/** Returns the age at `now` (ms) of what happened at the API timestamp `since`; `<unknown>` where there is none (TB-3). */
export function humanAge(since: string, now: number): string {
  const at = Date.parse(since);
  return Number.isNaN(at) ? '<unknown>' : humanDuration((now - at) / 1_000);
}
