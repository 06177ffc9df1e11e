import type { JsonObject } from '#base/json.ts';
/** Groups under a budget whose evictions operators review, in virtual time, and what was down of them. */
import { minutes, seconds } from '#base/units.ts';
import type { World, WorldOptions } from '#support/world/world.ts';
import { reviewEvictions } from '#support/world/world-evictions.ts';
import { budgetedWorld, makeBudget } from '../stages/budget-stage.ts';

/** Three zones of three, at rest under a budget of one unless `spec` says more, whose evictions one operator reviews, or several do. */
export async function reviewedWorld(
  operators = 1,
  options: Omit<WorldOptions, 'operators'> = {},
  spec: JsonObject = { maxUnavailable: 1 },
): Promise<World> {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1', ...options, operators });
  for (let started = 0; started < operators; started += 1) await world.readyOperator();
  await world.clock.advance(minutes(3));
  await reviewEvictions(world);
  await makeBudget(world, spec);
  await world.clock.advance(seconds(11));
  return world;
}

/** Counts how many zones have a pod less than they should, at most, from now on. */
export function zonesDown(world: World): () => number {
  const down = new Map<string, Set<string>>();
  const seen = { most: 0 };
  world.cluster.eventLog.onCommit(({ resource, name, after }) => {
    if (resource !== 'pods') return;
    const zone = name.replace(/-\d+$/, '');
    const pods = down.get(zone) ?? new Set();
    down.set(zone, pods);
    if (isAvailable(after)) pods.delete(name);
    else pods.add(name);
    seen.most = Math.max(seen.most, [...down.values()].filter(({ size }) => size > 0).length);
  });
  return () => seen.most;
}

function isAvailable(pod: unknown): boolean {
  const { metadata, status } = (pod ?? {}) as {
    readonly metadata?: { readonly deletionTimestamp?: string };
    readonly status?: {
      readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    };
  };
  const isReady = status?.conditions?.some(
    (each) => each.type === 'Ready' && each.status === 'True',
  );
  return metadata?.deletionTimestamp === undefined && isReady === true;
}
