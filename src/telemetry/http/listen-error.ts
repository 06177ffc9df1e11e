import { errorText } from '../error-text.ts';

/** What a server failed to begin. */
export interface ListenAttempt {
  /** What it would have served, as in `Cannot serve webhooks on port 443`. */
  readonly serves: 'HTTP' | 'webhooks';
  readonly port: number;
}

/** Returns why a server cannot listen, as one sentence; `cause` is what listening threw. */
export function listenError({ serves, port }: ListenAttempt, cause: unknown): Error {
  const isInUse = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
  const reason = isInUse ? 'the port is in use by another program' : errorText(cause);
  return new Error(`Cannot serve ${serves} on port ${port}: ${reason}`, { cause });
}
