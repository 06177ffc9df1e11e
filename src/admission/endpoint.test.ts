import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonic } from '#base/units.ts';
import { reviewDocument } from '#testing/admission-requests.ts';
import { silentLogger } from '#testing/silent-logger.ts';
import { endpointAtSight } from './endpoint.ts';

test('endpointAtSight() leaves a review to the long way when the short one fails (HOOK-1)', async () => {
  const logged: string[] = [];
  const log = { ...silentLogger, error: (message: string) => void logged.push(message) };
  const atSight = (): never => {
    throw new Error('a bug');
  };
  const whole = { status: 200, contentType: 'application/json', body: 'whole' } as const;
  const answer = await endpointAtSight({ path: '/a', atSight }, log, () => whole).answer({
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify(reviewDocument())),
    query: '',
    begun: monotonic(0),
    onLeave: () => undefined,
  });
  assert.equal(answer, whole);
  assert.deepEqual(logged, ['admission review not answered at sight']);
});
