import { Buffer } from 'node:buffer';

const specBegins = Buffer.from('"spec":{');
const statusBegins = Buffer.from(',"status":{');
const managedFieldsBegin = Buffer.from(',"managedFields":[');
const uidBegins = Buffer.from('"uid":"');
/** What stands before the spec where an array is the last member of the metadata. */
const arrayEndsMetadata = Buffer.from(']},');

/**
 * The text of one watch event without the object's spec and its managed fields, where these can be cut out without
 * parsing; else the whole.
 *
 * Most of a pod is its spec, and parsing it only to drop it is most of what filling a cache costs. Inside a JSON
 * string every quote is escaped, so both marks are found between values only. The API server writes the members of
 * an object in the order metadata, spec, status: the first `"spec":{` is the object's own, as metadata has none, and
 * the last `,"status":{` is too, where nothing in the status has an object of that name. `null` takes its place.
 *
 * The managed fields are the last member of the metadata that the API server writes (field order of ObjectMeta), and
 * half of what is left. A writer that sorts its members puts them before the uid: then they stay.
 *
 * @param line one event as UTF-8, of a type whose spec is not read and whose status has no member `status` that is
 * an object: pods
 */
export function withoutSpec(line: Buffer): string {
  const spec = line.indexOf(specBegins);
  const status = line.lastIndexOf(statusBegins);
  if (spec < 0 || status < spec) return line.toString('utf8');
  const head = line.subarray(0, spec);
  const managed = managedFieldsAtEnd(head);
  const metadata = managed < 0 ? head.toString('utf8') : `${head.toString('utf8', 0, managed)}},`;
  return `${metadata}"spec":null${line.toString('utf8', status)}`;
}

/** Where the managed fields begin, if nothing of the metadata follows them up to the end of `head`; else -1. */
function managedFieldsAtEnd(head: Buffer): number {
  const begin = head.indexOf(managedFieldsBegin);
  if (begin < 0 || !head.subarray(-arrayEndsMetadata.length).equals(arrayEndsMetadata)) return -1;
  const uid = head.indexOf(uidBegins);
  return uid >= 0 && uid < begin ? begin : -1;
}
