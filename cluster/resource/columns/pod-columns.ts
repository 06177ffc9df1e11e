import type { JsonObject } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { listAt, numberAt, objectAt, textAt } from '../../json/members.ts';
import type { Column } from '../../resource-row.ts';
import { ageColumn, metadataOf, nameColumn, orNone, text } from './column.ts';
import { humanAge } from './human-age.ts';

function statusOf(pod: JsonObject): JsonObject | undefined {
  return objectAt(pod, 'status');
}

function objectsAt(from: JsonObject | undefined, member: string): readonly JsonObject[] {
  return listAt(from, member).filter(isJsonObject);
}

function containers(pod: JsonObject): readonly JsonObject[] {
  return objectsAt(statusOf(pod), 'containerStatuses');
}

function isRunning(container: JsonObject): boolean {
  const state = objectAt(container, 'state');
  return container['ready'] === true && objectAt(state, 'running') !== undefined;
}

function readyCell(pod: JsonObject): string {
  const wanted = listAt(objectAt(pod, 'spec'), 'containers').length;
  return `${containers(pod).filter(isRunning).length}/${wanted}`;
}

/** Returns why a container does not run, or an empty text. */
function troubleOf(container: JsonObject): string {
  const state = objectAt(container, 'state');
  const waiting = textAt(objectAt(state, 'waiting'), 'reason');
  if (waiting !== '') return waiting;
  const terminated = objectAt(state, 'terminated');
  if (terminated === undefined) return '';
  const reason = textAt(terminated, 'reason');
  if (reason !== '') return reason;
  const signal = numberAt(terminated, 'signal');
  return signal === 0 ? `ExitCode:${numberAt(terminated, 'exitCode')}` : `Signal:${signal}`;
}

function isConditionTrue(pod: JsonObject, type: string): boolean {
  return objectsAt(statusOf(pod), 'conditions').some(
    (condition) => condition['type'] === type && condition['status'] === 'True',
  );
}

/** Returns the one word that says how a pod is (TB-3). */
function podStatusCell(pod: JsonObject): string {
  const status = statusOf(pod);
  const phase = textAt(status, 'phase');
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  if (metadataOf(pod)?.['deletionTimestamp'] !== undefined && !isOver) return 'Terminating';
  // The first container in trouble speaks for the pod.
  const trouble = containers(pod)
    .map(troubleOf)
    .find((reason) => reason !== '');
  const reason = trouble ?? (textAt(status, 'reason') || phase);
  if (reason !== 'Completed' || !containers(pod).some(isRunning)) return reason;
  return isConditionTrue(pod, 'Ready') ? 'Running' : 'NotReady';
}

function restartsCell(pod: JsonObject, now: number): string {
  let restarts = 0;
  let last = '';
  for (const container of containers(pod)) {
    restarts += numberAt(container, 'restartCount');
    const ended = objectAt(objectAt(container, 'lastState'), 'terminated');
    const finishedAt = textAt(ended, 'finishedAt');
    if (finishedAt > last) last = finishedAt;
  }
  return restarts === 0 || last === ''
    ? String(restarts)
    : `${restarts} (${humanAge(last, now)} ago)`;
}

function readinessGatesCell(pod: JsonObject): string {
  const gates = objectsAt(objectAt(pod, 'spec'), 'readinessGates');
  if (gates.length === 0) return '<none>';
  const passed = gates.filter((gate) => isConditionTrue(pod, textAt(gate, 'conditionType')));
  return `${passed.length}/${gates.length}`;
}

/** Columns of pods (TB-2). */
export const podColumns: readonly Column[] = Object.freeze([
  nameColumn,
  text('Ready', readyCell),
  text('Status', podStatusCell),
  text('Restarts', restartsCell),
  ageColumn,
  text('IP', (pod) => orNone(textAt(statusOf(pod), 'podIP')), 1),
  text('Node', (pod) => orNone(textAt(objectAt(pod, 'spec'), 'nodeName')), 1),
  text('Nominated Node', (pod) => orNone(textAt(statusOf(pod), 'nominatedNodeName')), 1),
  text('Readiness Gates', readinessGatesCell, 1),
]);
