import { invalid, type Parsed, valid } from '#base/parsed.ts';

/** Bytes of a value that a header takes from a Secret. */
export const longestValue = 8_192;

/** What no header may carry. The peer finds it at each request, and tries again for ever. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const control = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** Reads `value`, which a header is to carry, from the key of a Secret that `path` names. */
export function parseOneLine(path: string, value: string): Parsed<string> {
  if (!control.test(value)) return valid(value);
  const found = /[\r\n]/.test(value) ? 'a line break' : 'a control character';
  return invalid(path, `must be one line of printable characters: found ${found}`);
}

/** Reads the value of a header from the key of a Secret. @param name of the Secret, for the problem */
export function parseHeaderValue(
  name: string,
  key: string,
  values: ReadonlyMap<string, string>,
): Parsed<string> {
  const path = `Secret "${name}", key ${key}`;
  const value = values.get(key) ?? '';
  if (value === '') return invalid(path, `must hold 1 to ${longestValue} bytes: found none`);
  return parseOneLine(path, value);
}
