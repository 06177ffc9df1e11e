import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { summarizeWebhooks, type WebhookOutcome } from './webhook-summary.ts';

const good: WebhookOutcome = {
  scaleDowns: [
    { about: 'zone-c by its label', want: /no-downscale=true/, refusal: 'has no-downscale=true' },
    { about: 'zone-a', want: undefined, refusal: undefined },
  ],
  gone: 2,
  prepared: 2,
  wanted: 2,
  staying: 7,
  stillPrepared: [],
};

describe('summarizeWebhooks()', () => {
  test('names what was refused and how many pods went', () => {
    assert.deepEqual(summarizeWebhooks(good), {
      isKept: true,
      lines: [
        'refused as they should be: zone-c by its label',
        '2 pods went, each after it was prepared',
        'of the 7 pods that stay, none is prepared to go',
      ],
    });
  });

  const broken: Readonly<Record<string, readonly [Partial<WebhookOutcome>, number, string]>> = {
    'a scale-down that was not refused': [
      { scaleDowns: [{ about: 'zone-c by its label', want: /true/, refusal: undefined }] },
      0,
      'broken promise: zone-c by its label came out otherwise',
    ],
    'a scale-down that was refused for nothing': [
      { scaleDowns: [{ about: 'zone-a', want: undefined, refusal: 'no' }] },
      0,
      'broken promise: zone-a came out otherwise',
    ],
    'a pod that was not prepared': [
      { prepared: 1 },
      1,
      'broken promise: 2 pods went instead of 2, 1 of them prepared',
    ],
    'a pod that stays prepared': [
      { stillPrepared: ['ingester-zone-b-2'] },
      2,
      'broken promise: ingester-zone-b-2 stay, but are prepared to go',
    ],
  };
  for (const [what, [change, at, line]] of Object.entries(broken)) {
    test(`finds ${what}`, () => {
      const { isKept, lines } = summarizeWebhooks({ ...good, ...change });
      assert.deepEqual([isKept, lines[at]], [false, line]);
    });
  }
});
