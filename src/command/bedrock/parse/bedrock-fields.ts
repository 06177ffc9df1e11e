import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { type Finding, memberPath, seen } from './finding.ts';
import type { Source } from './parse-source.ts';

/** A value, and where it is; undefined where nothing is. */
export interface At {
  readonly value: JsonValue | undefined;
  readonly path: string;
}

/** What a text must be like. */
export interface TextRule {
  readonly pattern: RegExp;
  /** Completes the path, as in `must be …`. */
  readonly wanted: string;
  /** Characters. */
  readonly most: number;
}

/** Names of DNS (RFC 1123): no dots, no slashes, and nothing that a path could be made of. */
export const dnsLabel: TextRule = {
  pattern: /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/,
  wanted: 'must be a name of lower case letters, digits and "-" with at most 63 characters',
  most: 63,
};

/** Returns member `key` of what is at `parent`. */
export function member({ value, path }: At, key: string): At {
  const isThere = isJsonObject(value) && Object.hasOwn(value, key);
  return { value: isThere ? value[key] : undefined, path: memberPath(path, key) };
}

/** Returns the members of `map`, in their order. */
export function members(map: JsonObject, path: string): readonly (At & { readonly key: string })[] {
  return Object.entries(map).map(([key, value]) => ({ key, value, path: memberPath(path, key) }));
}

/** Reads the fields of a `bedrock.yaml` one by one, and keeps what is wrong with them. Null is refused, even where nothing would be accepted. */
export class BedrockFields {
  readonly findings: Finding[] = [];
  readonly #lines: Source['lines'];
  readonly #isLenient: boolean;

  /** @param isLenient whether unknown keys are warnings, not errors */
  constructor(lines: Source['lines'], isLenient: boolean) {
    this.#lines = lines;
    this.#isLenient = isLenient;
  }

  /** Returns the line of `path`, or of what it would be in. */
  lineAt(path: string): number | undefined {
    const line = this.#lines.get(path);
    if (line !== undefined || path === '') return line;
    return this.lineAt(parentPath(path));
  }

  /** Keeps that what is at `at` is not as `wanted`. */
  refuse({ path, value }: At, wanted: string): undefined {
    this.#keep('error', path, `${wanted}: got ${seen(value)}`);
    return undefined;
  }

  /** Keeps `message`, which completes `path`, as an error. */
  fail(path: string, message: string): undefined {
    this.#keep('error', path, message);
    return undefined;
  }

  /** Keeps each key of `at` that `known` has not; `advice` is what to do about one. */
  onlyKeys(at: At, known: readonly string[], advice = `the keys are ${known.join(', ')}`): void {
    if (!isJsonObject(at.value)) return;
    for (const { key, path } of members(at.value, at.path)) {
      if (known.includes(key)) continue;
      this.#keep(this.#isLenient ? 'warning' : 'error', path, `is not a known key: ${advice}`);
    }
  }

  /** Returns the map at `at`; undefined where there is nothing, and where that is something else. */
  map(at: At): JsonObject | undefined {
    if (at.value === undefined || isJsonObject(at.value)) return at.value;
    return this.refuse(at, 'must be a map');
  }

  /** Returns the items of the list at `at`; undefined as {@link map}. */
  list(at: At): readonly At[] | undefined {
    const { value, path } = at;
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) return this.refuse(at, 'must be a list');
    return value.map((each: JsonValue, index) => ({ value: each, path: `${path}[${index}]` }));
  }

  /** Returns the text at `at` where it is as `rule` says; undefined as {@link map}. */
  text(at: At, rule: TextRule = anyText): string | undefined {
    const { value } = at;
    if (value === undefined) return undefined;
    const isText = typeof value === 'string' && value.length <= rule.most;
    return isText && rule.pattern.test(value) ? value : this.refuse(at, rule.wanted);
  }

  /** Returns the integer at `at` where it is in the range, its ends included; undefined as {@link map}. */
  integer(at: At, [least, most]: readonly [least: number, most: number]): number | undefined {
    const { value } = at;
    if (value === undefined) return undefined;
    const isInteger = typeof value === 'number' && Number.isInteger(value);
    if (isInteger && value >= least && value <= most) return value;
    return this.refuse(at, `must be an integer from ${least} to ${most}`);
  }

  #keep(severity: Finding['severity'], path: string, message: string): void {
    this.findings.push({ severity, line: this.lineAt(path), path, message });
  }
}

const anyText: TextRule = {
  pattern: /\S/,
  wanted: 'must be a text of 1 to 4096 characters',
  most: 4_096,
};

/** Returns the parent of `path`; shorter than `path`. */
function parentPath(path: string): string {
  const [last = path] = /(?:^|\.)[^.[\]]*$/.exec(path) ?? /\[[^[]*$/.exec(path) ?? [];
  return path.slice(0, path.length - last.length);
}
