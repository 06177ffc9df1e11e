import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { seconds } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { AwsServer, answeringText } from '#support/external-services/aws-server.ts';
import { AwsHttpHandler, type AwsRequest, NoAnswerError } from './aws-http-handler.ts';

describe('AwsHttpHandler', () => {
  let server: AwsServer;
  let handler: AwsHttpHandler;
  let request: AwsRequest;

  beforeEach(async () => {
    server = new AwsServer();
    const { protocol, hostname, port } = new URL(await server.listen());
    request = { method: 'GET', protocol, hostname, port: Number(port), path: '/a', headers: {} };
    const clock = new FakeClock();
    handler = new AwsHttpHandler({ clock, env: {}, timeout: seconds(8), longestAnswer: 100 });
  });

  afterEach(async () => {
    await handler.close();
    await server.close();
  });

  test('writes queries as signatures have them', async () => {
    server.credentialObstacles.push(answeringText(200, 'yes'));
    const query = { 'a b': ["it's", '(1)*!'], 'ü/': 'x=y&z', none: null };
    const { response } = await handler.handle({ ...request, query });
    assert.equal(Buffer.from(response.body).toString(), 'yes');
    assert.equal(
      server.received[0]?.target,
      '/a?a%20b=it%27s&a%20b=%281%29%2A%21&%C3%BC%2F=x%3Dy%26z&none',
    );
  });

  test('sends bytes and text', async () => {
    for (const body of ['text', new TextEncoder().encode('text')]) {
      server.credentialObstacles.push(answeringText(200, ''));
      await handler.handle({ ...request, method: 'POST', body });
    }
    assert.deepEqual(
      server.received.map(({ body }) => body),
      ['text', 'text'],
    );
  });

  test('sends nothing once it is closed', async () => {
    await handler.close();
    await assert.rejects(handler.handle(request), NoAnswerError);
    assert.equal(server.received.length, 0);
  });

  const wrong: Readonly<Record<string, Partial<AwsRequest>>> = {
    'a method that is not used': { method: 'TRACE' },
    'a body that is a stream': { method: 'POST', body: new ReadableStream() },
  };
  for (const [name, part] of Object.entries(wrong)) {
    test(`sends no ${name}`, async () => {
      await assert.rejects(handler.handle({ ...request, ...part }), NoAnswerError);
      assert.equal(server.received.length, 0);
    });
  }
});
