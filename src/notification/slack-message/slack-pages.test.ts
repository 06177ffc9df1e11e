import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { blockProblems, lengthOf, tokensIn } from '#support/external-services/slack-limits.ts';
import { donePod, podNews } from '#support/rollouts/rollout-news.ts';
import type { PodNews } from './rollout-news.ts';
import { type SlackContent, textsOf } from './slack-blocks.ts';
import { pageContents } from './slack-pages.ts';

function pods(count: number, make: (ordinal: number) => PodNews = podNews): readonly PodNews[] {
  return Array.from({ length: count }, (_, ordinal) => make(ordinal));
}

/** Lines of pods, without titles. */
function linesOf({ blocks }: SlackContent): readonly string[] {
  return blocks.slice(1).flatMap((block) => textsOf(block).flatMap((text) => text.split('\n')));
}

function namesOf(page: SlackContent): readonly string[] {
  return linesOf(page).map((line) => line.split('`')[1] ?? '');
}

test('pageContents() looks like this', () => {
  const target = [
    donePod(21),
    donePod(20, { isDiscovered: false }),
    donePod(19, { isReady: false }),
    donePod(18, { isReady: false, message: 'CrashLoopBackOff: back-off 5m0s' }),
    podNews(17, { isRotated: true, version: '', isReady: false }),
    podNews(16),
    podNews(15, { isReady: false, message: 'ImagePullBackOff' }),
    donePod(14, { isLeaked: true, isRotated: false }),
    ...pods(4, (at) => podNews(10 + at)),
  ];
  const [page] = pageContents('web', target);
  assert.equal(page?.text, 'web: Pods 1–12 of 12, page 1/1, 1 ready');
  assert.equal(
    `\n${page?.blocks.map((block) => textsOf(block).join('\n')).join('\n\n')}\n`,
    `
*Pods 1–12 of 12, page 1/1*
✅ 1 ready  ·  💧 1 on the new version before its turn  ·  🔎 1 ready, not in service discovery yet  ·  🔄 1 starting  ·  ♻️ 1 restarting  ·  🔴 1 failing  ·  🟠 1 to go, not ready  ·  ⚪ 5 to go

✅ \`web-21\`  v1.custom-1700000000  ready
🔎 \`web-20\`  v1.custom-1700000000  ready, not in service discovery yet
🔄 \`web-19\`  v1.custom-1700000000  starting
🔴 \`web-18\`  v1.custom-1700000000  failing: CrashLoopBackOff: back-off 5m0s
♻️ \`web-17\`  restarting
⚪ \`web-16\`  v1.custom-1699999999  to go
🟠 \`web-15\`  v1.custom-1699999999  to go, not ready: ImagePullBackOff
💧 \`web-14\`  v1.custom-1700000000  on the new version before its turn
⚪ \`web-13\`  v1.custom-1699999999  to go
⚪ \`web-12\`  v1.custom-1699999999  to go

⚪ \`web-11\`  v1.custom-1699999999  to go
⚪ \`web-10\`  v1.custom-1699999999  to go
`,
  );
});

describe('pageContents() makes', () => {
  const cases: Record<string, { count: number; want: readonly number[] }> = {
    'no page of no pods': { count: 0, want: [] },
    'one page of one pod': { count: 1, want: [1] },
    'one page of 50 pods': { count: 50, want: [50] },
    'two pages of 51 pods': { count: 51, want: [50, 1] },
    'three pages of 130 pods [T-70]': { count: 130, want: [50, 50, 30] },
    'twenty pages of 1,000 pods (C-5)': { count: 1_000, want: Array(20).fill(50) },
  };
  for (const [name, { count, want }] of Object.entries(cases)) {
    test(name, () => {
      const pages = pageContents('web', pods(count));
      assert.deepEqual(
        pages.map((page) => linesOf(page).length),
        want,
      );
      const sections = pages.flatMap(({ blocks }) => blocks.slice(1));
      for (const block of sections) {
        assert.ok(textsOf(block).join('').split('\n').length <= 10);
      }
    });
  }
});

test('pageContents() numbers pods and pages as people count (C-7)', () => {
  const titles = pageContents('web', pods(500)).map(({ blocks }) => textsOf(blocks[0] as never)[0]);
  assert.match(titles[1] ?? '', /^\*Pods 51–100 of 500, page 2\/10\*\n/);
  assert.match(titles[9] ?? '', /^\*Pods 451–500 of 500, page 10\/10\*\n/);
});

test('pageContents() lists the highest ordinal first, by number', () => {
  const [page] = pageContents('web', [podNews(2), podNews(10), podNews(9)]);
  assert.deepEqual(page && namesOf(page), ['web-10', 'web-9', 'web-2']);
});

test('pageContents() lets no pod move when the target grows (C-5)', () => {
  const all = pods(1_000);
  const half = pageContents('web', all.slice(500)).map(namesOf);
  const whole = pageContents('web', all).map(namesOf);
  assert.deepEqual(whole.slice(0, 10), half);
});

test('pageContents() changes only the page of a pod that has changed', () => {
  const before = pageContents('web', pods(130)).map(({ hash }) => hash);
  const changed = pods(130).map((pod) => (pod.ordinal === 70 ? donePod(70) : pod));
  const after = pageContents('web', changed).map(({ hash }) => hash);
  assert.deepEqual(
    after.map((hash, at) => hash === before[at]),
    [true, false, true],
  );
});

test('pageContents() keeps the ordinal of a long name', () => {
  const [page] = pageContents('web', [podNews(7, { name: `${'a'.repeat(250)}-7` })]);
  assert.match(page ? (namesOf(page)[0] ?? '') : '', /^a{20,}…-7$/);
});

test('pageContents() escapes what a pod says [T-75]', () => {
  const hostile = donePod(1, { isReady: false, message: '<!channel> & <b>' });
  const [page] = pageContents('web', [hostile]);
  assert.ok(page && linesOf(page)[0]?.endsWith('failing: &lt;!channel&gt; &amp; &lt;b&gt;'));
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc
    .constantFrom('&', '<', '<!here>', '😀', '\ud800', '`', '\n', 'a')
    .chain((piece) => fc.integer({ min: 0, max: 250 }).map((times) => piece.repeat(times))),
);

const anyPod = fc.record({
  name: anyText,
  ordinal: fc.nat({ max: 2_000_000_000 }),
  version: anyText,
  isUpdated: fc.boolean(),
  isReady: fc.boolean(),
  isDiscovered: fc.constantFrom(true, false, undefined),
  isRotated: fc.boolean(),
  isLeaked: fc.boolean(),
  message: anyText,
});

test('pageContents() makes messages that Slack takes, whatever pods say [T-76]', () => {
  fc.assert(
    fc.property(anyText, fc.array(anyPod, { maxLength: 120, size: 'max' }), (set, target) => {
      const pages = pageContents(set, target);
      assert.equal(
        pages.reduce((sum, page) => sum + linesOf(page).length, 0),
        target.length,
      );
      for (const page of pages) assertTaken(page);
    }),
    { numRuns: 200 },
  );
});

test('pageContents() fills no page to the brim with what is longest (C-8)', () => {
  const longest = podNews(2_000_000_000, {
    name: '&'.repeat(250),
    version: '<'.repeat(250),
    isReady: false,
    message: '&'.repeat(250),
  });
  for (const page of pageContents('&'.repeat(250), Array<PodNews>(50).fill(longest))) {
    assertTaken(page);
    assert.equal(linesOf(page).length, 50);
  }
});

function assertTaken(page: SlackContent): void {
  const { text, blocks } = page;
  assert.deepEqual(blockProblems(blocks), []);
  assert.ok(lengthOf(blocks) + text.length <= 12_000);
  for (const line of linesOf(page)) assert.ok(line.length <= 200, `${line.length}: ${line}`);
  for (const each of [text, ...blocks.flatMap(textsOf)]) {
    assert.deepEqual(tokensIn(each), []);
    assert.ok(each.isWellFormed());
  }
}
