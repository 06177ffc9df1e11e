import { errorOf } from '#base/error-of.ts';
import type { Parsed } from '#base/parsed.ts';
import { invalid, valid } from '#base/parsed.ts';

/** Characters of a user agent that are looked at; honest ones have half at most. */
const longestUserAgent = 256;

/**
 * Looks at the beginning of a text only. Its sender chooses its length, and an expression as common as
 * `.*kube-probe.*` takes time by the square of that, where Go's take it in one run.
 */
class PatternOfBeginning extends RegExp {
  override exec(text: string): RegExpExecArray | null {
    return super.exec(text.slice(0, longestUserAgent));
  }
}

/**
 * Returns the regular expression of one excluded user agent (FL-25). The peer's expressions are Go's: leading flags such as
 * `(?i)` and named groups `(?P<name>…)` are understood, the rest is common to both languages.
 *
 * @param path the flag, for the problem
 */
export function parseUserAgentPattern(text: string, path: string): Parsed<RegExp> {
  const [prefix = '', flags = ''] = /^\(\?([ims]+)\)/.exec(text) ?? [];
  const source = text.slice(prefix.length).replaceAll('(?P<', '(?<');
  try {
    return valid(new PatternOfBeginning(source, flags));
  } catch (error) {
    const reason = errorOf(error).message;
    return invalid(path, `must hold regular expressions: got ${JSON.stringify(text)} (${reason})`);
  }
}
