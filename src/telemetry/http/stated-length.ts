import type { OutgoingHttpHeader } from 'node:http';

/** Returns the bytes of a body as its `content-length` states them; 0 when it states none. */
export function statedLength(contentLength: OutgoingHttpHeader | undefined): number {
  const length = Number(contentLength ?? 0);
  return Number.isInteger(length) ? length : 0;
}
