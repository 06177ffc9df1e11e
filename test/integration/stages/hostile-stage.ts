import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json.ts';
import { type Instant, type Millis, millis, seconds } from '#base/units.ts';
import type { FaultMatch } from '#cluster/faults.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#support/world/world.ts';
import { GROUP, NAMESPACE } from '#support/world/world-group.ts';
import type { LogEntry } from '#support/world/world-log.ts';
import { OPERATOR_USER, type OperatorRun } from '#support/world/world-operator.ts';
import { blockedBy } from './rollout-stage.ts';

/** Longer than any test; a request that is delayed by it never ends. */
export const forEver: Millis = seconds(1_000_000);

/** A request to delete a pod, whatever came of it. */
export interface SentDeletion {
  readonly pod: string;
  /** When it arrived at the API server. */
  readonly at: Instant;
  /** The image of the pod that it took away; undefined where it took none. */
  readonly image: string | undefined;
}

/** A text that an operator put on record, and when. */
interface Said {
  readonly at: Instant;
  readonly reason: string;
  readonly message: string;
}

/** What operators asked of the API server: `resource` and `verb` of one kind of call, in order of arrival. */
function sent(world: World, verb: string, resource: string): World['cluster']['eventLog']['calls'] {
  return world.cluster.eventLog.calls
    .filter((call) => call.user === OPERATOR_USER)
    .filter((call) => call.verb === verb && call.resource === resource)
    .toSorted((one, other) => one.startedAt - other.startedAt);
}

/** The deletions of pods that arrived at `from` or later, but for those that are not answered yet. */
export function deletionsSince(world: World, from: number): readonly SentDeletion[] {
  const images = new Map<number, string | undefined>();
  for (const { callId, resource, before } of world.cluster.eventLog.commits) {
    if (resource === 'pods' && before !== undefined) images.set(callId, imageOf(before));
  }
  return sent(world, 'delete', 'pods')
    .filter(({ startedAt }) => startedAt >= from)
    .map(({ name, startedAt, callId }) => ({
      pod: name,
      at: startedAt,
      image: images.get(callId),
    }));
}

function imageOf(pod: JsonObject): string | undefined {
  const { spec } = pod as unknown as {
    readonly spec: { readonly containers: readonly { readonly image: string }[] };
  };
  return spec.containers[0]?.image;
}

/** Names of the pods that {@link deletionsSince} tells of. */
export function podsDeletedSince(world: World, from: number): readonly string[] {
  return deletionsSince(world, from).map(({ pod }) => pod);
}

/** How many calls operators sent within `span` from `from`. */
export function callsWithin(
  world: World,
  [verb, resource]: readonly [string, string],
  [from, span]: readonly [number, Millis],
): number {
  return sent(world, verb, resource).filter(
    ({ startedAt }) => startedAt >= from && startedAt < from + span,
  ).length;
}

/** What Events said about the set `name`, in order: each time that one was created, or brought up to date. */
export function eventsAbout(world: World, name: string): readonly Said[] {
  return world.cluster.eventLog.commits
    .filter(({ resource, user }) => resource === 'events' && user === OPERATOR_USER)
    .flatMap(({ at, after }) => {
      const event = after as unknown as StoredEvent | undefined;
      if (event?.involvedObject.name !== name) return [];
      return [{ at, reason: event.reason, message: event.message }];
    });
}

interface StoredEvent {
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly name: string };
}

/** What the log said since `from` that anybody would read without asking for more: no line of level debug. */
export function logSince(world: World, from: number): readonly LogEntry[] {
  return world.record.log.filter(({ at, level }) => at >= from && level !== 'debug');
}

/** A line of the log as one text. */
export function textOf({ level, message, fields }: LogEntry): string {
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${String(value)}`);
  return [level, message, ...rest].join(' ');
}

/** Replaces the condition Ready of a stored pod, as a kubelet or a controller does. */
export async function setReady(world: World, pod: string, condition: JsonObject): Promise<void> {
  const document = { status: { conditions: [{ type: 'Ready', ...condition }] } };
  const write = { body: { kind: 'strategic', document }, subresource: 'status' } as const;
  await world.run(
    world.admin.patch(resourceTypes.pods, { namespace: NAMESPACE, name: pod }, write),
  );
}

/** Has all requests that `match` is about take until `end`: whatever they ask is done, and answered, only then. */
export function freeze(world: World, match: FaultMatch, end: number): () => void {
  const action = {
    kind: 'delay',
    get delay(): Millis {
      return millis(Math.max(0, end - world.clock.now()));
    },
  } as const;
  return world.cluster.faults.add({ match, action });
}

/** Lets nothing of `resource` reach the watches of `operator`, old and new ones. @returns what lets it through again */
export function silence(world: World, operator: OperatorRun, resource: string): () => void {
  const { client } = operator;
  const { faults } = world.cluster;
  const [plural = resource] = resource.split('.');
  const disarm = faults.add({
    match: { client, verb: 'watch', resource: plural },
    action: { kind: 'watch', action: 'pause' },
  });
  const watches = faults.watches({ client, resource });
  for (const watch of watches) watch.pause();
  return () => {
    disarm();
    for (const watch of faults.watches({ client, resource })) watch.resume();
  };
}

/** Asserts that the gauge of blocked groups names one of `reasons` for `group`. */
export async function assertBlockedBy(
  [world, operator]: readonly [World, OperatorRun],
  reasons: readonly string[],
  group: string = GROUP,
): Promise<void> {
  const reason = await blockedBy(world, operator, group);
  assert.ok(reasons.includes(reason ?? 'nothing'), `blocked by ${reason ?? 'nothing'}`);
}
