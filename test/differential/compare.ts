/** Two transcripts of one conversation, made comparable and compared (LN-3). */
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Transcript } from './talk.ts';

/** One place where two servers answer differently. */
export interface Difference {
  readonly conversation: string;
  /** Number of the step, from 1, and what was asked. */
  readonly step: string;
  /** Path in the answer, such as `body.metadata.labels`. */
  readonly path: string;
  readonly embedded: JsonValue | undefined;
  readonly real: JsonValue | undefined;
}

/** What differs between the two; empty when they are equal after normalising. */
export function compare(
  conversation: string,
  transcripts: { readonly embedded: Transcript; readonly real: Transcript },
): readonly Difference[] {
  const embedded = normalised(transcripts.embedded);
  const real = normalised(transcripts.real);
  const found: Difference[] = [];
  const count = Math.max(embedded.length, real.length);
  for (let index = 0; index < count; index += 1) {
    const said = transcripts.real.steps[index]?.said ?? transcripts.embedded.steps[index]?.said;
    const step = `${index + 1} ${said ?? ''}`;
    const visit = (path: string, values: readonly (JsonValue | undefined)[]): void => {
      const [one, other] = values;
      if (isJsonObject(one) && isJsonObject(other)) {
        const names = new Set([...Object.keys(one), ...Object.keys(other)]);
        for (const name of names) visit(`${path}.${name}`, [one[name], other[name]]);
      } else if (Array.isArray(one) && Array.isArray(other) && one.length === other.length) {
        one.forEach((item, at) => visit(`${path}[${at}]`, [item, other[at]]));
      } else if (JSON.stringify(one) !== JSON.stringify(other)) {
        found.push({ conversation, step, path: path.slice(1), embedded: one, real: other });
      }
    };
    visit('', summaries(embedded[index], real[index]));
  }
  return found;
}

/** Answers of another status, or of an error and a success, have nothing more in common than that. */
function summaries(
  embedded: JsonObject | undefined,
  real: JsonObject | undefined,
): readonly (JsonObject | undefined)[] {
  if (embedded?.['status'] === real?.['status']) return [embedded, real];
  return [embedded, real].map((answer) => {
    const { status = 0, body = null } = answer ?? {};
    const message = isJsonObject(body) ? (body['message'] ?? null) : null;
    return { status, message };
  });
}

/** The answers with everything replaced that two servers may choose freely. */
function normalised(transcript: Transcript): readonly JsonObject[] {
  const names = new Names();
  for (const { answer } of transcript.steps) names.learn(answer);
  return transcript.steps.map(({ answer }) => {
    const value = names.replace(answer, []);
    return isJsonObject(value) ? value : {};
  });
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/** The age column of a Table, of an object that the conversation made. */
const age = /^\d+s$/;

/** Gives what a server chose freely the name of its rank, so that relations stay comparable. */
class Names {
  readonly #uids = new Map<string, string>();
  readonly #revisions = new Set<number>();
  #sorted: readonly number[] | undefined;

  learn(value: JsonValue | undefined): void {
    if (Array.isArray(value)) for (const item of value) this.learn(item);
    if (!isJsonObject(value)) return;
    const revision = value['resourceVersion'];
    const isObjects = value['uid'] !== undefined;
    if (isObjects && typeof revision === 'string') this.#revisions.add(Number(revision));
    for (const member of Object.values(value)) this.learn(member);
  }

  replace(value: JsonValue, path: readonly string[]): JsonValue {
    if (typeof value === 'string') return this.#text(value, path.at(-1) ?? '');
    if (Array.isArray(value)) return value.map((item) => this.replace(item, path));
    if (!isJsonObject(value)) return value;
    const members = Object.entries(value).filter(([name]) => name !== 'managedFields');
    const replaced: Record<string, JsonValue> = {};
    const isObjects = value['uid'] !== undefined;
    for (const [name, member] of members) {
      if (member === undefined) continue;
      const isState = name === 'resourceVersion' && !isObjects && typeof member === 'string';
      replaced[name] = isState ? this.#state(member) : this.replace(member, [...path, name]);
    }
    return named(replaced);
  }

  #text(text: string, name: string): string {
    if (name === 'resourceVersion') return this.#revision(text);
    if (name === 'continue') return 'token';
    // One of two servers may have been asked a second later.
    if (name === 'cells' && age.test(text)) return '<age>';
    // Begins with the number 299, which some revision has too.
    if (name === 'warning') return text;
    return text
      .replaceAll(uuid, (uid) => this.#uid(uid))
      .replaceAll(time, (_, fraction: string | undefined) =>
        fraction === undefined ? '<time>' : `<time .${fraction.length - 1}>`,
      )
      .replaceAll(/\bc-\d+\b/g, '{ns}')
      .replaceAll(/\b\d{2,}\b/g, (digits) =>
        this.#revisions.has(Number(digits)) ? this.#revision(digits) : digits,
      );
  }

  #uid(uid: string): string {
    const known = this.#uids.get(uid) ?? `<uid ${this.#uids.size + 1}>`;
    this.#uids.set(uid, known);
    return known;
  }

  #revision(text: string): string {
    const rank = this.#order().indexOf(Number(text)) + 1;
    return rank === 0 ? '<revision>' : `<revision ${rank}>`;
  }

  /**
   * The revision of a list or of a bookmark: which of the conversation's writes it has seen. It may be any number between
   * that write and the next, as a server also writes for itself.
   */
  #state(text: string): string {
    const revision = Number(text);
    if (text === '' || Number.isNaN(revision)) return text;
    const rank = this.#order().findLastIndex((written) => written <= revision) + 1;
    return `<since revision ${rank}>`;
  }

  /** The revisions of the conversation's objects, in the order of their writes. */
  #order(): readonly number[] {
    this.#sorted ??= [...this.#revisions].sort((one, other) => one - other);
    return this.#sorted;
  }
}

/** A generated name keeps its shape only. */
function named(object: JsonObject): JsonObject {
  const { generateName, name } = object;
  if (typeof generateName !== 'string' || typeof name !== 'string') return object;
  if (!name.startsWith(generateName)) return object;
  return { ...object, name: `${generateName}${'?'.repeat(name.length - generateName.length)}` };
}
