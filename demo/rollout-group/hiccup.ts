import { type Millis, millis } from '#base/units.ts';
import type { ZoneView } from '../observer/zone-view.ts';
import type { PlayOptions } from './play.ts';

/** What came of readiness probes that failed everywhere. */
export interface Hiccup {
  /** How long no pod was ready. */
  readonly lasted: Millis;
  /** Pods that the operator deleted meanwhile. */
  readonly deleted: number;
}

/** How long no probe succeeds, at speed 1. */
const failsFor = 3_000;

/**
 * Lets, in the middle of a rollout, all readiness probes fail for some seconds, and shows that nothing is deleted for that:
 * the pods are as good as before, and only their probes fail.
 *
 * @param until waits for what the API server stores
 */
export async function playHiccup(
  { stage, clock, speed, onPhase, signal }: PlayOptions,
  until: (what: string, test: () => boolean) => Promise<Millis>,
): Promise<Hiccup> {
  const { observer } = stage;
  const { proof } = observer;
  await until('the rollout is under way', () => isInTheMiddle(observer.zones));
  onPhase('all readiness probes fail', stage.elapsed);
  proof.suspend();
  const probes = stage.failProbes();
  try {
    const since = await until('no pod is ready', () => observer.areAll(isDown));
    const before = proof.deletions;
    await clock.sleep(millis(failsFor / speed), { signal });
    const deleted = proof.deletions - before;
    onPhase('the probes succeed again, and the rollout goes on', stage.elapsed);
    return { lasted: millis(stage.elapsed - since), deleted };
  } finally {
    probes.remove();
    await until('all are back but those that are replaced', () => isOrderly(observer.zones));
    proof.resume();
  }
}

/** Reports whether some pod is updated, and no other one can go before one more is. */
function isInTheMiddle(zones: readonly ZoneView[]): boolean {
  const isAnyUpdated = zones.some(({ cells }) =>
    cells.some(({ isUpdated, state }) => isUpdated && state === 'ready'),
  );
  return isAnyUpdated && zones.some(isFull);
}

function isFull({ cells, limit, unavailable }: ZoneView): boolean {
  return unavailable >= Math.min(limit, cells.length);
}

function isDown({ cells }: ZoneView): boolean {
  return cells.every(({ state }) => state !== 'ready');
}

/** Reports whether what is not ready is no more than a rollout may take. */
function isOrderly(zones: readonly ZoneView[]): boolean {
  const down = zones.filter(({ unavailable }) => unavailable > 0);
  return down.length <= 1 && down.every(({ unavailable, limit }) => unavailable <= limit);
}
