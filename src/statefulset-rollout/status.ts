import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { parseTimestamp } from '#base/time/timestamp.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { type Instant, millis } from '#base/units.ts';
import { arrayAt, integerAt, objectAt, objectsIn, stringAt } from '#statefulset/parse-fields.ts';
import { formatCallback, parseCallback } from './callback-progress.ts';
import { type BatchPod, type Outcome, phases, type RolloutProgress } from './progress.ts';

/** Returns where the rollout of a stored object stands; what cannot be read counts as not written. */
export function parseProgress(object: JsonObject): RolloutProgress {
  const status = objectAt(object, 'status');
  const rollout = objectAt(status, 'rollout');
  const phase = phases.find((each) => each === status['phase']);
  return Object.freeze({
    phase,
    key: stringAt(rollout, 'key') ?? '',
    templateHash: stringAt(rollout, 'templateHash') ?? '',
    attempt: integerAt(rollout, 'attempt') ?? 0,
    ...timesOf(rollout),
    outcome: outcomeOf(rollout),
    isCreator: rollout['created'] === true,
    isAdopted: rollout['adopted'] === true,
    isDeleted: status['deleted'] === true,
    rotated: rotatedOf(status, rollout),
    batch: objectsIn(arrayAt(rollout, 'batch')).flatMap(batchPodOf),
    mostHealthy: integerAt(rollout, 'mostHealthy') ?? 0,
    pausedTime: millis((integerAt(rollout, 'pausedSeconds') ?? 0) * 1_000),
    pausedSinceProgress: millis((integerAt(rollout, 'pausedSecondsSinceProgress') ?? 0) * 1_000),
    targetRevision: stringAt(rollout, 'targetRevision') ?? '',
    partition: integerAt(rollout, 'partition'),
    isRollback: rollout['rollback'] === true,
    isWritten: rollout['written'] === true,
    percentDeployed: integerAt(status, 'percentDeployed') ?? 0,
    callback: parseCallback(objectAt(rollout, 'callback')),
    deliveredStage: stringAt(status, 'lastCallbackStageId') ?? '',
    discovered: new Set(arrayAt(rollout, 'discovered').filter((name) => typeof name === 'string')),
  });
}

type Times = Pick<
  RolloutProgress,
  'startedAt' | 'finishedAt' | 'lastEviction' | 'lastProgress' | 'pausedSince'
>;

function timesOf(rollout: JsonObject): Times {
  return {
    startedAt: timeOf(rollout['startedAt']),
    finishedAt: timeOf(rollout['finishedAt']),
    lastEviction: timeOf(rollout['lastEvictionTime']),
    lastProgress: timeOf(rollout['lastProgressTime']),
    pausedSince: timeOf(rollout['pausedSince']),
  };
}

function timeOf(value: JsonValue | undefined): Instant | undefined {
  const parsed = typeof value === 'string' ? parseTimestamp(value, '') : undefined;
  return parsed?.kind === 'valid' ? parsed.value : undefined;
}

function outcomeOf(rollout: JsonObject): Outcome | undefined {
  const result = rollout['outcome'];
  if (result !== 'Done' && result !== 'Failed') return undefined;
  return {
    result,
    code: stringAt(rollout, 'outcomeCode') ?? '',
    message: stringAt(rollout, 'outcomeMessage') ?? '',
  };
}

function batchPodOf(pod: JsonObject): readonly BatchPod[] {
  const { name, uid } = pod;
  return typeof name === 'string' && typeof uid === 'string' ? [{ name, uid }] : [];
}

/** Marks of pods are with them; of those that are not listed, in addition. */
function rotatedOf(status: JsonObject, rollout: JsonObject): ReadonlySet<string> {
  const listed = podsIn(status).filter(({ rotated }) => rotated === true);
  const names = [...listed.map(({ name }) => name), ...arrayAt(rollout, 'rotatedUnlisted')];
  return new Set(names.filter((name) => typeof name === 'string'));
}

/** The list is written as `pods`; as it was published once it began with a capital letter. */
export function podsIn(status: JsonObject): readonly JsonObject[] {
  const { pods = status['Pods'] } = status;
  return Array.isArray(pods) ? pods.filter(isJsonObject) : [];
}

/** Returns what is in `status.rollout`. */
export function formatRollout(progress: RolloutProgress, listed: ReadonlySet<string>): JsonObject {
  const { key, templateHash, attempt, outcome, batch, mostHealthy, targetRevision } = progress;
  const unlisted = [...progress.rotated].filter((name) => !listed.has(name));
  return {
    key,
    templateHash,
    attempt,
    ...timeField('startedAt', progress.startedAt),
    ...timeField('finishedAt', progress.finishedAt),
    ...formatOutcome(outcome),
    ...formatOrigin(progress),
    ...(unlisted.length > 0 && { rotatedUnlisted: unlisted }),
    ...(batch.length > 0 && { batch: batch.map(({ name, uid }) => ({ name, uid })) }),
    ...timeField('lastEvictionTime', progress.lastEviction),
    ...timeField('lastProgressTime', progress.lastProgress),
    ...(mostHealthy > 0 && { mostHealthy }),
    ...timeField('pausedSince', progress.pausedSince),
    ...secondsField('pausedSeconds', progress.pausedTime),
    ...secondsField('pausedSecondsSinceProgress', progress.pausedSinceProgress),
    ...(targetRevision !== '' && { targetRevision }),
    ...(progress.partition !== undefined && { partition: progress.partition }),
    ...(progress.isRollback && { rollback: true }),
    ...formatCallback(progress.callback),
    ...(progress.discovered.size > 0 && { discovered: [...progress.discovered].toSorted() }),
    ...(progress.isWritten && { written: true }),
  };
}

function formatOrigin({ isCreator, isAdopted }: RolloutProgress): JsonObject {
  return { ...(isCreator && { created: true }), ...(isAdopted && { adopted: true }) };
}

function formatOutcome(outcome: Outcome | undefined): JsonObject {
  if (outcome === undefined) return {};
  const { result, code, message } = outcome;
  return { outcome: result, outcomeCode: code, outcomeMessage: message };
}

/** Returns a time in whole seconds, rounded down, as times of the API are. */
function timeField(name: string, at: Instant | undefined): JsonObject {
  return at === undefined ? {} : { [name]: formatUtcSeconds(at) };
}

function secondsField(name: string, span: number): JsonObject {
  return span > 0 ? { [name]: Math.round(span / 1_000) } : {};
}

/** Returns the names of pods that are in `status` as leaked. */
export function leakedIn(status: JsonObject): ReadonlySet<string> {
  const listed = podsIn(status).filter(({ leaked }) => leaked === true);
  const names = [...listed.map(({ name }) => name), ...arrayAt(objectAt(status, 'leak'), 'pods')];
  return new Set(names.filter((name) => typeof name === 'string'));
}
