import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { instant } from '#base/units.ts';
import {
  context,
  fieldsSection,
  header,
  type SlackBlock,
  section,
} from '#notification/slack-message/slack-blocks.ts';
import { shownText, slackPicture } from './slack-picture.ts';

/** As the operator sends it. */
function sent(...blocks: readonly SlackBlock[]): readonly JsonObject[] {
  return JSON.parse(JSON.stringify(blocks)) as readonly JsonObject[];
}

const blocks = [
  header('✅ Done · db'),
  fieldsSection(['*Cluster*\ndemo', '*Namespace*\nstorage', '*Commit*\n–']),
  section(['`████`  *100 %*  ·  2 of 2 pods', 'RolloutDone: a &lt; b &amp; c']),
  context(['Identity `x`', `Started <!date^${instant(0)}^{time}|1970-01-01T00:00:00Z>`]),
];

test('slackPicture() shows fields in two columns, times in UTC and no marks', () => {
  assert.deepEqual(slackPicture(sent(...blocks)), [
    '✅ Done · db',
    'Cluster: demo                     Namespace: storage',
    'Commit: –',
    '████  100 %  ·  2 of 2 pods',
    'RolloutDone: a < b & c',
    'Identity x  ·  Started 1970-01-01T00:00:00Z',
  ]);
});

test('slackPicture() breaks a long line between words, and leaves a long word whole', () => {
  const words = Array.from({ length: 30 }, () => 'word').join(' ');
  const [first = '', ...rest] = slackPicture(sent(section([words])));
  assert.equal(first.length, 99);
  assert.deepEqual(rest, [`  ${words.slice(100)}`]);
  const long = 'x'.repeat(200);
  assert.deepEqual(slackPicture(sent(section([long]))), [long]);
});

test('shownText() takes an escaped sign for the sign, once', () => {
  assert.equal(shownText('&amp;lt; *bold* `code`'), '&lt; bold code');
});
