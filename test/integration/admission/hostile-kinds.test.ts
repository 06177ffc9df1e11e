/** Reviews of `statefulsets/scale` by other kinds, and of the `statefulsets` of another group. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ReviewDecision } from '#admission/review/review.ts';
import { handlersOf } from '#admission/review/review-handler.ts';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { AdmissionBed } from '#support/admission/admission-bed.ts';
import { prepared, reviewDocument, scaleRequest } from '#support/admission/admission-requests.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';

const labels = { ...prepared.labels, 'grafana.com/no-downscale': 'true' };
const name = 'ingester-zone-a';

/** A Scale of a version that the operator does not know. */
function unknownScale(apiVersion: string, replicas: number): JsonObject {
  return { apiVersion, kind: 'Scale', metadata: { name, namespace: 'test' }, spec: { replicas } };
}

describe('a scale-down through statefulsets/scale', () => {
  let bed: AdmissionBed;

  before(async () => {
    bed = await AdmissionBed.open();
    await bed.store({ ...prepared, labels });
  });
  after(() => bed.close());

  const kinds = [
    { group: 'autoscaling', version: 'v2' },
    { group: 'extensions', version: 'v1beta1' },
    { group: '', version: '' },
  ];
  for (const { group, version } of kinds) {
    for (const webhook of ['noDownscale', 'prepareDownscale'] as const) {
      test(`by a Scale of ${JSON.stringify(`${group}/${version}`)} is not let pass by ${webhook} unread`, async () => {
        const apiVersion = group === '' ? 'autoscaling/v2' : `${group}/${version}`;
        const kind = { group, version, kind: group === '' ? '' : 'Scale' };
        const decision: ReviewDecision = await bed.review(bed[webhook], {
          ...scaleRequest(3, 1),
          kind,
          oldObject: unknownScale(apiVersion, 3),
          object: unknownScale(apiVersion, 1),
        });
        assert.equal(decision.isAllowed, false, JSON.stringify(decision));
      });
    }
  }

  test('of another group is not judged by the set of that name in apps', async () => {
    const scale = (replicas: number): JsonObject => unknownScale('autoscaling/v1', replicas);
    const body = reviewDocument({
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      resource: { group: 'apps.kruise.io', version: 'v1beta1', resource: 'statefulsets' },
      subResource: 'scale',
      object: scale(1),
      oldObject: scale(3),
    });
    const options = { clock: bed.clock, log: silentLogger, requestTimeout: seconds(10) };
    const handler = handlersOf([bed.noDownscale], options).get(bed.noDownscale.path);
    const answer = await handler?.({
      contentType: 'application/json',
      body: Buffer.from(JSON.stringify(body)),
      caller: { query: '', begun: bed.clock.monotonic(), onLeave: () => undefined },
    });
    const { response } = JSON.parse(answer?.body ?? '{}') as { response: JsonObject };
    assert.equal(response['allowed'], true, JSON.stringify(response));
  });
});
