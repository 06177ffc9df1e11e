import type { JsonObject } from '#base/json.ts';

/** One stored state of one object: frozen, with its JSON bytes made once and then shared (PF-2). */
export class Version {
  /** `<namespace>/<name>`, or `<name>` for cluster-scoped objects (ST-2). */
  readonly key: string;
  readonly object: JsonObject;
  readonly revision: number;
  #bytes: Buffer | undefined;

  constructor(key: string, object: JsonObject, revision: number) {
    this.key = key;
    this.object = object;
    this.revision = revision;
  }

  /** The object as JSON; `kind` and `apiVersion` come first. */
  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(JSON.stringify(kindFirst(this.object)));
    return this.#bytes;
  }
}

/** Lists cut `kind` and `apiVersion` off the front of an item (LW-4), so defaults must not have come before them. */
function kindFirst(object: JsonObject): JsonObject {
  const [first, second] = Object.keys(object);
  if (first === 'kind' && second === 'apiVersion') return object;
  const { kind, apiVersion, ...rest } = object;
  return { kind, apiVersion, ...rest };
}
