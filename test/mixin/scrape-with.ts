import { millis } from '#base/units.ts';
import { systemClock } from '#telemetry/system-clock.ts';

const clock = systemClock();

/** Returns a scrape that has something of all `wanted`. @throws {Error} when it has not before `signal` aborts */
export async function scrapeWith(
  plain: string,
  wanted: readonly RegExp[],
  signal: AbortSignal,
): Promise<string> {
  for (;;) {
    await fetch(`${plain}/unknown`, { headers: { 'x-cluster': 'another' } }).catch(() => undefined);
    const answer = await fetch(`${plain}/metrics`).catch(() => undefined);
    const text = (await answer?.text()) ?? '';
    const missing = wanted.filter((each) => !each.test(text));
    if (missing.length === 0) return text;
    if (signal.aborted) throw new Error(`The scrape of ${plain} lacks ${missing.join(', ')}`);
    await clock.sleep(millis(100), { signal, owner: 'scrape' }).catch(() => undefined);
  }
}
