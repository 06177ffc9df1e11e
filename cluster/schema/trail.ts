import type { JsonValue } from '#base/json.ts';

/** Raised where a value has the wrong JSON type; the message is a clause such as `json: cannot unmarshal …`. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/** The place of a decoder, and which unknown fields it has met. One per decoded object. */
export class Trail {
  readonly unknown: string[] = [];
  readonly #path: (number | string)[] = [];

  /** Steps into a member or an element. */
  enter(step: number | string): void {
    this.#path.push(step);
  }

  /** Steps back out. */
  leave(): void {
    this.#path.pop();
  }

  /** Notes an unknown member of the current place. */
  noteUnknown(member: string): void {
    const path = this.path();
    this.unknown.push(path === '' ? member : `${path}.${member}`);
  }

  /** Returns the current place, such as `spec.template.spec.containers[0]`. */
  path(): string {
    let path = '';
    for (const step of this.#path) {
      if (typeof step === 'number') path += `[${step}]`;
      else path += path === '' ? step : `.${step}`;
    }
    return path;
  }

  /** Throws a mismatch. @throws {DecodeError} always: `value` is not what `wanted` says */
  mismatch(value: JsonValue, wanted: string): never {
    const seen = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    throw new DecodeError(
      `json: cannot unmarshal ${seen} into field ${this.path()} of type ${wanted}`,
    );
  }
}
