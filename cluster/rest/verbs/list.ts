import type { JsonObject } from '#base/json.ts';
import { apiVersionOf } from '#kubernetes/resource-type.ts';
import { StatusError } from '../../errors/status-error.ts';
import { expiredList } from '../../errors/status-errors.ts';
import { metadataOf } from '../../json/json-fields.ts';
import type { Version } from '../../store/version.ts';
import { collectionOf } from '../request/commit.ts';
import { isVerbatim, presentationOf, presentList } from '../request/presentation.ts';
import {
  type ApiCall,
  type Reply,
  replyWith,
  type ServerContext,
} from '../request/server-context.ts';
import { type ContinueToken, encodeContinue } from './continue-token.ts';
import { listQueryOf } from './list-query.ts';
import { isCustom } from './metadata.ts';
import { candidates, type Selection, selectionOf } from './selection.ts';
import { waitForRevision } from './wait-for-revision.ts';

const COMMA = Buffer.from(',');
const COMMA_AND_BRACE = Buffer.from(',{');
const BRACE = Buffer.from('{');
const END = Buffer.from(']}');

/** One page of a list. */
export interface Page {
  readonly versions: readonly Version[];
  readonly revision: number;
  /** Where the next page starts; undefined on the last. */
  readonly next: ContinueToken | undefined;
  readonly remaining: number | undefined;
}

/** Answers GET of a collection (LW-1…LW-4). */
export async function list(context: ServerContext, call: ApiCall): Promise<Reply> {
  const page = await readPage(context, call);
  const view = presentationOf(context, call);
  if (isVerbatim(view)) return { status: 200, body: encodePage(call, page) };
  const objects = page.versions.map(({ object }) => object);
  return replyWith(200, presentList(view, objects, listMetadata(page)));
}

/** Reads what the request asks for. @throws {StatusError} 400, 410, 422, 504 */
async function readPage(context: ServerContext, call: ApiCall): Promise<Page> {
  const { view, limit, token } = listQueryOf(call.route.query);
  const selection = selectionOf(context, call);
  if (view.kind === 'not-older' || view.kind === 'exact') {
    await waitForRevision(context, call, view.revision);
  }
  if (token !== undefined && token.revision > 0) {
    return cut(call, selection, {
      ...stateAt(context, call, { revision: token.revision, token }),
      limit,
      start: token.start,
    });
  }
  const exact = view.kind === 'exact' ? view.revision : call.viewRevision;
  const state =
    exact === undefined
      ? { versions: candidates(context, call, selection), revision: context.store.revision }
      : stateAt(context, call, { revision: exact, token: undefined });
  // resourceVersion=0 is answered whole, whatever the limit (LW-3).
  const pageSize = view.kind === 'any' ? 0 : limit;
  return cut(call, selection, { ...state, limit: pageSize, start: token?.start ?? '' });
}

function stateAt(
  context: ServerContext,
  call: ApiCall,
  at: { readonly revision: number; readonly token: ContinueToken | undefined },
): { readonly versions: readonly Version[]; readonly revision: number } {
  const versions = collectionOf(context, call).at(at.revision, call.route.namespace);
  if (versions !== undefined) return { versions, revision: at.revision };
  throw at.token === undefined ? expiredList() : new ExpiredTokenError(at.token);
}

/** 410 for a continue token that outlived the log; the answer carries one that goes on from the present (LW-3). */
export class ExpiredTokenError extends StatusError {
  /** The token to put into `metadata.continue`. */
  readonly fresh: string;

  constructor(expired: ContinueToken) {
    super(
      { code: 410, reason: 'Expired' },
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    );
    this.fresh = encodeContinue({ revision: -1, start: expired.start });
  }
}

interface Cut {
  readonly versions: readonly Version[];
  readonly revision: number;
  readonly limit: number;
  readonly start: string;
}

function scoped(call: ApiCall, key: string): string {
  const { namespace } = call.route;
  return namespace === '' ? key : key.slice(namespace.length + 1);
}

function cut(call: ApiCall, selection: Selection, from: Cut): Page {
  const { matches } = selection;
  const matching = matches ? from.versions.filter(({ object }) => matches(object)) : from.versions;
  const rest =
    from.start === '' ? matching : matching.filter(({ key }) => scoped(call, key) >= from.start);
  const { revision, limit } = from;
  const versions = limit > 0 && rest.length > limit ? rest.slice(0, limit) : rest;
  const last = versions.at(-1);
  if (versions.length === rest.length || last === undefined) {
    return { versions, revision, next: undefined, remaining: undefined };
  }
  return {
    versions,
    revision,
    next: { revision, start: `${scoped(call, last.key)}\u0000` },
    remaining: matches === undefined ? rest.length - versions.length : undefined,
  };
}

/** Returns the length of what comes before the metadata: items of built-in lists carry neither kind nor apiVersion. */
function typePrefixLength(call: ApiCall): number {
  const { type } = call.route.row;
  const prefix = JSON.stringify({ kind: type.kind, apiVersion: apiVersionOf(type) });
  return prefix.length;
}

function listMetadata(page: Page): JsonObject {
  return {
    resourceVersion: String(page.revision),
    ...(page.next === undefined ? {} : { continue: encodeContinue(page.next) }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  };
}

function encodePage(call: ApiCall, page: Page): readonly Uint8Array[] {
  const { row } = call.route;
  const metadata = listMetadata(page);
  const head = { kind: `${row.type.kind}List`, apiVersion: apiVersionOf(row.type), metadata };
  const body: Uint8Array[] = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`)];
  const cutAt = isCustom(row) ? 0 : typePrefixLength(call);
  for (const [at, { bytes }] of page.versions.entries()) {
    if (cutAt === 0) {
      if (at > 0) body.push(COMMA);
      body.push(bytes);
    } else {
      body.push(at > 0 ? COMMA_AND_BRACE : BRACE, bytes.subarray(cutAt));
    }
  }
  body.push(END);
  return body;
}

/** Returns the objects of a page, for answers that are made of objects. */
export function nameOf(version: Version): string {
  const { name } = metadataOf(version.object);
  return typeof name === 'string' ? name : '';
}
