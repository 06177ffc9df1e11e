import { errorOf } from '#base/error-of.ts';
import type { Parsed } from '#base/parsed.ts';
import { invalid, valid } from '#base/parsed.ts';

/**
 * The regular expression of one excluded user agent (FL-25). The peer's expressions are Go's: leading flags
 * such as `(?i)` and named groups `(?P<name>…)` are understood, the rest is common to both languages.
 *
 * @param path the flag, for the problem
 */
export function parseUserAgentPattern(text: string, path: string): Parsed<RegExp> {
  const [prefix = '', flags = ''] = /^\(\?([ims]+)\)/.exec(text) ?? [];
  const source = text.slice(prefix.length).replaceAll('(?P<', '(?<');
  try {
    return valid(new RegExp(source, flags));
  } catch (error) {
    const reason = errorOf(error).message;
    return invalid(path, `must hold regular expressions: got ${JSON.stringify(text)} (${reason})`);
  }
}
