/** What rollouts under budgets do to ledgers. */
import type { JsonObject } from '#base/json.ts';
import { type Millis, minutes, seconds } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { isLedger } from '#support/history/budget-history.ts';
import { reservationsIn } from '#support/history/ledger-facts.ts';
import type { World, WorldOptions } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { OPERATOR_USER, type OperatorRun } from '#support/world/world-operator.ts';
import { budgetedWorld, makeBudget } from '../stages/budget-stage.ts';

/** Three zones of three pods. */
export const nine: WorldOptions = { replicas: 3, maxUnavailable: '2' };

/** What pods of one ordinal have in common. */
export const partitioned: JsonObject = { podNamePartitionRegex: '[a-z-]+-zone-[a-z]-([0-9]+)' };

/** A group at rest, its operator, and a budget of it that is known. */
export async function underBudget(
  spec: JsonObject,
  options: WorldOptions = nine,
): Promise<{ readonly world: World; readonly operator: OperatorRun }> {
  const world = await budgetedWorld(options);
  const operator = await world.readyOperator();
  await makeBudget(world, spec);
  await world.clock.advance(seconds(20));
  return { world, operator };
}

/** Rolls the group. @returns how long that took, in milliseconds */
export async function roll(world: World, limit: Millis = minutes(30)): Promise<number> {
  const from = world.clock.now();
  await world.setImage(images.new);
  await world.untilRolled(images.new, limit);
  return world.clock.now() - from;
}

/** What operators wrote to ledgers, but for what makes an empty one. */
export function ledgerWrites(world: World): readonly Commit[] {
  return world.cluster.eventLog.commits.filter(
    (commit) => isLedger(commit) && commit.user === OPERATOR_USER && commit.verb === 'update',
  );
}

/** The most pods that were given away at once. */
export function mostGivenAway(world: World): number {
  return Math.max(0, ...ledgerWrites(world).map(({ after }) => reservationsIn(after).length));
}
