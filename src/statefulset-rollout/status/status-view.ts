import type { JsonObject } from '#base/json.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import type { Instant } from '#base/units.ts';
import { isReady } from '#statefulset/availability.ts';
import { arrayAt, objectAt, objectsIn, stringAt } from '#statefulset/parse-fields.ts';
import type { PodView } from '#statefulset/view.ts';
import type { SlackHealth } from '../notification/slack-reports.ts';
import type { RolloutView } from '../parse-resource.ts';
import type { RolloutPlan } from '../plan/plan-decision.ts';
import { targetReplicas } from '../plan/plan-percent.ts';
import { isPinned } from '../plan/plan-pinned-set.ts';
import { isLeaked, type Place, placesAfter } from '../plan/plan-places.ts';
import { isTerminal, type Phase } from '../progress.ts';
import type { RolledSet, RolloutSnapshot } from '../snapshot.ts';
import { formatRollout, podsIn } from '../status.ts';
import { type DiscoveryStatus, discoveryStatus } from './discovery-status.ts';
import { newlyUnpinned, rolloutConditions } from './rollout-conditions.ts';

/** What a status is made of. */
export interface StatusParts {
  readonly rollout: RolloutView;
  readonly snapshot: RolloutSnapshot;
  readonly plan: RolloutPlan;
  readonly now: Instant;
  /** How Slack takes messages, as far as this process has sent some. */
  readonly slack?: SlackHealth | undefined;
  /** Where messages of Slack are, if that is not stored yet. @default what is there stays */
  readonly slackMessage?: JsonObject | undefined;
}

/** What is shown of a moment: made once, for the store and for Slack. */
export interface ShownStatus {
  /** The highest ordinal first. */
  readonly places: readonly Place[];
  readonly status: JsonObject;
}

/** Returns `parts` with what is shown of them. */
export function shown<T extends StatusParts>(parts: T): T & ShownStatus {
  const places = placesIn(parts);
  return { ...parts, places, status: formatStatus(parts, places) };
}

/** So many pods are listed one by one; a set that is larger has a number for the others. */
const mostListed = 2_000;
/** Characters of what is said of one pod. */
const longestMessage = 120;
const longestReason = 1_024;
/** Names of pods in the leak report. */
const mostLeaked = 50;

/**
 * Returns the status as it is to be stored, but for when that is.
 *
 * @param highestFirst the places, as {@link placesIn} returns them
 */
export function formatStatus(
  parts: StatusParts,
  highestFirst: readonly Place[] = placesIn(parts),
): JsonObject {
  const { rollout, snapshot, plan, now } = parts;
  const { progress, requeue, because } = plan;
  const places = highestFirst.toReversed();
  const discovered = discoveryStatus(parts, places);
  const listed = places.slice(0, mostListed);
  const names = new Set(listed.map(({ name }) => name));
  const { writtenStatus } = rollout;
  const before = evictionTimes(writtenStatus);
  const reason = because === undefined ? '' : `${because.reason}: ${because.message}`;
  return {
    ...messageOf(parts),
    ...(progress.phase !== undefined && { phase: progress.phase }),
    percentDeployed: progress.percentDeployed,
    reason: reason.slice(0, longestReason),
    readyReplicas: places.filter(({ pod }) => pod !== undefined && isReady(pod)).length,
    ...discovered.fields,
    paused: progress.phase === 'Paused',
    deleted: progress.isDeleted,
    pods: listed.map((place) => podEntry(place, { ...parts, discovered, before })),
    ...(places.length > listed.length && { podsOmitted: places.length - listed.length }),
    ...(!isTerminal(progress.phase) &&
      requeue.kind === 'at' && { reconcileAfter: formatUtcSeconds(requeue.at) }),
    ...buildOf(rollout),
    ...setOf(snapshot),
    ...identityOf(rollout),
    ...(progress.deliveredStage !== '' && { lastCallbackStageId: progress.deliveredStage }),
    observedGeneration: observedBy(parts),
    conditions: rolloutConditions({ ...parts, places }, now),
    rollout: { ...formatRollout(progress, names), ...countsOf(parts, places) },
    ...leakOf(parts, places),
  };
}

/** After its end an edit has been seen to once all has been done that it asks for: until then it is tried again. */
function observedBy({ rollout, snapshot, plan }: StatusParts): number {
  const isToDo = isTerminal(plan.progress.phase) && plan.action !== undefined;
  return isToDo ? snapshot.resource.observedGeneration : rollout.generation;
}

/** Returns the places by ordinal, the highest first; none where there is no set, or the spec cannot be read. */
function placesIn({ snapshot, plan, now }: StatusParts): readonly Place[] {
  return placesAfter(snapshot, plan.progress, now);
}

/** Returns the message as the status has it; where nothing has arrived since the start, when something did before stays. */
function messageOf({ rollout: { writtenStatus }, slackMessage: next }: StatusParts): JsonObject {
  const { slackMessage } = writtenStatus;
  if (next === undefined) return slackMessage === undefined ? {} : { slackMessage };
  const { lastSent } = objectAt(writtenStatus, 'slackMessage');
  return { slackMessage: { ...(lastSent !== undefined && { lastSent }), ...next } };
}

/** Members that are false or empty are left out: there may be a thousand of them. */
function podEntry(
  place: Place,
  parts: StatusParts & {
    readonly discovered: DiscoveryStatus;
    /** When each pod was let go last, as the status has it. */
    readonly before: ReadonlyMap<string, string>;
  },
): JsonObject {
  const { name, pod, isRotated } = place;
  const evictedAt = isRotated ? (evictedNow(name, parts) ?? parts.before.get(name)) : undefined;
  return {
    name,
    ...(pod !== undefined && standingOf(pod, parts.discovered)),
    ...(isRotated && { rotated: true }),
    ...(evictedAt !== undefined && { evictedAt }),
    ...(isLeaked(place) && { leaked: true }),
  };
}

function standingOf(pod: PodView, discovered: DiscoveryStatus): JsonObject {
  const { revision, trouble } = pod;
  const version = pod.labels['app.kubernetes.io/version'] ?? revision;
  return {
    ...(version !== undefined && { version }),
    ...(revision !== undefined && { revision }),
    ...(isReady(pod) && { ready: true }),
    ...(discovered.isReady(pod) && { readyServiceDiscovery: true }),
    ...(trouble !== undefined && { message: trouble.slice(0, longestMessage) }),
  };
}

/** Returns when each pod was let go last, by name, as the status has it. */
function evictionTimes(writtenStatus: JsonObject): ReadonlyMap<string, string> {
  const times = podsIn(writtenStatus).flatMap((pod) => {
    const [name, evictedAt] = [stringAt(pod, 'name'), stringAt(pod, 'evictedAt')];
    return name === undefined || evictedAt === undefined ? [] : [[name, evictedAt] as const];
  });
  return new Map(times);
}

/** Returns the present time where the pod is let go now. */
function evictedNow(name: string, { plan, now }: StatusParts): string | undefined {
  const { action } = plan;
  const isSent = action?.kind === 'evict' && action.pods.some((each) => each.name === name);
  return isSent ? formatUtcSeconds(now) : undefined;
}

function countsOf({ snapshot, plan }: StatusParts, places: readonly Place[]): JsonObject {
  const { spec } = snapshot.resource;
  if (spec.kind === 'invalid' || snapshot.target === undefined) return {};
  const updated = places.filter(({ pod, isStale }) => pod !== undefined && !isStale);
  return {
    targetReplicas: targetReplicas(places.length, spec.value.percent),
    updatedReplicas: updated.length,
    ...(isPinned(plan.progress, snapshot.target.set) && {
      heldRevision: snapshot.target.set.status.currentRevision,
    }),
  };
}

function leakOf(
  { rollout, snapshot, plan, now }: StatusParts,
  places: readonly Place[],
): JsonObject {
  const { resource, target } = snapshot;
  const { spec } = resource;
  const leaked = places.filter(isLeaked);
  const pinned = pinnedBy(plan, target);
  if (spec.kind === 'invalid' || (leaked.length === 0 && pinned === undefined)) return {};
  const pods = leaked.slice(0, mostLeaked).map(({ name }) => name);
  const policy = spec.value.leakPolicy;
  const since = leaked.length > 0 && { since: leakedSince(rollout.writtenStatus, now) };
  return { leak: { policy, leakedReplicas: leaked.length, pods, ...since, ...pinned } };
}

/** Returns the time from which there has been a leak without a break, whatever pods came and went. */
function leakedSince(writtenStatus: JsonObject, now: Instant): string {
  return stringAt(objectAt(writtenStatus, 'leak'), 'since') ?? formatUtcSeconds(now);
}

/** Returns the partition in force. */
function pinnedBy(
  { progress }: RolloutPlan,
  target: RolledSet | undefined,
): JsonObject | undefined {
  if (target === undefined || !isPinned(progress, target.set)) return undefined;
  return { partition: target.set.spec.partition };
}

function setOf({ target, comparison, resource }: RolloutSnapshot): JsonObject {
  if (target === undefined) return { statefulsetSpecCurrent: false };
  const { set } = target;
  // Once it has ended, nothing is compared any more.
  const isEnded = comparison.kind === 'unread' && resource.progress.phase === 'RolloutDone';
  return {
    statefulsetName: set.name,
    statefulsetSpecCurrent: comparison.kind === 'equal' || isEnded,
    replicas: set.spec.replicas,
  };
}

/** Returns the identity of the rollout that is worked on. */
function identityOf({ spec }: RolloutView): JsonObject {
  if (spec.kind === 'invalid' || spec.value.identity === '') return {};
  return { rolloutIdentity: spec.value.identity };
}

function buildOf({ annotations, labels, spec }: RolloutView): JsonObject {
  if (spec.kind === 'invalid') return {};
  const carried = spec.value.set.object;
  const metadata = objectAt(carried, 'metadata');
  const marks = { ...objectAt(metadata, 'annotations'), ...annotations };
  const template = objectAt(objectAt(carried, 'spec'), 'template');
  const containers = objectsIn(arrayAt(objectAt(template, 'spec'), 'containers'));
  const images = containers.flatMap((each) => stringAt(each, 'image') ?? []);
  const key = 'app.kubernetes.io/version';
  const version = labels[key] ?? stringAt(objectAt(metadata, 'labels'), key);
  const build = {
    branch: marks['slack.com/bedrock.git.branch'],
    commitSha: marks['slack.com/bedrock.git.sha'],
    origin: marks['slack.com/bedrock.git.origin'],
    version,
    images,
  };
  const known = Object.entries(build).filter(([, value]) => value !== undefined);
  return { buildMetadata: Object.fromEntries(known) };
}

/** Returns why pods cannot be pinned, where the stored status does not say so; undefined where that is not news. */
export function newlyUnpinnedIn(
  parts: StatusParts & Pick<ShownStatus, 'places'>,
): ReturnType<typeof newlyUnpinned> {
  return newlyUnpinned(parts, parts.rollout.writtenStatus);
}

/** Returns what has changed for good between two statuses: when it is looked again, and when it was written, is no change. */
export function lasting(status: JsonObject): JsonObject {
  const { lastUpdated: _written, reconcileAfter: _due, ...rest } = status;
  return rest;
}

/** Phases in which pods go and come: which of them it is says only what is waited for, and is found out at each look. */
const rolling: readonly unknown[] = [
  'RollingOut',
  'WaitingForReady',
  'WaitingForServiceDiscovery',
] satisfies Phase[];

/**
 * Returns the part that decisions rest on: it is stored before anything rests on it. What is counted again at each look is
 * none of it, and neither is when the last pod came up: a deadline may be a second late.
 */
export function deciding(status: JsonObject): JsonObject {
  const phase = rolling.includes(status['phase']) ? 'RollingOut' : status['phase'];
  const { observedGeneration, paused, deleted } = status;
  // While service discovery cannot be asked, what it said last is read from here.
  const { readyReplicasRotor, consulServices } = status;
  const {
    mostHealthy: _healthy,
    lastProgressTime: _progress,
    targetReplicas: _target,
    updatedReplicas: _updated,
    ...rollout
  } = objectAt(status, 'rollout');
  const discovered = { readyReplicasRotor, consulServices };
  return { phase, observedGeneration, paused, deleted, ...discovered, rollout };
}
