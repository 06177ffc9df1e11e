import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';

/** An answer whose whole body is at hand. */
export interface WholeResponse {
  readonly status: number;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns how many bytes the body of a {@link WholeResponse} is sent as. */
export function lengthOf(body: WholeResponse['body']): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

/** Sends `response` and its length. */
export function writeResponse(outgoing: ServerResponse, response: WholeResponse): void {
  const { status, body, contentType = 'text/plain; charset=utf-8', headers = {} } = response;
  const length = lengthOf(body);
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
  // Set, not written: only so can an observer of the answer ask for it.
  outgoing.setHeader('content-length', length);
  if (length > 0) outgoing.setHeader('content-type', contentType);
  outgoing.writeHead(status);
  outgoing.end(body);
}
