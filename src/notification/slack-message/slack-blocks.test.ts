import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { blockProblems, lengthOf } from '#support/external-services/slack-limits.ts';
import { rolloutNews } from '#support/rollouts/rollout-news.ts';
import { messageOf, plainMessage, section, textsOf } from './slack-blocks.ts';
import { summaryContent } from './slack-message.ts';
import { code, fitted, linesWithin } from './slack-text.ts';

describe('fitted() returns', () => {
  const cases: Record<string, { text: string; longest: number; want: string }> = {
    'what fits': { text: 'web', longest: 3, want: 'web' },
    'a cut end': { text: 'webs', longest: 3, want: 'we…' },
    'no half of an escape': { text: 'a&b', longest: 6, want: 'a…' },
    'an escape that fits': { text: 'a&b', longest: 7, want: 'a&amp;b' },
    'no half of a pair': { text: 'a😀b', longest: 3, want: 'a…' },
    'one line': { text: ' a\r\n\tb\u2028c\0d ', longest: 20, want: 'a b c d' },
    'no text that runs backwards': { text: 'a\u202eb\u2066c', longest: 20, want: 'a b c' },
    'no code': { text: '```a`', longest: 20, want: "'''a'" },
    'no lone half': { text: 'a\ud800', longest: 20, want: 'a\ufffd' },
    'nothing of nothing': { text: '', longest: 1, want: '' },
    'the mark alone where no more fits': { text: 'ab', longest: 1, want: '…' },
    'a mark behind what was left unread': { text: `a${' '.repeat(99)}b`, longest: 9, want: 'a…' },
  };
  for (const [name, { text, longest, want }] of Object.entries(cases)) {
    test(name, () => assert.equal(fitted(text, longest), want));
  }
});

test('code() shows a dash for nothing', () => {
  assert.equal(code('', 10), '–');
  assert.equal(code('abc', 5), '`abc`');
  assert.equal(code('abcd', 5), '`ab…`');
});

describe('linesWithin() returns', () => {
  const cases: Record<string, { lines: readonly string[]; longest: number; want: string }> = {
    'all that fit': { lines: ['ab', 'cd'], longest: 5, want: 'ab\ncd' },
    'whole lines, and how many more': {
      lines: ['abcdefgh', 'ijklmnop', 'q', 'r'],
      longest: 17,
      want: 'abcdefgh\n… 3 more',
    },
    'the number alone': { lines: ['abcdefghij', 'k'], longest: 11, want: '… 2 more' },
  };
  for (const [name, { lines, longest, want }] of Object.entries(cases)) {
    test(name, () => assert.equal(linesWithin(lines, longest), want));
  }
});

test('messageOf() leaves out what one message cannot have, and counts it (C-8)', () => {
  const full = section(['x'.repeat(3_000)]);
  const long = messageOf('text', Array(5).fill(full));
  assert.ok(lengthOf(long.blocks) + long.text.length <= 12_000);
  assert.deepEqual(long.blocks.slice(-1).flatMap(textsOf), ['… 2 more']);
  assert.equal(long.blocks.length, 4);
});

test('messageOf() has 50 blocks at most (C-8)', () => {
  const small = section(['x']);
  assert.equal(messageOf('text', Array(50).fill(small)).blocks.length, 50);
  const many = messageOf('text', Array(51).fill(small));
  assert.equal(many.blocks.length, 50);
  assert.deepEqual(many.blocks.slice(-1).flatMap(textsOf), ['… 2 more']);
  assert.deepEqual(blockProblems(many.blocks), []);
});

test('plainMessage() shows in lines what blocks show (C-16)', () => {
  const { text, blocks } = plainMessage(summaryContent(rolloutNews()));
  assert.deepEqual(blocks, []);
  assert.match(
    text,
    /^⏳ Waiting for pods · web · v1\.custom-1700000000\n\*Cluster\*: prod-eu-1\n/,
  );
  assert.match(text, /\nIdentity `deploy-4711` · Stage /);
});

test('plainMessage() is 3,000 units long at most, cut at a line end (C-16)', () => {
  const lines = Array.from({ length: 10 }, (_, at) => `${at} ${'x'.repeat(190)}`);
  const { text } = plainMessage({ text: 'all', blocks: [section(lines), section(lines)] });
  assert.ok(text.length <= 3_000);
  assert.match(text, /x\n… 5 more$/);
});

test('plainMessage() of a message without blocks is its text', () => {
  assert.deepEqual(plainMessage({ text: 'all', blocks: [] }), { text: 'all', blocks: [] });
});
