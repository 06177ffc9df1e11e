import { Buffer } from 'node:buffer';

const specBegins = Buffer.from('"spec":{');
const statusBegins = Buffer.from(',"status":{');
const managedFieldsBegin = Buffer.from(',"managedFields":[');
const annotationsBegin = Buffer.from(',"annotations":{"');
/** The annotation by which a bookmark ends a streaming list (LW-9). */
const listEnds = Buffer.from('k8s.io/initial-events-end');
const uidBegins = Buffer.from('"uid":"');
/** A text is meant: any other value there names no node. */
const nodeNameBegins = Buffer.from('"nodeName":"');
/** What is before the spec where an array is the last member of the metadata. */
const arrayEndsMetadata = Buffer.from(']},');

const backslash = 0x5c;
const quote = 0x22;
const braceOpens = 0x7b;
const brace = 0x7d;
const bracketOpens = 0x5b;
const bracket = 0x5d;
const colon = 0x3a;
const comma = 0x2c;

/** Whether the spec of objects is read; see {@link withoutSpec} for which types it can be left out; `node-name`: of a pod's nothing but that. */
export type SpecReading = boolean | 'node-name';

/** Returns how the text of a watch event is read, where not all of it is; undefined where it is. @param isSpecRead true by default */
export function textReading(
  isSpecRead: SpecReading | undefined,
): ((line: Buffer) => string) | undefined {
  if (isSpecRead === 'node-name') return withoutSpecButNode;
  return isSpecRead === false ? withoutSpec : undefined;
}

/**
 * Returns the text of one watch event without the object's spec, annotations and managed fields, where these can be cut out
 * without parsing; else the whole.
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
  return withSpec(line, () => 'null');
}

/** Returns {@link withoutSpec} of a pod, but for the name of its node, which is all of its spec that stays. */
export function withoutSpecButNode(line: Buffer): string {
  return withSpec(line, (spec) => {
    const nodeName = nodeNameIn(spec);
    return nodeName === undefined ? 'null' : `{"nodeName":${nodeName}}`;
  });
}

/** The text of `line` with what `kept` says in the place of the object's spec. */
function withSpec(line: Buffer, kept: (spec: Buffer) => string): string {
  const spec = line.indexOf(specBegins);
  const status = line.lastIndexOf(statusBegins);
  if (spec < 0 || status < spec) return line.toString('utf8');
  const head = line.subarray(0, spec);
  const managed = managedFieldsAtEnd(head);
  const metadata =
    managed < 0 ? withoutAnnotations(head) : `${withoutAnnotations(head.subarray(0, managed))}},`;
  const rest = kept(line.subarray(spec + specBegins.length - 1, status));
  return `${metadata}"spec":${rest}${line.toString('utf8', status)}`;
}

/**
 * Returns the member `nodeName` of `spec`, as it is written; undefined where that has no such text of its own: a member of
 * that name may be deeper as well, as among the labels that a selector matches.
 */
function nodeNameIn(spec: Buffer): string | undefined {
  if (!spec.includes(nodeNameBegins)) return undefined;
  let depth = 0;
  for (let at = 0; at < spec.length; at += 1) {
    const byte = spec[at];
    depth += deeperBy(byte);
    if (byte !== quote) continue;
    const isMember = depth === 1 && isAt(spec, nodeNameBegins, at);
    const begin = isMember ? at + nodeNameBegins.length : at + 1;
    const end = endOfText(spec, begin);
    if (end < 0) return undefined;
    if (isMember) return spec.toString('utf8', begin - 1, end + 1);
    at = end;
  }
  return undefined;
}

function deeperBy(byte: number | undefined): number {
  if (byte === braceOpens || byte === bracketOpens) return 1;
  return byte === brace || byte === bracket ? -1 : 0;
}

function isAt(bytes: Buffer, part: Buffer, at: number): boolean {
  return bytes.subarray(at, at + part.length).equals(part);
}

/**
 * Returns the text of `head` without the annotations of the metadata: a flat map of texts, so that its end can be seen. The
 * mark of a bookmark stays.
 */
function withoutAnnotations(head: Buffer): string {
  const begin = head.indexOf(annotationsBegin);
  if (begin < 0) return head.toString('utf8');
  const end = endOfMap(head, begin + annotationsBegin.length);
  if (end < 0 || head.subarray(begin, end).includes(listEnds)) return head.toString('utf8');
  return `${head.toString('utf8', 0, begin)}${head.toString('utf8', end)}`;
}

/** Returns the index behind a map of texts whose first text begins at `from`; -1 where it is something else. */
function endOfMap(head: Buffer, from: number): number {
  for (let begin = from; ; ) {
    const end = endOfText(head, begin);
    if (end < 0) return -1;
    const next = head[end + 1];
    if (next === brace) return end + 2;
    // Behind a key, or a text that is not the last, another text begins: a brace may be its first character.
    if ((next !== colon && next !== comma) || head[end + 2] !== quote) return -1;
    begin = end + 3;
  }
}

/** Returns the index of the quote that ends the text which begins at `from`; -1 when there is none. */
function endOfText(head: Buffer, from: number): number {
  for (let at = head.indexOf(quote, from); at >= 0; at = head.indexOf(quote, at + 1)) {
    let before = at;
    while (head[before - 1] === backslash) before -= 1;
    // An even number of backslashes are characters of the text; an odd one leaves the quote escaped.
    if ((at - before) % 2 === 0) return at;
  }
  return -1;
}

/** Returns where the managed fields begin, if nothing of the metadata follows them up to the end of `head`; else -1. */
function managedFieldsAtEnd(head: Buffer): number {
  const begin = head.indexOf(managedFieldsBegin);
  if (begin < 0 || !head.subarray(-arrayEndsMetadata.length).equals(arrayEndsMetadata)) return -1;
  const uid = head.indexOf(uidBegins);
  return uid >= 0 && uid < begin ? begin : -1;
}
