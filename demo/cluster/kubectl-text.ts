import type { ApiError } from '#kubernetes/transport/api-error.ts';

/** Returns what the API server says in `error`, without what our client adds. */
function serverText({ message, status }: ApiError): string {
  const whole = message.slice(message.indexOf(': ') + 2);
  return whole.slice(0, whole.lastIndexOf(` (${status}`));
}

/** Returns what kubectl prints for `error`. */
export function kubectlText(error: ApiError): string {
  const text = serverText(error);
  return error.reason === ''
    ? `Error from server: ${text}`
    : `Error from server (${error.reason}): ${text}`;
}

/** Returns what a webhook says in `error`, without the API server's word for who denied it. */
export function denialText(error: ApiError): string {
  return serverText(error).replace(/^admission webhook "[^"]*" denied the request: /, '');
}
