import { badRequest } from '../../errors/status-errors.ts';
import { integerParameter } from '../request/query.ts';
import { invalidOptions } from '../request/status.ts';
import { type ContinueToken, decodeContinue } from './continue-token.ts';

/** Which state a list wants to see (LW-1). */
export type ListView =
  | { readonly kind: 'latest' }
  /** Whatever is at hand. */
  | { readonly kind: 'any' }
  | { readonly kind: 'not-older'; readonly revision: number }
  | { readonly kind: 'exact'; readonly revision: number };

/** Paging and consistency of a list. */
export interface ListQuery {
  readonly view: ListView;
  /** 0: no limit. */
  readonly limit: number;
  readonly token: ContinueToken | undefined;
}

function refuse(field: string, message: string): never {
  throw invalidOptions('ListOptions', { reason: 'FieldValueForbidden', message, field });
}

/** Returns the revision in `text`. @throws {StatusError} 400 */
export function parseRevision(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw badRequest(`Invalid value: "${text}": resourceVersion must be a non-negative integer`);
}

function checkMatch(match: string, version: string, isContinued: boolean): void {
  if (match === '') return;
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    throw invalidOptions('ListOptions', {
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: "${match}": supported values: "Exact", "NotOlderThan", ""`,
      field: 'resourceVersionMatch',
    });
  }
  if (version === '') {
    refuse(
      'resourceVersionMatch',
      'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    );
  }
  if (isContinued) {
    refuse(
      'resourceVersionMatch',
      'Forbidden: resourceVersionMatch is forbidden when continue is provided',
    );
  }
  if (match === 'Exact' && version === '0') {
    refuse(
      'resourceVersionMatch',
      'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    );
  }
}

/** Reads paging and consistency. @throws {StatusError} 400 or 422 (LW-1, LW-3, LW-9) */
export function listQueryOf(query: URLSearchParams): ListQuery {
  const version = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  const continued = query.get('continue') ?? '';
  if (query.has('sendInitialEvents')) {
    refuse('sendInitialEvents', 'Forbidden: sendInitialEvents is forbidden for list');
  }
  checkMatch(match, version, continued !== '');
  const limit = Math.max(0, integerParameter(query, 'limit') ?? 0);
  const revision = version === '' ? 0 : parseRevision(version);
  if (continued === '') {
    const view = viewOf({ version, revision, match, isLimited: limit > 0 });
    return { view, limit, token: undefined };
  }
  if (revision !== 0) {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  return { view: { kind: 'latest' }, limit, token: decodeContinue(continued) };
}

function viewOf(asked: {
  readonly version: string;
  readonly revision: number;
  readonly match: string;
  readonly isLimited: boolean;
}): ListView {
  const { version, revision, match, isLimited } = asked;
  if (version === '') return { kind: 'latest' };
  if (revision === 0) return { kind: 'any' };
  const isExact = match === 'Exact' || (match === '' && isLimited);
  return { kind: isExact ? 'exact' : 'not-older', revision };
}
