import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scaleRequest, setObject, updateRequest } from '#support/admission/admission-requests.ts';
import { planPrepareDownscale } from './plan-prepare-downscale.ts';

const requests = {
  'an update of the set': updateRequest(setObject({ replicas: 3 }), setObject({ replicas: 1 })),
  'an update of /scale': scaleRequest(3, 1, { setUid: 'u' }),
};

for (const [what, request] of Object.entries(requests)) {
  test(`planPrepareDownscale() settles a dry run of ${what}, so that no receiver is called`, () => {
    const decision = { isAllowed: true };
    const planned = planPrepareDownscale({ ...request, isDryRun: true });
    assert.deepEqual(planned, { kind: 'settled', decision });
  });
}
