import type { JsonObject } from '#base/json.ts';
import { podsText } from '#base/text/pods-text.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { arrayAt, integerAt, objectAt, objectsIn, stringAt } from '#statefulset/parse-fields.ts';
import { podsIn } from '#statefulset-rollout/status.ts';
import { plainText, progressLine, rolloutReport } from './rollout-report.ts';

/** Pods and conditions that are reported one by one: there may be a thousand. */
const mostTold = 20;

/** Returns what `bedrock status` says of a stored StatefulsetRollout, in whole lines. */
export function statusText(object: KubernetesObject): string {
  const { name, namespace = 'default' } = object.metadata;
  const status = objectAt(object, 'status');
  const pods = podsIn(status);
  const lines = [
    progressLine(`${namespace}/${name}`, rolloutReport(object)),
    ...field('version', versionOf(status)),
    ...field('pods', podCounts(status)),
    ...field('versions', versionCounts(pods)),
    ...field('set', setText(status)),
    ...field('pause', pauseText(object, status)),
    ...field('rollout', rolloutText(status)),
    ...field('leak', leakText(status)),
    ...some('condition', objectsIn(arrayAt(status, 'conditions')).flatMap(conditionText)),
    ...some('pod', pods.flatMap(podText)),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function field(label: string, text: string): readonly string[] {
  return text === '' ? [] : [`  ${`${label}:`.padEnd(11)}${text}`];
}

function some(label: string, texts: readonly string[]): readonly string[] {
  const left = texts.length - mostTold;
  const told = texts.slice(0, mostTold).flatMap((text) => field(label, text));
  return left > 0 ? [...told, ...field(label, `and ${left} more`)] : told;
}

function word(parent: JsonObject, name: string): string {
  return plainText(stringAt(parent, name) ?? '');
}

function versionOf(status: JsonObject): string {
  const build = objectAt(status, 'buildMetadata');
  const whence = ['branch', 'commitSha', 'origin'].map((name) => word(build, name));
  const known = whence.filter((each) => each !== '').join(', ');
  return [word(build, 'version'), known === '' ? '' : `(${known})`].join(' ').trim();
}

function podCounts(status: JsonObject): string {
  const ready = integerAt(status, 'readyReplicas');
  if (ready === undefined) return '';
  const { targetReplicas, updatedReplicas } = objectAt(status, 'rollout');
  const found = integerAt(status, 'readyReplicasRotor');
  return [
    `${ready} of ${integerAt(status, 'replicas') ?? '?'} ready`,
    ...(found === undefined ? [] : [`${found} in service discovery`]),
    ...(typeof targetReplicas === 'number' && typeof updatedReplicas === 'number'
      ? [`${updatedReplicas} updated of ${targetReplicas} that are to be`]
      : []),
  ].join(', ');
}

function versionCounts(pods: readonly JsonObject[]): string {
  const counts = new Map<string, number>();
  for (const pod of pods) {
    const version = word(pod, 'version') || 'unknown';
    counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  return [...counts].map(([version, count]) => `${count} with ${version}`).join(', ');
}

function setText(status: JsonObject): string {
  const name = word(status, 'statefulsetName');
  if (name === '') return '';
  const isCurrent = status['statefulsetSpecCurrent'] === true;
  return `${name}, ${isCurrent ? 'as it is wanted' : 'not yet as it is wanted'}`;
}

function pauseText(object: KubernetesObject, status: JsonObject): string {
  const { isPauseRequested } = rolloutReport(object);
  const isPaused = status['paused'] === true;
  if (isPaused) return isPauseRequested ? 'paused by request' : 'paused, about to go on';
  return isPauseRequested ? 'requested' : '';
}

function rolloutText(status: JsonObject): string {
  const rollout = objectAt(status, 'rollout');
  const parts = [
    ['identity', word(status, 'rolloutIdentity')],
    ['attempt', String(integerAt(rollout, 'attempt') ?? '')],
    ['since', word(rollout, 'startedAt')],
    ['until', word(rollout, 'finishedAt')],
  ];
  return parts.flatMap(([label, text]) => (text === '' ? [] : [`${label} ${text}`])).join(', ');
}

/** Names the pods that came back new before they were reached, and since when there have been some. */
function leakText(status: JsonObject): string {
  const leak = objectAt(status, 'leak');
  const count = integerAt(leak, 'leakedReplicas') ?? 0;
  if (count === 0) return '';
  const since = word(leak, 'since');
  return [podsText(count), since === '' ? '' : `since ${since}`].join(' ').trim();
}

/** Names the conditions that are not as they should be; the first two say what phase and reason say already. */
function conditionText(condition: JsonObject): readonly string[] {
  const type = word(condition, 'type');
  const bad = ['VersionLeak', 'ParallelismLimited'].includes(type) ? 'True' : 'False';
  if (['Ready', 'Progressing'].includes(type) || condition['status'] !== bad) return [];
  return [`${type} ${bad}: ${[word(condition, 'reason'), word(condition, 'message')].join(': ')}`];
}

function podText(pod: JsonObject): readonly string[] {
  const message = word(pod, 'message');
  if (pod['ready'] === true && message === '' && pod['leaked'] !== true) return [];
  const marks = [
    word(pod, 'version'),
    pod['ready'] === true ? 'ready' : 'not ready',
    pod['leaked'] === true ? 'leaked' : '',
    message,
  ];
  return [`${word(pod, 'name')}: ${marks.filter((mark) => mark !== '').join(', ')}`];
}
