import { documentAnswer } from '../answers.ts';
import type { ApiAnswer } from '../request/api-request.ts';

const TITLE = 'embedded cluster: its schemas are at /openapi/v3';
const VERSION = 'unversioned';

/** How clients ask for protobuf: before the `v1.0` older ones have a character that no media type may have. */
const askedType = /application\/com\.github\.proto-openapi\.spec\.v2[.@]v1\.0\+protobuf/;
const PROTOBUF_OPENAPI = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/**
 * Returns an OpenAPI v2 document without any path (HT-10). kubectl asks for it where v3 does not have a kind, and only with
 * an answer goes on to its own sentence, `no matches for kind`.
 */
export function emptyOpenApiV2(accept = ''): ApiAnswer {
  if (!askedType.test(accept)) {
    const info = { title: TITLE, version: VERSION };
    return documentAnswer({ swagger: '2.0', info, paths: {}, definitions: {} });
  }
  const info = Buffer.concat([textField(1, TITLE), textField(2, VERSION)]);
  const body = [textField(1, '2.0'), bytesField(2, info)];
  return { kind: 'whole', status: 200, headers: { 'content-type': PROTOBUF_OPENAPI }, body };
}

function textField(number: number, text: string): Buffer {
  return bytesField(number, Buffer.from(text));
}

/** Returns a field of wire type 2 that is shorter than 128 bytes. */
function bytesField(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
}
