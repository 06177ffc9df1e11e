import { Buffer } from 'node:buffer';

const specBegins = Buffer.from('"spec":{');
const statusBegins = Buffer.from(',"status":{');

/**
 * The text of one watch event without the object's spec, where that can be cut out without parsing; else the whole.
 *
 * Most of a pod is its spec, and parsing it only to drop it is most of what filling a cache costs. Inside a JSON
 * string every quote is escaped, so both marks are found between values only. The API server writes the members of
 * an object in the order metadata, spec, status: the first `"spec":{` is the object's own, as metadata has none, and
 * the last `,"status":{` is too, where nothing in the status has an object of that name. `null` takes its place.
 *
 * @param line one event as UTF-8, of a type whose spec is not read and whose status has no member `status` that is
 * an object: pods
 */
export function withoutSpec(line: Buffer): string {
  const spec = line.indexOf(specBegins);
  const status = line.lastIndexOf(statusBegins);
  if (spec < 0 || status < spec) return line.toString('utf8');
  const value = spec + specBegins.length - 1;
  return `${line.toString('utf8', 0, value)}null${line.toString('utf8', status)}`;
}
