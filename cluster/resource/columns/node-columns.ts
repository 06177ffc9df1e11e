import type { JsonObject } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { listAt, objectAt, textAt } from '../../json/members.ts';
import type { Column } from '../../resource-row.ts';
import { ageColumn, metadataOf, nameColumn, orNone, text } from './column.ts';

const ROLE_PREFIX = 'node-role.kubernetes.io/';

function objectsIn(node: JsonObject, member: string): readonly JsonObject[] {
  return listAt(objectAt(node, 'status'), member).filter(isJsonObject);
}

function statusCell(node: JsonObject): string {
  const ready = objectsIn(node, 'conditions').find(({ type }) => type === 'Ready');
  const isCordoned = objectAt(node, 'spec')?.['unschedulable'] === true;
  return `${readinessOf(ready)}${isCordoned ? ',SchedulingDisabled' : ''}`;
}

function readinessOf(ready: JsonObject | undefined): string {
  if (ready === undefined) return 'Unknown';
  return ready['status'] === 'True' ? 'Ready' : 'NotReady';
}

function rolesCell(node: JsonObject): string {
  const roles = Object.keys(objectAt(metadataOf(node), 'labels') ?? {})
    .filter((label) => label.startsWith(ROLE_PREFIX) && label.length > ROLE_PREFIX.length)
    .map((label) => label.slice(ROLE_PREFIX.length));
  return orNone(roles.toSorted().join(','));
}

function address(type: string): (node: JsonObject) => string {
  return (node) =>
    orNone(
      textAt(
        objectsIn(node, 'addresses').find((entry) => entry['type'] === type),
        'address',
      ),
    );
}

function machine(member: string): (node: JsonObject) => string {
  return (node) => textAt(objectAt(objectAt(node, 'status'), 'nodeInfo'), member) || '<unknown>';
}

/** Columns of Nodes (TB-2). */
export const nodeColumns: readonly Column[] = Object.freeze([
  nameColumn,
  text('Status', statusCell),
  text('Roles', rolesCell),
  ageColumn,
  text('Version', (node) =>
    textAt(objectAt(objectAt(node, 'status'), 'nodeInfo'), 'kubeletVersion'),
  ),
  text('Internal-IP', address('InternalIP'), 1),
  text('External-IP', address('ExternalIP'), 1),
  text('OS-Image', machine('osImage'), 1),
  text('Kernel-Version', machine('kernelVersion'), 1),
  text('Container-Runtime', machine('containerRuntimeVersion'), 1),
]);
