import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { splitApiVersion } from '#kubernetes/resource-type.ts';
import { listAt, numberAt, objectAt, textAt } from '../../json/members.ts';
import type { Column } from '../../resource-row.ts';
import { ageColumn, integer, metadataOf, nameColumn, text } from './column.ts';

function specOf(object: JsonObject): JsonObject | undefined {
  return objectAt(object, 'spec');
}

function statusCount(member: string): (object: JsonObject) => number {
  return (object) => numberAt(objectAt(object, 'status'), member);
}

function readyCell(object: JsonObject): string {
  return `${statusCount('readyReplicas')(object)}/${numberAt(specOf(object), 'replicas')}`;
}

function templateContainers(object: JsonObject, member: string): string {
  const template = objectAt(objectAt(specOf(object), 'template'), 'spec');
  return listAt(template, 'containers')
    .filter(isJsonObject)
    .map((container) => textAt(container, member))
    .join(',');
}

const containersColumn = text('Containers', (object) => templateContainers(object, 'name'), 1);
const imagesColumn = text('Images', (object) => templateContainers(object, 'image'), 1);
/** Columns of StatefulSets (TB-2). */
export const statefulSetColumns: readonly Column[] = Object.freeze([
  nameColumn,
  text('Ready', readyCell),
  ageColumn,
  containersColumn,
  imagesColumn,
]);

/** Columns of Scales; as upstream, none of them is said to be the name. */
export const scaleColumns: readonly Column[] = Object.freeze([
  { ...nameColumn, format: '' },
  integer('Desired', (object) => numberAt(specOf(object), 'replicas')),
  integer('Available', statusCount('replicas')),
  ageColumn,
]);

function orNotApplicable(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'N/A';
}

/** Columns of PodDisruptionBudgets (TB-2). */
export const podDisruptionBudgetColumns: readonly Column[] = Object.freeze([
  nameColumn,
  text('Min Available', (budget) => orNotApplicable(specOf(budget)?.['minAvailable'])),
  text('Max Unavailable', (budget) => orNotApplicable(specOf(budget)?.['maxUnavailable'])),
  integer('Allowed Disruptions', statusCount('disruptionsAllowed')),
  ageColumn,
]);

function controllerCell(revision: JsonObject): string {
  const owner = listAt(metadataOf(revision), 'ownerReferences')
    .filter(isJsonObject)
    .find((reference) => reference['controller'] === true);
  if (owner === undefined) return '<none>';
  const [group] = splitApiVersion(textAt(owner, 'apiVersion'));
  const kind = textAt(owner, 'kind').toLowerCase();
  return `${group === '' ? kind : `${kind}.${group}`}/${textAt(owner, 'name')}`;
}

/** Columns of ControllerRevisions (TB-2). */
export const controllerRevisionColumns: readonly Column[] = Object.freeze([
  nameColumn,
  text('Controller', controllerCell),
  text('Revision', (revision) => numberAt(revision, 'revision')),
  ageColumn,
]);
