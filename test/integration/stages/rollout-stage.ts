/**
 * The stage of a rolling group: the program on the embedded cluster, judged at the end. Integration tests have one such
 * stage a capability, and show what takes more than one room; none needs anything but this checkout.
 */
import assert from 'node:assert/strict';
import { instant, type Millis, minutes, seconds } from '#base/units.ts';
import { isCountedWrite } from '#support/invariants/liveness/effort.ts';
import type { JudgeOptions } from '#support/judge/chosen-invariants.ts';
import type { World, WorldOptions } from '#support/world/world.ts';
import { OPERATOR_USER, type OperatorRun } from '#support/world/world-operator.ts';
import { worldReasons } from '#support/world/world-reasons.ts';

/** Two zones of two pods, one at a time. */
export const small: WorldOptions = { zones: ['a', 'b'], replicas: 2, maxUnavailable: '1' };

/** Asserts that every promise was kept up to now; that groups are complete only where `options` ask for it. */
export function assertKept(world: World, options: Partial<JudgeOptions> = {}): void {
  const stalls = { said: world.record.stalls, predicates: worldReasons };
  const judgement = world.judge({ stalls, ...options });
  assert.equal(judgement.violations.length, 0, judgement.report());
}

/** Asserts that the world is complete now, stays so for half an hour in which nothing is written, and all else. */
export async function assertAtRest(
  world: World,
  options: Partial<JudgeOptions> = {},
): Promise<void> {
  const completeAt = world.clock.now();
  await world.clock.advance(seconds(5));
  const quietFrom = world.clock.now();
  await world.freezeEnvironment();
  await world.clock.advance(minutes(30));
  assertKept(world, {
    completion: { by: instant(completeAt) },
    quiet: { from: quietFrom },
    ...options,
  });
}

/** Names of the pods that operators took away, in order. */
export function deletedPods(world: World): readonly string[] {
  return world.cluster.eventLog.calls
    .filter(({ user, verb, resource, outcome }) => {
      return user === OPERATOR_USER && verb === 'delete' && resource === 'pods' && outcome === 200;
    })
    .map(({ name }) => name);
}

/** The writes of operators but for Events, as `verb resource/subresource name`. */
export function writesOf(world: World): readonly string[] {
  return world.cluster.eventLog.calls
    .filter((call) => call.user === OPERATOR_USER && isCountedWrite(call))
    .map(({ verb, resource, subresource, name }) =>
      [verb, subresource === '' ? resource : `${resource}/${subresource}`, name].join(' '),
    );
}

/** The distinct reasons on Events about StatefulSet `name`, in order of their first writing. */
export function eventReasons(world: World, name: string): readonly string[] {
  const reasons = world.names('events').map((event) => {
    const { reason, involvedObject } = world.stored('events', event) as unknown as EventShape;
    return involvedObject.name === name ? reason : '';
  });
  return [...new Set(reasons)].filter((reason) => reason !== '');
}

interface EventShape {
  readonly reason: string;
  readonly involvedObject: { readonly name: string };
}

/** Series of one metric, as `labels value`. */
export async function series(
  world: World,
  operator: OperatorRun,
  metric: string,
): Promise<readonly string[]> {
  const text = await world.run(operator.registry.expose());
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${metric}{`))
    .map((line) => line.slice(metric.length));
}

/** Why `group` does not proceed, as the gauge says; undefined when it does. */
export async function blockedBy(
  world: World,
  operator: OperatorRun,
  group: string = 'ingester',
): Promise<string | undefined> {
  const lines = await series(world, operator, 'rollout_operator_group_blocked');
  const line = lines.find((each) => each.includes(`rollout_group="${group}"`));
  return line === undefined ? undefined : /reason="([^"]*)"/.exec(line)?.[1];
}

/** Lets time run until the gauge of blocked groups names `reason`; says what it names when it never does. */
export async function untilBlockedBy(
  world: World,
  reason: string,
  limit: Millis = minutes(5),
): Promise<void> {
  const end = world.clock.now() + limit;
  await world.clock.runUntil(
    () => world.record.stalls.at(-1)?.reason === reason || world.clock.now() > end,
  );
  assert.equal(world.record.stalls.at(-1)?.reason, reason);
}
