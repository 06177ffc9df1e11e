/** `bedrock` as a process, against servers that answer without end, or repeat what they were sent. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PrometheusServer } from '#support/external-services/prometheus-server.ts';
import { bedrockFile } from './bedrock-stage.ts';

const program = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const token = 'a-token-that-nobody-may-see';
const run = ['run', '-f', '-', '--service', 'kv', '--stage', 'dev', '--allow-tags'];
const yes = ['--image', 'kv=kv:1', '--rollout-identity', 'r1', '--yes'];
/** Of what is written without end. */
const mostPieces = 4_000;
const piece = 'x'.repeat(65_536);

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

describe('bedrock, and a server that is not kind', () => {
  let folder: string;
  let port: number;
  let server: PrometheusServer;
  let answer: (response: ServerResponse) => void;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bedrock-hostile-'));
    server = new PrometheusServer((response) => answer(response));
    port = await server.listen();
    await writeFile(join(folder, 'token'), token, { mode: 0o600 });
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: 'u', user: { token } }],
    };
    await writeFile(join(folder, 'config'), JSON.stringify(kubeconfig), { mode: 0o600 });
  });

  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  async function bedrock(args: readonly string[]): Promise<Ended> {
    const env = { ...process.env, KUBECONFIG: join(folder, 'config') };
    const child = spawn(process.execPath, [program, 'bedrock', ...args], { env, timeout: 60_000 });
    const said = { out: '', err: '' };
    child.stdout.on('data', (text: Buffer) => void (said.out += text.toString()));
    child.stderr.on('data', (text: Buffer) => void (said.err += text.toString()));
    child.stdin.end(bedrockFile);
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { code, ...said };
  }

  const byApi = (): readonly string[] => {
    const address = `http://127.0.0.1:${port}`;
    return [...run, ...yes, '--api', address, '--token-file', join(folder, 'token')];
  };

  const commands: Record<string, () => readonly string[]> = {
    'status of a rollout': () => ['status', 'kv-dev', '-n', 'demo'],
    'a run by the cluster': () => [...run, ...yes],
    'a run by a deploy API': byApi,
  };

  for (const [what, args] of Object.entries(commands)) {
    for (const status of [200, 403]) {
      test(`${what} reads no answer ${status} to an end that never comes`, async () => {
        const pieces = { written: 0 };
        function* endless(): Generator<string> {
          for (; pieces.written < mostPieces; pieces.written += 1) yield piece;
        }
        answer = (response) => {
          // The reader leaves; that is what is to be seen.
          pipeline(Readable.from(endless()), response.writeHead(status), () => undefined);
        };
        const { code, err } = await bedrock(args());
        assert.equal(code, 1);
        assert.match(err, /the answer is longer than 4194304 bytes/);
        assert.ok(pieces.written < 1_000, `${pieces.written} pieces of 64 KiB`);
      });
    }
  }

  /** Cut at 200 characters where they are shown, or not at all. */
  const repeated: Record<string, string> = {
    'as a reason': JSON.stringify({ message: `${token} is unknown`, error: `${token} is unknown` }),
    'as text': `${'x'.repeat(190)}${token}`,
  };
  for (const [what, args] of Object.entries(commands)) {
    for (const [how, body] of Object.entries(repeated)) {
      test(`${what} shows no part of a token that a server repeats ${how}`, async () => {
        answer = (response) => response.writeHead(403).end(body);
        const { code, out, err } = await bedrock(args());
        assert.equal(code, 1);
        assert.doesNotMatch(out + err, /a-token/);
      });
    }
  }

  test('status shows no token that is in the object', async () => {
    const metadata = { name: 'kv-dev', namespace: 'demo', uid: 'u', resourceVersion: '1' };
    const status = { phase: 'RolloutFailed', reason: `InvalidSpec: ${token}` };
    answer = (response) => response.end(JSON.stringify({ metadata, status }));
    const { code, out } = await bedrock(['status', 'kv-dev', '-n', 'demo']);
    assert.equal(code, 0);
    assert.match(out, /InvalidSpec: …/);
  });

  test('a run that gets the token from a watch shows it nowhere', async () => {
    const applied = {
      metadata: { name: 'kv-dev', namespace: 'demo', uid: 'u', resourceVersion: '1' },
    };
    const failed = { status: { phase: 'RolloutFailed', reason: `InvalidSpec: ${token}` } };
    const line = JSON.stringify({ type: 'MODIFIED', object: { ...applied, ...failed } });
    const list = { metadata: { resourceVersion: '1' }, items: [applied] };
    answer = (response) => {
      const { url = '', method } = response.req;
      if (url.includes('watch=')) response.write(`${line}\n`);
      else
        response.end(
          JSON.stringify(method === 'GET' && url.includes('fieldSelector') ? list : applied),
        );
    };
    const { code, out, err } = await bedrock([...run, ...yes]);
    assert.equal(code, 4);
    assert.match(err, /InvalidSpec: …/);
    assert.doesNotMatch(out + err, /a-token/);
  });
});
