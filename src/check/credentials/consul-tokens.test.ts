import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { valid } from '#base/parsed.ts';
import type { Client } from '#kubernetes/client.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { ConsulTokens, type ConsulTokensOptions } from './consul-tokens.ts';

const ref = { namespace: 'demo', name: 'consul', key: 'token' };

interface Bed {
  readonly clock: FakeClock;
  readonly tokens: ConsulTokens;
  readonly read: string[];
  secret: JsonObject;
}

function bed(more: Partial<ConsulTokensOptions> = {}): Bed {
  const clock = new FakeClock();
  const read: string[] = [];
  const get = (_type: unknown, key: { readonly namespace: string; readonly name: string }) => {
    read.push(`${key.namespace}/${key.name}`);
    return Promise.resolve(made.secret);
  };
  const client = { get } as unknown as Client;
  const tokens = new ConsulTokens({ client, clock, ...more });
  const made: Bed = { clock, tokens, read, secret: secretOf('first') };
  return made;
}

function secretOf(token: string): JsonObject {
  return { data: { token: Buffer.from(token).toString('base64') } };
}

describe('ConsulTokens', () => {
  test('reads the key of the Secret, without the line break at its end', async () => {
    const { tokens, read } = Object.assign(bed(), { secret: secretOf('first\n') });
    assert.deepEqual(await tokens.of(ref, { isDoubted: false }), valid('first'));
    assert.deepEqual(read, ['demo/consul']);
  });

  test('reads it again after a minute, or once it is doubted', async () => {
    const play = bed();
    const token = async (isDoubted = false): Promise<unknown> => {
      const found = await play.tokens.of(ref, { isDoubted });
      return found.kind === 'valid' ? found.value : undefined;
    };
    assert.equal(await token(), 'first');
    play.secret = secretOf('second');
    await play.clock.advance(5_000);
    assert.equal(await token(), 'first');
    assert.equal(await token(true), 'second');
    play.secret = secretOf('third');
    await play.clock.advance(60_001);
    assert.equal(await token(), 'third');
    assert.equal(play.read.length, 3);
  });

  test('refuses what no header can hold, without telling it', async () => {
    for (const token of ['', 'two words', 'line\nbreak', 'ä']) {
      const play = bed();
      play.secret = secretOf(token);
      const found = await play.tokens.of(ref, { isDoubted: false });
      assert.ok(found.kind === 'invalid');
      assert.equal(found.problem.path, 'Secret "consul", key token');
      assert.match(found.problem.message, /found (?:none|other characters)$/);
    }
  });

  test('gives the token of the operator where no Secret is named, and none where it has none', async () => {
    const own = (): Promise<ReturnType<typeof valid<string>>> => Promise.resolve(valid('own'));
    assert.deepEqual(await bed({ own }).tokens.of(undefined, { isDoubted: false }), valid('own'));
    assert.deepEqual(await bed().tokens.of(undefined, { isDoubted: false }), valid(undefined));
  });
});
