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
  outgoing.writeHead(response.status, headersOf(response, bytes.length));
  outgoing.end(bytes);
}

function headersOf(
  { contentType = 'text/plain; charset=utf-8', headers = {} }: WholeResponse,
  length: number,
): Record<string, string> {
  const type = length === 0 ? undefined : { 'content-type': contentType };
  return { ...headers, 'content-length': String(length), ...type };
}
