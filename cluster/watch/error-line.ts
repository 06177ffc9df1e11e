import type { StatusError } from '../errors/status-error.ts';
import { statusOf } from '../rest/request/status.ts';
import { encodeLine } from '../store/change.ts';

/** Returns the encoded ERROR event of `error` (LW-6). */
export function errorLine(error: StatusError): Uint8Array {
  return encodeLine('ERROR', Buffer.from(JSON.stringify(statusOf(error))));
}
