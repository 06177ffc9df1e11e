import type { JsonObject } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { listAt, numberAt, objectAt, textAt } from '../../json/members.ts';
import type { Column } from '../../resource-row.ts';
import { ageColumn, count, integer, nameColumn, orNone, text } from './column.ts';
import { humanAge } from './human-age.ts';

function specOf(object: JsonObject): JsonObject | undefined {
  return objectAt(object, 'spec');
}

function statusOf(object: JsonObject): JsonObject | undefined {
  return objectAt(object, 'status');
}

function sizeOf(...maps: readonly (JsonObject | undefined)[]): number {
  return maps.reduce((size, map) => size + Object.keys(map ?? {}).length, 0);
}

/** Columns of Namespaces (TB-2). */
export const namespaceColumns: readonly Column[] = Object.freeze([
  nameColumn,
  text('Status', (namespace) => textAt(statusOf(namespace), 'phase')),
  ageColumn,
]);

/** Columns of ConfigMaps. */
export const configMapColumns: readonly Column[] = Object.freeze([
  nameColumn,
  count('Data', (map) => sizeOf(objectAt(map, 'data'), objectAt(map, 'binaryData'))),
  ageColumn,
]);

/** Columns of Secrets. */
export const secretColumns: readonly Column[] = Object.freeze([
  nameColumn,
  text('Type', (secret) => textAt(secret, 'type')),
  count('Data', (secret) => sizeOf(objectAt(secret, 'data'))),
  ageColumn,
]);

/** Columns of ServiceAccounts. */
export const serviceAccountColumns: readonly Column[] = Object.freeze([
  nameColumn,
  integer('Secrets', (account) => listAt(account, 'secrets').length),
  ageColumn,
]);

/** Columns of Leases (TB-2). */
export const leaseColumns: readonly Column[] = Object.freeze([
  nameColumn,
  text('Holder', (lease) => textAt(specOf(lease), 'holderIdentity')),
  ageColumn,
]);

function portsCell(service: JsonObject): string {
  const ports = listAt(specOf(service), 'ports')
    .filter(isJsonObject)
    .map((port) => {
      const node = port['nodePort'] === undefined ? '' : `:${numberAt(port, 'nodePort')}`;
      return `${numberAt(port, 'port')}${node}/${textAt(port, 'protocol')}`;
    });
  return orNone(ports.join(','));
}

function serviceSelectorCell(service: JsonObject): string {
  const selector = objectAt(specOf(service), 'selector') ?? {};
  return orNone(
    Object.keys(selector)
      .map((key) => `${key}=${textAt(selector, key)}`)
      .toSorted()
      .join(','),
  );
}

/** Columns of Services. */
export const serviceColumns: readonly Column[] = Object.freeze([
  nameColumn,
  text('Type', (service) => textAt(specOf(service), 'type')),
  text('Cluster-IP', (service) => orNone(textAt(specOf(service), 'clusterIP'))),
  text('External-IP', (service) => orNone(textAt(specOf(service), 'externalName'))),
  text('Port(s)', portsCell),
  ageColumn,
  text('Selector', serviceSelectorCell, 1),
]);

function lastSeenCell(event: JsonObject, now: number): string {
  const series = textAt(objectAt(event, 'series'), 'lastObservedTime');
  const seen = series || textAt(event, 'lastTimestamp') || textAt(event, 'eventTime');
  return humanAge(seen, now);
}

function firstSeenCell(event: JsonObject, now: number): string {
  return humanAge(textAt(event, 'firstTimestamp') || textAt(event, 'eventTime'), now);
}

function involvedCell(event: JsonObject): string {
  const involved = objectAt(event, 'involvedObject');
  const kind = textAt(involved, 'kind').toLowerCase();
  return `${kind}/${textAt(involved, 'name')}`;
}

function sourceCell(event: JsonObject): string {
  const source = objectAt(event, 'source');
  const component = textAt(source, 'component') || textAt(event, 'reportingComponent');
  const host = textAt(source, 'host') || textAt(event, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}

/** Columns of Events (TB-2). */
export const eventColumns: readonly Column[] = Object.freeze([
  text('Last Seen', lastSeenCell),
  text('Type', (event) => textAt(event, 'type')),
  text('Reason', (event) => textAt(event, 'reason')),
  text('Object', involvedCell),
  text('Subobject', (event) => textAt(objectAt(event, 'involvedObject'), 'fieldPath'), 1),
  text('Source', sourceCell, 1),
  text('Message', (event) => textAt(event, 'message').trim()),
  text('First Seen', firstSeenCell, 1),
  text('Count', (event) => String(numberAt(event, 'count', 1)), 1),
  Object.freeze({ ...nameColumn, priority: 1 }),
]);
