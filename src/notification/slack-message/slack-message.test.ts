import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { instant } from '#base/units.ts';
import { blockProblems, lengthOf, tokensIn } from '#support/external-services/slack-limits.ts';
import { rolloutNews } from '#support/rollouts/rollout-news.ts';
import type { NewsPhase, RolloutNews } from './rollout-news.ts';
import { type SlackMessage, textsOf } from './slack-blocks.ts';
import { summaryContent, supersededContent } from './slack-message.ts';

/** As a person sees it, more or less: fields in two columns, dates by their UTC text. */
function picture({ blocks }: SlackMessage): string {
  const shown = blocks.map((block) => {
    const texts = textsOf(block).map(dated);
    if (block.type === 'context') return texts.join(' | ');
    if (!('fields' in block)) return texts.join('\n');
    const cells = texts.map((text) => text.replace('\n', ' '));
    const rows = Array.from({ length: Math.ceil(cells.length / 2) }, (_, row) =>
      [cells[row * 2]?.padEnd(40), cells[row * 2 + 1]].join('').trimEnd(),
    );
    return rows.join('\n');
  });
  return `\n${shown.join('\n\n')}\n`;
}

function dated(text: string): string {
  return text.replaceAll(/<!date\^\d+\^[^|]*\|([^>]*)>/g, '$1');
}

test('summaryContent() looks like this while pods are on their way', () => {
  const news = rolloutNews({
    leakedReplicas: 3,
    failing: [
      { name: 'web-688', message: 'CrashLoopBackOff: back-off 5m0s restarting failed container' },
      { name: 'web-681', message: '' },
    ],
  });
  assert.equal(
    picture(summaryContent(news)),
    `
⏳ Waiting for pods · web · v1.custom-1700000000

*Cluster* prod-eu-1                     *Namespace* search
*Version* v1.custom-1700000000          *Branch* main
*Commit* 3f9c2a7d1e4b                   *Percent* 50 % of 1000 pods
*Updated* 320 of 500                    *Ready* 968 of 1000
*In service discovery* 966 of 1000      *In parallel* up to 32

\`████████████░░░░░░░░\`  *64 %*  ·  320 of 500 pods
AwaitingPods: waiting for web-679, web-678 and 30 more to be ready; 148 pods to go

*Failing pods*
🔴 \`web-688\`  CrashLoopBackOff: back-off 5m0s restarting failed container
🔴 \`web-681\`  not ready

💧 *3 pods* run the new version before the rollout came to it

Identity \`deploy-4711\` | Stage \`stage-eu-50\` | Started 2026-11-25T12:00:00Z | Updated 2026-11-25T12:20:34Z
`,
  );
});

test('summaryContent() looks like this where little is known, and nothing is to do', () => {
  const none = { version: '', branch: '', commit: '', identity: '', stageId: '', reason: '' };
  const counts = { percent: 0, replicas: 1, updated: 0, target: 0, ready: 1 };
  const unknown = { sdReady: undefined, parallel: undefined, startedAt: undefined };
  const news = rolloutNews({ ...none, ...counts, ...unknown, phase: 'RolloutDone' });
  assert.equal(
    picture(summaryContent(news)),
    `
✅ Done · web

*Cluster* prod-eu-1                     *Namespace* search
*Version* –                             *Branch* –
*Commit* –                              *Percent* 0 % of 1 pod
*Updated* 0 of 0                        *Ready* 1 of 1

\`████████████████████\`  *100 %*  ·  0 of 0 pods

Not started | Updated 2026-11-25T12:20:34Z
`,
  );
});

test('supersededContent() adds one line to what is there', () => {
  const before = summaryContent(rolloutNews());
  const { blocks, text, hash } = supersededContent(before);
  assert.deepEqual(blocks.slice(0, -1), before.blocks);
  assert.deepEqual(blocks.slice(-1).flatMap(textsOf), ['⏭️ *Superseded* by a newer rollout']);
  assert.equal(text, `Superseded: ${before.text}`);
  assert.notEqual(hash, before.hash);
});

test('supersededContent() escapes a notice no more than once', () => {
  const before = summaryContent(rolloutNews({ set: 'a&<b' }));
  assert.match(supersededContent(before).text, /^Superseded: .* a&amp;&lt;b /);
});

describe('summaryContent() says in a notification', () => {
  const cases: Record<string, { news: Partial<RolloutNews>; want: string }> = {
    'what, how far and where': {
      news: {},
      want: 'Waiting for pods: web v1.custom-1700000000, 320 of 500 pods (50 %), prod-eu-1/search',
    },
    'that one pod is all': {
      news: { phase: 'RolloutDone', version: '', updated: 1, target: 1, percent: 100 },
      want: 'Done: web, 1 of 1 pod (100 %), prod-eu-1/search',
    },
    'the word that is given': {
      news: { phaseWord: 'Going back', version: 'v1' },
      want: 'Going back: web v1, 320 of 500 pods (50 %), prod-eu-1/search',
    },
    'no mention that a name holds [T-75]': {
      news: { set: '<!channel>', version: '&' },
      want: 'Waiting for pods: &lt;!channel&gt; &amp;, 320 of 500 pods (50 %), prod-eu-1/search',
    },
  };
  for (const [name, { news, want }] of Object.entries(cases)) {
    test(name, () => assert.equal(summaryContent(rolloutNews(news)).text, want));
  }
});

describe('summaryContent() draws', () => {
  const cases: Record<string, { updated: number; target: number; want: string }> = {
    'nothing before the first pod': { updated: 0, target: 500, want: '░'.repeat(20) },
    'no full bar before the last pod': { updated: 499, target: 500, want: `${'█'.repeat(19)}░` },
    'a full bar after the last one': { updated: 500, target: 500, want: '█'.repeat(20) },
    'no more than a full bar': { updated: 700, target: 500, want: '█'.repeat(20) },
  };
  for (const [name, { want, ...counts }] of Object.entries(cases)) {
    test(name, () => {
      const texts = summaryContent(rolloutNews(counts)).blocks.flatMap(textsOf);
      assert.equal(texts.find((text) => text.startsWith('`'))?.split('`')[1], want);
    });
  }
});

test('summaryContent() names five failing pods, and counts the others (C-6)', () => {
  const failing = Array.from({ length: 12 }, (_, at) => ({ name: `web-${at}`, message: 'Error' }));
  const text = picture(summaryContent(rolloutNews({ failing })));
  assert.match(text, /🔴 `web-4` {2}Error\n… 7 more\n/);
  assert.doesNotMatch(text, /web-5`/);
});

test('summaryContent() has another hash for another reason, and none for another time (C-12)', () => {
  const { hash } = summaryContent(rolloutNews());
  const later = summaryContent(rolloutNews({ updatedAt: instant(1_800_000_000_000) }));
  assert.equal(later.hash, hash);
  assert.notEqual(summaryContent(rolloutNews({ reason: 'PodsEvicted: web-7' })).hash, hash);
  assert.notEqual(summaryContent(rolloutNews({ startedAt: undefined })).hash, hash);
});

test('summaryContent() escapes what a pod says [T-75]', () => {
  const failing = [{ name: 'web-1', message: '<!channel> & <b>' }];
  const { blocks } = summaryContent(rolloutNews({ failing }));
  const texts = blocks.flatMap(textsOf);
  assert.ok(texts.includes('*Failing pods*\n🔴 `web-1`  &lt;!channel&gt; &amp; &lt;b&gt;'));
});

const phases: readonly NewsPhase[] = [
  'Pending',
  'CreatingStatefulSet',
  'UpdatingStatefulSet',
  'RollingOut',
  'WaitingForReady',
  'WaitingForServiceDiscovery',
  'Paused',
  'CallingBack',
  'RolloutDone',
  'RolloutFailed',
  'Deleting',
];

/** Long, full of what must be escaped, cut by escapes, surrogates, lines and marks. */
const hostile = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 3_000 }),
  fc
    .constantFrom('&', '<', '<!channel>', '😀', '\ud800', '`', '\n', '*', '\u202e')
    .chain((piece) => fc.integer({ min: 0, max: 3_000 }).map((times) => piece.repeat(times))),
);
const count = fc.nat({ max: 10_000 });

const anyNews: fc.Arbitrary<RolloutNews> = fc.record({
  cluster: hostile,
  namespace: hostile,
  set: hostile,
  version: hostile,
  branch: hostile,
  commit: hostile,
  percent: fc.nat({ max: 100 }),
  replicas: count,
  updated: count,
  target: count,
  ready: count,
  sdReady: fc.option(count, { nil: undefined }),
  parallel: fc.option(count, { nil: undefined }),
  phase: fc.constantFrom(...phases),
  phaseWord: hostile,
  reason: hostile,
  failing: fc.array(fc.record({ name: hostile, message: hostile }), { maxLength: 8 }),
  leakedReplicas: count,
  identity: hostile,
  stageId: hostile,
  startedAt: fc.option(fc.nat().map(instant), { nil: undefined }),
  updatedAt: fc.nat().map(instant),
});

test('summaryContent() is a message that Slack takes, whatever the cluster says [T-76]', () => {
  fc.assert(
    fc.property(anyNews, (news) => {
      for (const content of [summaryContent(news), supersededContent(summaryContent(news))]) {
        const { text, blocks } = content;
        assert.deepEqual(blockProblems(blocks), []);
        assert.ok(text.length > 0 && text.length <= 3_000);
        assert.ok(lengthOf(blocks) + text.length <= 12_000);
        for (const each of [text, ...blocks.flatMap(textsOf)]) assertHarmless(each);
      }
    }),
    { numRuns: 300 },
  );
});

/** Nothing but our own dates is more than text, and no escape was cut. */
function assertHarmless(text: string): void {
  assert.ok(text.isWellFormed());
  assert.deepEqual(
    tokensIn(text).filter(
      (token) => !/^<!date\^\d+\^\{date_short_pretty\} \{time_secs\}\|[\dTZ:.+-]+>$/.test(token),
    ),
    [],
  );
  assert.doesNotMatch(dated(text).replaceAll(/&(?:amp|lt|gt);/g, ''), /[&<>]/);
}
