import { messageOf } from '#base/error-of.ts';

/** Returns what `error`, of a request, says; in plain words where Node has its own. */
export function causeOf(error: Error): string {
  const message = messageOf(error);
  if (message === 'socket hang up' || message === 'aborted') {
    return 'the connection was closed before the whole answer';
  }
  return message.replace(/^Parse Error: /, 'the answer is not valid HTTP/1.1: ');
}
