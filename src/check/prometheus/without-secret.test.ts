import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { type Handler, PrometheusServer } from '#support/external-services/prometheus-server.ts';
import { createPrometheus } from './prometheus.ts';
import { withoutSecret } from './without-secret.ts';

const password = 'pass word/0123';
const basic = `Basic ${Buffer.from(`scraper:${password}`).toString('base64')}`;

/** What is said of a question to a server that answers so. */
async function said(t: TestContext, handle: Handler, authorization: string): Promise<string> {
  const server = new PrometheusServer(handle);
  const prometheus = createPrometheus({ clock: new ManualClock(), env: {}, permitsLoopback: true });
  t.after(async () => {
    await prometheus.close();
    await server.close();
  });
  const url = `http://127.0.0.1:${await server.listen()}`;
  const asking = { signal: new AbortController().signal };
  return JSON.stringify(await prometheus.read({ url, expr: 'up', authorization }, asking));
}

const repeating: Readonly<Record<string, (secret: string) => Handler>> = {
  'its error': (secret) => (response) =>
    response.writeHead(401).end(JSON.stringify({ status: 'error', error: `${secret} is wrong` })),
};

describe('withoutSecret()', () => {
  for (const [where, handle] of Object.entries(repeating)) {
    test(`a token that a server repeats in ${where} is shown nowhere`, async (t) => {
      const text = await said(t, handle('token-0123456789'), 'Bearer token-0123456789');
      assert.doesNotMatch(text, /0123/);
      assert.match(text, /…/);
    });

    test(`a password that a server repeats in ${where} as it read it is shown nowhere`, async (t) => {
      const text = await said(t, handle(password), basic);
      assert.doesNotMatch(text, /0123/);
      assert.match(text, /…/);
    });
  }

  test('leaves what is too short to be a secret, and all where nothing was sent', () => {
    const short = `Basic ${Buffer.from('a:b').toString('base64')}`;
    assert.equal(withoutSecret('a and b', short), 'a and b');
    assert.equal(withoutSecret('a and b'), 'a and b');
  });

  test('finds a password without the line break that is behind it in the Secret', () => {
    const broken = `Basic ${Buffer.from('scraper:pass-0123\n').toString('base64')}`;
    assert.equal(withoutSecret('pass-0123 is wrong', broken), '… is wrong');
  });
});
