import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { monotonic, seconds } from '#base/units.ts';
import { refusal } from '#support/rollouts/group-world.ts';
import { TransportError } from '../transport/transport.ts';
import { type Announcement, Announcements, type Statement } from './announcements.ts';
import type { Predecessor } from './plan-predecessor.ts';

const ended: Predecessor = { kind: 'ended', term: 'uid/1/a' };
const { signal: never } = new AbortController();

/** A Lease that is written when a test says so. */
class Bench {
  renewals = 0;
  readonly muted: string[] = [];
  readonly announcements = new Announcements({
    horizon: seconds(120),
    renew: () => {
      this.renewals += 1;
    },
    muted: (because) => void this.muted.push(because),
  });
  readonly named: string[] = [];

  /** Announces `request`, and notes when the Lease names it. */
  announce(request: string, signal = never): Promise<Announcement> {
    const announced = this.announcements.announce(request, signal);
    return announced.then((announcement) => {
      this.named.push(request);
      return announcement;
    });
  }

  begin(now = 0, predecessor = ended): Statement {
    return this.announcements.writing(predecessor, monotonic(now));
  }

  /** Writes what is to be said at `now`. */
  async write(now = 0, predecessor = ended): Promise<Statement> {
    const statement = this.begin(now, predecessor);
    this.announcements.stored(statement, monotonic(now));
    // Whoever waits goes on in the next turns.
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    return statement;
  }
}

describe('Announcements', () => {
  test('a request waits until a write that names it is stored, and has the Lease renewed at once', async () => {
    const bench = new Bench();
    await bench.write();
    const announced = bench.announce('a');
    await bench.write();
    assert.deepEqual(bench.named, ['a']);
    assert.equal(bench.renewals, 1);
    (await announced).end();
    assert.deepEqual(await bench.write(), []);
  });

  test('a write that began before does not name it, although it is stored afterwards', async () => {
    const bench = new Bench();
    await bench.write();
    const before = bench.begin();
    void bench.announce('a');
    bench.announcements.stored(before, monotonic(0));
    await Promise.resolve();
    assert.deepEqual(bench.named, []);
    await bench.write();
    assert.deepEqual(bench.named, ['a']);
  });

  test('one that the Lease names already goes at once', async () => {
    const bench = new Bench();
    await bench.write();
    const first = bench.announce('a');
    await bench.write();
    (await first).end();
    await bench.announce('a');
    assert.deepEqual(bench.named, ['a', 'a']);
    assert.equal(bench.renewals, 1);
  });

  test('one that a write under way leaves out waits, although the Lease still names it', async () => {
    const bench = new Bench();
    await bench.write();
    const first = bench.announce('a');
    await bench.write();
    (await first).end();
    assert.deepEqual(bench.begin(), []);
    void bench.announce('a');
    await Promise.resolve();
    assert.deepEqual(bench.named, ['a']);
    assert.deepEqual(await bench.write(), ['a']);
    assert.deepEqual(bench.named, ['a', 'a']);
  });

  test('one that only a write under way names waits for its answer', async () => {
    const bench = new Bench();
    await bench.write();
    void bench.announce('a');
    bench.begin();
    void bench.announce('a');
    await Promise.resolve();
    assert.deepEqual(bench.named, []);
  });

  test('a request without an answer is named for as long as it may arrive', async () => {
    const bench = new Bench();
    await bench.write();
    const announced = bench.announce('a');
    await bench.write();
    (await announced).end(monotonic(120_000));
    assert.deepEqual(await bench.write(119_999), ['a']);
    assert.deepEqual(await bench.write(120_000), []);
  });

  test('two requests of one name are named until the last of them has ended', async () => {
    const bench = new Bench();
    await bench.write();
    const both = [bench.announce('a'), bench.announce('a')];
    await bench.write();
    const [first, second] = await Promise.all(both);
    first?.end();
    assert.deepEqual(await bench.write(), ['a']);
    second?.end();
    assert.deepEqual(await bench.write(), []);
  });

  test('what a Lease says that was lost counts for nothing', async () => {
    const bench = new Bench();
    await bench.write();
    bench.announcements.lost();
    void bench.announce('a');
    bench.begin();
    await Promise.resolve();
    assert.deepEqual(bench.named, []);
  });

  test('a request whose signal aborts before the Lease names it is not sent', async () => {
    const bench = new Bench();
    await bench.write();
    const ending = new AbortController();
    const announced = bench.announce('a', ending.signal);
    ending.abort(new Error('the term ends'));
    await assert.rejects(announced, (error) => {
      assert.ok(error instanceof TransportError);
      assert.equal(error.failure, 'not-sent');
      return true;
    });
    assert.deepEqual(await bench.write(), []);
  });

  const unclean = { kind: 'unclean', countedFrom: monotonic(5_000), because: 'x' } as const;
  const statements: Readonly<Record<string, readonly [Predecessor, number, Statement]>> = {
    'its own after one that ended': [ended, 0, ['a']],
    'nothing while the requests of one that was killed are unknown': [unclean, 124_999, undefined],
    'its own once those can arrive no more': [unclean, 125_000, ['a']],
    'those of one that was killed, too': [{ ...unclean, requests: ['b'] }, 124_999, ['b', 'a']],
    'each once': [{ ...unclean, requests: ['a'] }, 0, ['a']],
    'its own once those of the other can arrive no more': [
      { ...unclean, requests: ['b'] },
      125_000,
      ['a'],
    ],
    'nothing in the first minutes of an installation': [{ kind: 'none' }, 121_999, undefined],
    'its own after the first minutes of an installation': [{ kind: 'none' }, 122_000, ['a']],
  };
  for (const [title, [predecessor, now, expected]] of Object.entries(statements)) {
    test(`a Lease says ${title}`, () => {
      const bench = new Bench();
      bench.announcements.led(monotonic(2_000));
      void bench.announce('a');
      assert.deepEqual(bench.begin(now, predecessor), expected);
    });
  }

  const refusals: Readonly<Record<string, readonly [Error, muted: number]>> = {
    'a policy denies it': [refusal(403), 1],
    'it is not valid': [refusal(422), 1],
    'it is denied for a reason that is wrapped': [new Error('x', { cause: refusal(403) }), 1],
    'the Lease has changed': [refusal(409), 0],
    'there are too many requests': [refusal(429), 0],
    'the server has a fault': [refusal(500), 0],
    'nothing was answered': [new TransportError('cut', 'connection'), 0],
  };
  for (const [title, [error, muted]] of Object.entries(refusals)) {
    test(`a Lease ${muted === 1 ? 'says nothing for ten minutes' : 'goes on saying it'} where ${title}, and nothing waits for ever`, async () => {
      const bench = new Bench();
      await bench.write();
      void bench.announce('a');
      bench.begin();
      bench.announcements.failed(error, monotonic(0));
      assert.equal(bench.muted.length, muted);
      assert.deepEqual(await bench.write(599_999), muted === 1 ? undefined : ['a']);
      assert.deepEqual(bench.named, ['a']);
      assert.deepEqual(await bench.write(600_000), ['a']);
    });
  }

  test('a Lease whose list another client changes says nothing for ten minutes, and is not written in a loop', async () => {
    const bench = new Bench();
    await bench.write();
    void bench.announce('a');
    assert.equal(bench.announcements.isWanted, true);
    bench.begin();
    bench.announcements.stored([], monotonic(0));
    assert.deepEqual([bench.announcements.isWanted, bench.named], [false, []]);
    assert.deepEqual(bench.muted, ['another client changes what it says']);
    assert.equal(await bench.write(2_000), undefined);
    assert.deepEqual(bench.named, ['a']);
  });

  test('a Lease names 256 requests at most, and says nothing of more; then none of them waits', async () => {
    const bench = new Bench();
    await bench.write();
    for (let count = 0; count < 256; count += 1) void bench.announce(`request ${count}`);
    assert.equal((await bench.write())?.length, 256);
    void bench.announce('one more');
    assert.equal(await bench.write(), undefined);
    assert.equal(bench.named.at(-1), 'one more');
    assert.deepEqual(
      await bench.write(0, { ...unclean, requests: ['one of the former'] }),
      undefined,
    );
  });
});
