import { isJsonObject, type JsonObject } from '#base/json.ts';
import { listAt, numberAt, textAt } from '../../json/members.ts';
import type { Column } from '../../resource-row.ts';
import { ageColumn, nameColumn, orNone, text } from './column.ts';

/** Addresses that are written out; the others are counted. */
const SHOWN = 3;

function objectsIn(object: JsonObject, member: string): readonly JsonObject[] {
  return listAt(object, member).filter(isJsonObject);
}

function shortened(all: readonly string[]): string {
  const rest = all.length - SHOWN;
  return `${all.slice(0, SHOWN).join(',')}${rest > 0 ? ` + ${rest} more...` : ''}`;
}

function endpointsCell(object: JsonObject): string {
  const all = objectsIn(object, 'subsets').flatMap((subset) => {
    const addresses = objectsIn(subset, 'addresses').map((address) => textAt(address, 'ip'));
    const ports = objectsIn(subset, 'ports').map((port) => numberAt(port, 'port'));
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((address) => `${address}:${port}`));
  });
  return orNone(shortened(all));
}

/** Columns of Endpoints. */
export const endpointsColumns: readonly Column[] = Object.freeze([
  nameColumn,
  text('Endpoints', endpointsCell),
  ageColumn,
]);

function portsCell(slice: JsonObject): string {
  const ports = objectsIn(slice, 'ports').map((port) => String(numberAt(port, 'port')));
  return ports.length === 0 ? '<unset>' : shortened(ports);
}

function addressesCell(slice: JsonObject): string {
  const addresses = objectsIn(slice, 'endpoints')
    .flatMap((endpoint) => listAt(endpoint, 'addresses'))
    .filter((address) => typeof address === 'string');
  return addresses.length === 0 ? '<unset>' : shortened(addresses);
}

/** Columns of EndpointSlices. */
export const endpointSliceColumns: readonly Column[] = Object.freeze([
  nameColumn,
  text('AddressType', (slice) => textAt(slice, 'addressType')),
  text('Ports', portsCell),
  text('Endpoints', addressesCell),
  ageColumn,
]);
