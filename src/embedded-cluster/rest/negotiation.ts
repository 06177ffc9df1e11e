import { notAcceptable } from '#embedded-cluster/status-errors.ts';

/** @throws {StatusError} 406 when no entry of the Accept header can be answered with JSON (HT-5) */
export function checkAccept(accept: string | undefined): void {
  if (accept === undefined || accept === '' || accept === 'application/json') return;
  const isServed = accept.split(',').some((entry) => {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim());
    // Tables and partial metadata are not served yet: a client that insists on them must hear so (R0).
    if (parameters.some((parameter) => parameter.startsWith('as='))) return false;
    return type === 'application/json' || type === '*/*' || type === 'application/*';
  });
  if (!isServed) throw notAcceptable(['application/json']);
}
