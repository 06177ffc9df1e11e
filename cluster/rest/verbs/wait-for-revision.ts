import { seconds } from '#base/units.ts';
import { requestsOf } from '../../clock/activity.ts';
import { tooLargeResourceVersion } from '../../errors/status-errors.ts';
import type { ApiCall, ServerContext } from '../request/server-context.ts';

/** How long a read waits for a revision that has not come yet (LW-1). */
const PATIENCE = seconds(3);

/** How often it looks; a real server is woken by its watch cache. */
const LOOK_EVERY = seconds(0.05);

/** Resolves once `revision` is there. @throws {StatusError} 504 after 3 s of clock time */
export async function waitForRevision(
  context: ServerContext,
  call: ApiCall,
  revision: number,
): Promise<void> {
  const { clock, store, activity } = context;
  const current = (): number => call.viewRevision ?? store.revision;
  const end = clock.monotonic() + PATIENCE;
  while (current() < revision) {
    if (clock.monotonic() >= end) throw tooLargeResourceVersion(revision, current());
    const sleep = clock.sleep(LOOK_EVERY, { owner: 'wait for revision' });
    await activity.parked(requestsOf(call.request.client), sleep);
  }
}
