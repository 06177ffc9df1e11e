import { bool, fields, int, kept, list, listBy, mapOf, text } from './field-schema.ts';
import { kindOf, objectReference } from './metadata.ts';

const address = fields({
  ip: kept(text),
  hostname: text,
  nodeName: kept(text),
  targetRef: objectReference,
});

/** Endpoints. */
export const endpoints = kindOf({
  subsets: list(
    fields({
      addresses: list(address),
      notReadyAddresses: list(address),
      ports: list(fields({ name: text, port: kept(int), protocol: text, appProtocol: kept(text) })),
    }),
  ),
});

const forNames = list(fields({ name: kept(text) }));

/** EndpointSlice. */
export const endpointSlice = kindOf({
  addressType: kept(text),
  endpoints: kept(
    list(
      fields({
        addresses: kept(list(text)),
        conditions: fields({ ready: kept(bool), serving: kept(bool), terminating: kept(bool) }),
        hostname: kept(text),
        targetRef: objectReference,
        deprecatedTopology: mapOf(text),
        nodeName: kept(text),
        zone: kept(text),
        hints: fields({ forZones: forNames, forNodes: forNames }),
      }),
    ),
  ),
  ports: kept(
    listBy(
      'port',
      fields({
        name: kept(text),
        protocol: kept(text),
        port: kept(int),
        appProtocol: kept(text),
      }),
    ),
  ),
});
