import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { formatUtcSeconds } from '#base/utc-seconds.ts';
import { isReady } from '#statefulset/availability.ts';
import { arrayAt, objectAt, objectsIn, stringAt } from '#statefulset/parse-fields.ts';
import type { PodView } from '#statefulset/view.ts';
import type { RolloutView } from './parse-resource.ts';
import type { RolloutPlan } from './plan-decision.ts';
import { targetReplicas } from './plan-percent.ts';
import { isLeaked, type Place, placesAfter } from './plan-places.ts';
import { isTerminal } from './progress.ts';
import { rolloutConditions } from './rollout-conditions.ts';
import type { RolloutSnapshot } from './snapshot.ts';
import { formatRollout, podsIn } from './status.ts';

/** What a status is made of. */
export interface StatusParts {
  readonly rollout: RolloutView;
  readonly snapshot: RolloutSnapshot;
  readonly plan: RolloutPlan;
  readonly now: Instant;
}

/** So many pods are listed one by one; a set that is larger has a number for the others. */
const mostListed = 2_000;
/** Characters of what is said of one pod. */
const longestMessage = 120;
const longestReason = 1_024;
/** Names of pods in the leak report. */
const mostLeaked = 50;

/** Returns the status as it is to be stored, but for when that is. */
export function formatStatus(parts: StatusParts): JsonObject {
  const { rollout, snapshot, plan, now } = parts;
  const { progress, requeue, because } = plan;
  const places = placesAfter(snapshot, progress, now).toReversed();
  const listed = places.slice(0, mostListed);
  const names = new Set(listed.map(({ name }) => name));
  const { writtenStatus } = rollout;
  const reason = because === undefined ? '' : `${because.reason}: ${because.message}`;
  return {
    ...keptOf(writtenStatus),
    ...(progress.phase !== undefined && { phase: progress.phase }),
    percentDeployed: progress.percentDeployed,
    reason: reason.slice(0, longestReason),
    readyReplicas: places.filter(({ pod }) => pod !== undefined && isReady(pod)).length,
    ...discoveredIn(snapshot, places),
    paused: progress.phase === 'Paused',
    deleted: progress.isDeleted,
    pods: listed.map((place) => podEntry(place, parts)),
    ...(places.length > listed.length && { podsOmitted: places.length - listed.length }),
    ...(!isTerminal(progress.phase) &&
      requeue.kind === 'at' && { reconcileAfter: formatUtcSeconds(requeue.at) }),
    ...buildOf(rollout),
    ...setOf(snapshot),
    ...identityOf(rollout),
    observedGeneration: rollout.generation,
    conditions: rolloutConditions({ ...parts, places }, now),
    rollout: { ...formatRollout(progress, names), ...countsOf(parts, places) },
    ...leakOf(parts, places),
  };
}

/** What others of this program write: it stays as it is. */
function keptOf(status: JsonObject): JsonObject {
  const { slackMessage, lastCallbackStageId, consulServices } = status;
  return {
    ...(slackMessage !== undefined && { slackMessage }),
    ...(lastCallbackStageId !== undefined && { lastCallbackStageId }),
    ...(consulServices !== undefined && { consulServices }),
  };
}

function discoveredIn({ discovery }: RolloutSnapshot, places: readonly Place[]): JsonObject {
  if (discovery.kind !== 'known') return {};
  const passing = places.filter(({ pod }) => pod !== undefined && discovery.passing.has(pod.uid));
  return { readyReplicasRotor: passing.length };
}

/** Members that are false or empty are left out: there may be a thousand of them. */
function podEntry(place: Place, parts: StatusParts): JsonObject {
  const { name, pod, isRotated } = place;
  const evictedAt = isRotated ? evictedAtOf(name, parts) : undefined;
  return {
    name,
    ...(pod !== undefined && standingOf(pod, parts.snapshot)),
    ...(isRotated && { rotated: true }),
    ...(evictedAt !== undefined && { evictedAt }),
    ...(isLeaked(place) && { leaked: true }),
  };
}

function standingOf(pod: PodView, { discovery }: RolloutSnapshot): JsonObject {
  const { revision, trouble, uid } = pod;
  const version = pod.labels['app.kubernetes.io/version'] ?? revision;
  const isDiscovered = discovery.kind === 'known' && discovery.passing.has(uid);
  return {
    ...(version !== undefined && { version }),
    ...(revision !== undefined && { revision }),
    ...(isReady(pod) && { ready: true }),
    ...(isDiscovered && { readyServiceDiscovery: true }),
    ...(trouble !== undefined && { message: trouble.slice(0, longestMessage) }),
  };
}

/** When the pod was let go last; undefined where it never was. */
function evictedAtOf(name: string, { rollout, plan, now }: StatusParts): string | undefined {
  const { action } = plan;
  const isSent = action?.kind === 'evict' && action.pods.some((each) => each.name === name);
  if (isSent) return formatUtcSeconds(now);
  const before = podsIn(rollout.writtenStatus).find((each) => each['name'] === name);
  return before === undefined ? undefined : stringAt(before, 'evictedAt');
}

function countsOf({ snapshot }: StatusParts, places: readonly Place[]): JsonObject {
  const { spec } = snapshot.resource;
  if (spec.kind === 'invalid' || snapshot.target === undefined) return {};
  const updated = places.filter(({ pod, isStale }) => pod !== undefined && !isStale);
  return {
    targetReplicas: targetReplicas(places.length, spec.value.percent),
    updatedReplicas: updated.length,
  };
}

function leakOf({ snapshot }: StatusParts, places: readonly Place[]): JsonObject {
  const { spec } = snapshot.resource;
  const leaked = places.filter(isLeaked);
  if (spec.kind === 'invalid' || leaked.length === 0) return {};
  const pods = leaked.slice(0, mostLeaked).map(({ name }) => name);
  return { leak: { policy: spec.value.leakPolicy, leakedReplicas: leaked.length, pods } };
}

function setOf({ target, comparison, resource }: RolloutSnapshot): JsonObject {
  if (target === undefined) return { statefulsetSpecCurrent: false };
  const { set } = target;
  // Once it has ended nobody compares any more.
  const isEnded = comparison.kind === 'unread' && resource.progress.phase === 'RolloutDone';
  return {
    statefulsetName: set.name,
    statefulsetSpecCurrent: comparison.kind === 'equal' || isEnded,
    replicas: set.spec.replicas,
  };
}

/** Of the rollout that is worked on. */
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

/** Returns what has changed for good between two statuses: when it is looked again, and when it was written, is no change. */
export function lasting(status: JsonObject): JsonObject {
  const { lastUpdated: _written, reconcileAfter: _due, ...rest } = status;
  return rest;
}

/** Returns the part that decisions rest on: it is stored before anything rests on it. */
export function deciding(status: JsonObject): JsonObject {
  const { phase, observedGeneration, paused, deleted, percentDeployed, rollout } = status;
  return { phase, observedGeneration, paused, deleted, percentDeployed, rollout };
}
