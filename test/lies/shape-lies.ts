import { isJsonObject, type JsonObject } from '#base/json.ts';
import { StatusError } from '#cluster/errors/status-error.ts';
import { applyJsonMergePatch } from '#cluster/patch/json-merge-patch.ts';
import { changeRow, sets } from './change-row.ts';
import type { Lie } from './lie.ts';

/** Makes the parents that `pointer` needs. */
function withParents(object: JsonObject, pointer: string): JsonObject {
  const [, first = '', ...rest] = pointer.split('/');
  if (rest.length === 0) return object;
  const child = object[first] ?? {};
  if (!isJsonObject(child)) return object;
  return { ...object, [first]: withParents(child, `/${rest.join('/')}`) };
}

/** Lies about patches and about what a kind has. */
export const shapeLies: Readonly<Record<string, Lie>> = {
  'a JSON patch makes the parents that it needs': {
    trap: 'FT-13',
    file: 'protocol-patches',
    scenario: '[cluster 24] a JSON patch makes no parents',
    tell: ({ context: { rules } }) => {
      const honest = rules.applyPatch;
      const applyPatch: typeof honest = (patch) => {
        const operations = Array.isArray(patch.body) ? patch.body : [];
        const object = operations.reduce<JsonObject>(
          (made, { path }: { readonly path: string }) => withParents(made, path),
          patch.object,
        );
        return honest({ ...patch, object });
      };
      Object.assign(rules, { applyPatch });
    },
  },
  'a strategic merge replaces lists': {
    trap: 'FT-13',
    file: 'protocol-patches',
    scenario: '[cluster 25] a strategic merge changes one variable',
    tell: ({ context: { rules } }) => {
      const honest = rules.applyPatch;
      const applyPatch: typeof honest = (patch) => {
        if (!patch.contentType.includes('strategic') || !isJsonObject(patch.body)) {
          return honest(patch);
        }
        const merged = applyJsonMergePatch(patch.object, patch.body);
        if (isJsonObject(merged)) return merged;
        throw new StatusError({ code: 400, reason: 'BadRequest' }, 'not an object');
      };
      Object.assign(rules, { applyPatch });
    },
  },
  'unknown fields of a built-in kind are kept': {
    trap: 'FT-14',
    file: 'protocol-patches',
    scenario: '[cluster 26] an unknown field of a set',
    tell: (cluster) =>
      changeRow(cluster, sets, () => ({ decode: (object) => ({ object, unknown: [] }) })),
  },
  'a set has no defaults': {
    trap: 'FT-15',
    file: 'defaults',
    scenario: '[cluster 27] the defaults of sets and pods',
    tell: (cluster) => changeRow(cluster, sets, () => ({ prepareForCreate: (object) => object })),
  },
};
