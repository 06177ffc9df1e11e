import type { Millis } from '#base/units.ts';
import { requestsOf } from '../clock/activity.ts';
import { StatusError } from '../errors/status-error.ts';
import { tooOldResourceVersion } from '../errors/status-errors.ts';
import type { FaultAction, FaultMoment, WatchAction } from '../faults.ts';
import { metadataOf, objectField } from '../json/json-fields.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { STALE } from '../store/store.ts';
import type { WatchSession } from '../watch/watch-session.ts';
import { collectionOf, commit, keyOf } from './request/commit.ts';
import type { ApiCall, ServerContext } from './request/server-context.ts';

/** The connection breaks: there is no answer (FI-2 `drop`). */
export class DroppedError extends Error {
  override readonly name = 'DroppedError';
}

function momentOf(action: FaultAction): FaultMoment {
  return 'when' in action ? (action.when ?? 'before') : 'before';
}

/** Lets `action` strike at `moment`. @throws {StatusError} an injected answer; {DroppedError} a broken connection */
export async function suffer(
  context: ServerContext,
  call: ApiCall,
  strike: { readonly action: FaultAction; readonly moment: FaultMoment },
): Promise<void> {
  const { action, moment } = strike;
  if (momentOf(action) !== moment) return;
  switch (action.kind) {
    case 'error':
      throw injected(action);
    case 'drop':
      throw new DroppedError('the connection was reset by a fault');
    case 'delay':
      await waitFor(context, call, action.delay);
      return;
    case 'throttle':
      throw injected({ code: 429, reason: 'TooManyRequests', ...action });
    case 'conflict':
      bump(context, call);
      return;
    default:
  }
}

async function waitFor(context: ServerContext, call: ApiCall, delay: Millis): Promise<void> {
  const sleep = context.clock.sleep(delay, { owner: 'delayed request' });
  await context.activity.parked(requestsOf(call.request.client), sleep);
}

/** Waits for a request whose client is gone. @returns whether it arrives at all */
export async function arrivesLate(context: ServerContext, call: ApiCall): Promise<boolean> {
  const late = call.request.lateness?.();
  if (late === undefined) return false;
  await waitFor(context, call, late);
  return true;
}

const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function injected(error: {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
}): StatusError {
  const { code, reason = REASONS[code] ?? 'Unknown', retryAfterSeconds } = error;
  const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new StatusError({ code, reason, details }, error.message ?? `injected fault: ${reason}`);
}

/** Has another client write to the same object first. */
function bump(context: ServerContext, call: ApiCall): void {
  const key = keyOf(call, call.route.name);
  const before = collectionOf(context, call).get(key);
  if (before === undefined) return;
  const metadata = metadataOf(before.object);
  const annotations = {
    ...objectField(metadata, 'annotations'),
    'faults.embedded-cluster/conflict': String(context.store.revision),
  };
  const after = { ...before.object, metadata: { ...metadata, annotations } };
  const user = { name: 'system:faults', groups: [] };
  const bystander = { ...call, request: { ...call.request, user } };
  if (commit(context, bystander, { key, before, after }) === STALE) {
    throw new Error(`Cannot bump ${key} as it changed within one step`);
  }
}

/** Returns the revision at which a read is served: the client's, or the fault's (FI-5, FI-2 `stale`). */
export function viewRevisionOf(
  context: ServerContext,
  view: number | undefined,
  stale: { readonly action: FaultAction | undefined; readonly resource: string },
): number | undefined {
  const { action, resource } = stale;
  if (action?.kind !== 'stale') return view;
  if (action.revision !== undefined) return action.revision;
  const { history } = context.store.collection(resource);
  const limit = context.clock.now() - (action.age ?? 0);
  const newer = history.since(history.forgottenTo).find(({ at }) => at > limit);
  return newer === undefined ? context.store.revision : newer.revision - 1;
}

/**
 * Strikes before there is a watch.
 *
 * @throws {StatusError} 410 and {DroppedError} for faults that strike before there is a watch (FI-3)
 */
export function sufferBeforeWatch(action: FaultAction | undefined): void {
  if (action?.kind !== 'watch') return;
  if (action.action === 'expireHttp') throw tooOldResourceVersion(1, 2);
}

/** Lets a watch fault strike `session`, which was just opened. */
export function sufferInWatch(
  session: WatchSession,
  action: FaultAction | undefined,
  random: SeededRandom,
): void {
  if (action?.kind !== 'watch') return;
  strikeWatch(session, action.action, random);
}

function strikeWatch(session: WatchSession, action: WatchAction, random: SeededRandom): void {
  if (typeof action !== 'string') {
    Object.assign(session, { delay: action.delay });
    return;
  }
  const strikes: Readonly<Record<typeof action, () => void>> = {
    break: () => session.break(),
    end: () => session.end(),
    expire: () => session.expire(),
    expireHttp: () => undefined,
    pause: () => session.pause(),
    noBookmarks: () => Object.assign(session, { isWithoutBookmarks: true }),
    split: () => Object.assign(session, { splitter: random }),
    skip: () => session.skip(),
    garbage: () => session.garbage(),
  };
  strikes[action]();
}
