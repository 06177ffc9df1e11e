import { statusOf } from '#embedded-cluster/rest/status.ts';
import type { StatusError } from '#embedded-cluster/status-error.ts';
import { encodeLine } from '#embedded-cluster/store/change.ts';

/** Returns the encoded ERROR event of `error` (LW-6). */
export function errorLine(error: StatusError): Uint8Array {
  return encodeLine('ERROR', Buffer.from(JSON.stringify(statusOf(error))));
}
