import { isJsonObject, type JsonObject } from '#base/json.ts';
import { SpecFields } from '#base/spec-fields.ts';
import type { SecretKey } from '../api.ts';

/** What a text must be like. */
export interface TextRule {
  readonly pattern: RegExp;
  /** Completes the path, as in `must be …`. */
  readonly wanted: string;
  /** Characters. */
  readonly most: number;
}

const secretName: TextRule = {
  pattern: /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/,
  wanted: 'must be the name of a Secret',
  most: 253,
};
const secretKey: TextRule = {
  pattern: /^[-._a-zA-Z0-9]+$/,
  wanted: 'must be a key of that Secret',
  most: 253,
};

/** Reads the fields of a StatefulsetRollout, and keeps what is wrong with them. */
export class RolloutFields extends SpecFields {
  /** Returns the object at `path`; undefined where there is nothing, and where that is something else. */
  object(parent: JsonObject, path: string): JsonObject | undefined {
    const value = parent[lastOf(path)] ?? undefined;
    if (value === undefined || isJsonObject(value)) return value;
    return this.refuse(path, 'must be an object', value);
  }

  /** Returns the text at `path`; undefined where there is nothing, and where that is not as `rule` says. */
  matching(parent: JsonObject, path: string, rule: TextRule): string | undefined {
    const value = parent[lastOf(path)] ?? undefined;
    if (value === undefined) return undefined;
    const isText = typeof value === 'string' && value.length <= rule.most;
    return isText && rule.pattern.test(value) ? value : this.refuse(path, rule.wanted, value);
  }

  /** Returns the text at `path`, which must be there; empty where it is refused. */
  required(parent: JsonObject, path: string, rule: TextRule): string {
    const value = parent[lastOf(path)] ?? undefined;
    if (value === undefined) this.refuse(path, rule.wanted, value);
    return this.matching(parent, path, rule) ?? '';
  }

  /** Returns which of `words` is at `path`; the first where nothing is. */
  choice<const Word extends string>(
    parent: JsonObject,
    path: string,
    words: readonly [Word, ...Word[]],
  ): Word {
    const value = parent[lastOf(path)] ?? words[0];
    const found = words.find((word) => word === value);
    if (found === undefined) this.refuse(path, `must be one of ${words.join(', ')}`, value);
    return found ?? words[0];
  }

  /** Returns the reference to a Secret at `path`; undefined where there is nothing, and where it is refused. */
  secret(parent: JsonObject, path: string): SecretKey | undefined {
    const reference = this.object(parent, path);
    if (reference === undefined) return undefined;
    const name = this.required(reference, `${path}.name`, secretName);
    const key = this.required(reference, `${path}.key`, secretKey);
    return name === '' || key === '' ? undefined : { name, key };
  }
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}
