/** What a stranger can post to make a reader of JSON take memory or time. */
import type { JsonObject, JsonValue } from '#base/json.ts';
import { reviewDocument, scaleRequest, setObject } from '#support/admission/admission-requests.ts';
import type { Size } from '../figures.ts';
import { reviewBytes } from './post-connection.ts';

/** So many posts at once, each over a connection of its own. */
export interface HostileInput {
  readonly name: string;
  readonly post: Buffer;
  readonly count: number;
}

const target = '/admission/no-downscale?timeout=10s';

/** Bytes that are filled, of the 8 MiB that a body may have. */
const sizes: Readonly<Record<Size, number>> = { full: 7.9 * 2 ** 20, tiny: 20_000 };

/** Returns every hostile input; those that ask for a scale make the operator read a set. */
export function hostileInputs(size: Size): readonly HostileInput[] {
  const bytes = sizes[size];
  const one = (name: string, body: string): HostileInput => ({
    name,
    post: posted(body),
    count: 1,
  });
  const escaped = bodyWith(`{${filled(bytes, '"\\u0061bc":1,')}"a":1}`);
  const tolerations = { spec: { tolerations: repeated(Math.floor((bytes * 3) / 24), {}) } };
  return [
    one('escaped names of members', escaped),
    { name: 'eight of these at once', post: posted(escaped), count: 8 },
    one('a million tolerations', review({ object: { ...setObject(), ...tolerations } })),
    one('a name of 7.9 MiB', review({ name: 'x'.repeat(bytes) })),
    one('a uid of escapes', review({ uid: '\u0001'.repeat(Math.floor(bytes / 6)) })),
    one('labels of 7.9 MiB', bodyWith(setWith(`{${filled(bytes, '"abcd":"x",')}"a":"b"}`))),
    one('arrays within arrays', bodyWith('['.repeat(bytes))),
    one('an object that never ends', `{"a":${'{"a":'.repeat(bytes / 5)}`),
    one('no JSON', 'x'.repeat(bytes)),
    { name: 'ten scales of 7.9 MiB that wait', post: posted(scale(bytes)), count: 10 },
    { name: '250 connections', post: posted(review({})), count: size === 'full' ? 250 : 20 },
  ];
}

function posted(body: string): Buffer {
  return reviewBytes(target, body);
}

function review(members: JsonObject): string {
  return JSON.stringify(reviewDocument(members));
}

/** A review whose object is `raw`. */
function bodyWith(raw: string): string {
  return review({ object: '@' }).replace('"@"', () => raw);
}

function setWith(labels: string): string {
  const metadata = { name: 'a', labels: '@' };
  return JSON.stringify({ ...setObject(), metadata }).replace('"@"', () => labels);
}

function scale(bytes: number): string {
  const { kind, subResource, object, oldObject } = scaleRequest(3, 1, { name: 'hostile' });
  const members = { kind: { ...kind }, subResource, object, oldObject, name: 'hostile' };
  return review({ ...members, padding: 'x'.repeat(bytes) });
}

function filled(bytes: number, part: string): string {
  return part.repeat(Math.floor(bytes / part.length));
}

function repeated(count: number, value: JsonValue): JsonValue[] {
  return Array.from({ length: count }, () => value);
}
