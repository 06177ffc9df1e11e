import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';

/** An answer whose whole body is at hand. */
export interface WholeResponse {
  readonly status: number;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The body of a {@link WholeResponse} as it is sent. */
export function bytesOf(body: WholeResponse['body']): Uint8Array<ArrayBuffer> {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

/** Sends `response` and its length. */
export function writeResponse(outgoing: ServerResponse, response: WholeResponse): void {
  const bytes = bytesOf(response.body);
  const { status, contentType = 'text/plain; charset=utf-8', headers = {} } = response;
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
  // Set, not written: only so can whoever observes the answer ask for it.
  outgoing.setHeader('content-length', bytes.length);
  if (bytes.length > 0) outgoing.setHeader('content-type', contentType);
  outgoing.writeHead(status);
  outgoing.end(bytes);
}
