/** Shorter ones might be part of anything. */
const shortestSecret = 8;

/**
 * Returns `text` without what `authorization` and the values of other headers hold: some servers repeat in their answers what they were sent, also a
 * password as they read it, and messages are kept and logged.
 */
export function withoutSecret(
  text: string,
  authorization = '',
  values: readonly string[] = [],
): string {
  const read = values.map((each) => Buffer.from(each, 'latin1').toString());
  return [...secretsIn(authorization), ...values, ...read]
    .filter((each) => each.length >= shortestSecret)
    .flatMap((each) => [each, encodeURIComponent(each)])
    .reduce((shown, secret) => shown.replaceAll(secret, '…'), text);
}

/** Returns the secret parts of the value of an `Authorization` header, the longest first. */
function secretsIn(authorization: string): readonly string[] {
  const space = authorization.indexOf(' ');
  const sent = authorization.slice(space + 1);
  const isBasic = authorization.slice(0, space) === 'Basic';
  const pair = isBasic ? Buffer.from(sent, 'base64').toString() : '';
  const password = pair.slice(pair.indexOf(':') + 1).trim();
  return [sent, pair, password];
}
