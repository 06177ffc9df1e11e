import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { endingInTime } from '#support/ends-in-time.ts';
import { certificateBlocks, pemOf } from './pem.ts';

const begin = '-----BEGIN CERTIFICATE-----';
const end = '-----END CERTIFICATE-----';
/** As large as a Secret may be. */
const size = 1024 * 1024;

function filled(text: string): string {
  return text.repeat(Math.ceil(size / text.length));
}

/** Texts that somebody may write into a Secret or a `caBundle`. */
const hostile: Readonly<Record<string, string>> = {
  '4,000 line breaks behind a begin marker': `${begin}${'\n'.repeat(4_000)}`,
  'line breaks behind a begin marker': `${begin}${filled('\n')}`,
  'line breaks behind a begin marker, and then something else': `${begin}${filled('\n')}!${end}`,
  'spaces and letters by turns behind a begin marker': `${begin}${filled('A ')}`,
  'letters behind a begin marker': `${begin}${filled('A')}`,
  'half a block': `${begin}\n${filled('A'.repeat(64))}`,
  'begin markers alone': filled(begin),
  'begin markers, each with line breaks behind it': filled(`${begin}${'\n'.repeat(100)}`),
  'end markers alone': filled(end),
  'a begin marker and then end markers': `${begin}!${filled(end)}`,
  'hyphens alone': filled('-'),
  'halves of begin markers': filled('-----BEGIN CERTIFICATE----'),
};

describe('certificateBlocks()', () => {
  for (const [what, text] of Object.entries(hostile)) {
    test(`finds no certificate in ${what}, in time that grows as the text`, () => {
      assert.deepEqual(
        endingInTime(() => certificateBlocks(text)),
        [],
      );
    });
  }

  test('finds a certificate among line breaks, in time that grows as the text', () => {
    const breaks = filled('\n');
    const text = `${begin}${breaks}AAAA${breaks}BBBB${breaks}${end}`;
    assert.deepEqual(
      endingInTime(() => certificateBlocks(text)),
      [{ body: 'AAAABBBB', pem: pemOf('CERTIFICATE', 'AAAABBBB') }],
    );
  });

  test('takes of several begin markers the last one before an end marker', () => {
    const bodies = certificateBlocks(`${begin}AAAA${begin}BBBB${end}`).map(({ body }) => body);
    assert.deepEqual(bodies, ['BBBB']);
  });

  for (const body of ['', ' \n', 'AA-A', 'Proc-Type: 4']) {
    test(`leaves out a block of ${JSON.stringify(body)}`, () => {
      assert.deepEqual(certificateBlocks(`${begin}${body}${end}`), []);
    });
  }
});
