import type { IncomingMessage } from 'node:http';
import type { User } from '../cluster.ts';
import type { StatusError } from '../errors/status-error.ts';
import { badRequest } from '../errors/status-errors.ts';

const AUTHENTICATED = 'system:authenticated';
const ACCOUNT_PREFIX = 'system:serviceaccount:';

/**
 * Returns the user as whom `user` asks to act, as `kubectl --as` and `--as-group` do; `user` where nothing is asked.
 *
 * Every account may: Roles are not enforced here.
 *
 * @returns the refusal for a group without a user
 */
export function impersonated(
  user: User,
  request: Pick<IncomingMessage, 'headersDistinct'>,
): User | StatusError {
  const { headersDistinct: headers } = request;
  const [name = ''] = headers['impersonate-user'] ?? [];
  const groups = headers['impersonate-group'] ?? [];
  if (name === '' && groups.length === 0) return user;
  if (name === '') {
    return badRequest(`requested groups ${groups.join(', ')} without impersonating a user name`);
  }
  const own = groups.length > 0 ? groups : groupsOf(name);
  return { name, groups: own.includes(AUTHENTICATED) ? own : [...own, AUTHENTICATED] };
}

/** Returns the groups of a ServiceAccount, which follow from its name. */
function groupsOf(name: string): readonly string[] {
  if (!name.startsWith(ACCOUNT_PREFIX)) return [];
  const [namespace = ''] = name.slice(ACCOUNT_PREFIX.length).split(':');
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}
