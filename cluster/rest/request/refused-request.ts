import { type Refusal, refusalText, refusedPaths } from '../../errors/refusals.ts';
import { StatusError } from '../../errors/status-error.ts';
import { groupResource, notFound } from '../../errors/status-errors.ts';
import type { ResourceRow } from '../../resource-row.ts';
import type { RowIndex } from './row-index.ts';
import type { ServerContext } from './server-context.ts';

/** A request for what a real cluster has and this one refuses. */
export interface RefusedRoute {
  readonly kind: 'refused';
  readonly refusal: Refusal;
  /** The object whose part was asked for; absent where it is no part of one. */
  readonly of:
    | { readonly row: ResourceRow; readonly namespace: string; readonly name: string }
    | undefined;
}

/**
 * Returns the refusal for `rest`, the segments behind `apiVersion`; undefined where the path is unknown on a real cluster
 * too.
 */
export function refusedRoute(
  rows: RowIndex,
  apiVersion: string,
  rest: readonly string[],
): RefusedRoute | undefined {
  const { namespace, plural, name, subresource } = partsOf(rest);
  const key = `${apiVersion} ${[plural, ...subresource].join('/')}`;
  const refusal = Object.hasOwn(refusedPaths, key) ? refusedPaths[key] : undefined;
  if (refusal === undefined) return undefined;
  const row = rows.find(apiVersion, plural);
  return { kind: 'refused', refusal, of: row && { row, namespace, name } };
}

interface Parts {
  readonly namespace: string;
  readonly plural: string;
  readonly name: string;
  /** Its name alone, or nothing; what follows it, such as the path of `proxy`, is its own. */
  readonly subresource: readonly string[];
}

function partsOf(rest: readonly string[]): Parts {
  const isNamespaced = rest[0] === 'namespaces' && rest.length > 2;
  const [plural = '', name = '', ...subresource] = isNamespaced ? rest.slice(2) : rest;
  return {
    namespace: isNamespaced ? (rest[1] ?? '') : '',
    plural,
    name,
    subresource: subresource.slice(0, 1),
  };
}

/**
 * Returns why `route` is answered with an error. As on a real cluster, an object that is not there comes first. A kind that
 * is not served is 404, as on a cluster without its API; a part of an object that exists is not, or clients would take the
 * object for gone.
 */
export function refusalOf({ store }: ServerContext, { refusal, of }: RefusedRoute): StatusError {
  const text = refusalText(refusal);
  if (of === undefined)
    return new StatusError({ code: 404, reason: 'NotFound', details: {} }, text);
  const { row, namespace, name } = of;
  const key = namespace === '' ? name : `${namespace}/${name}`;
  if (store.collection(groupResource(row)).get(key) === undefined) return notFound(row, name);
  return new StatusError({ code: 501, reason: 'NotImplemented', details: {} }, text);
}
