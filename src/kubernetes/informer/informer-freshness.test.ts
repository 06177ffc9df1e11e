import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { monotonic } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { RevisionWentBackError } from '../revision.ts';
import type { OwnWrite } from './freshness.ts';
import { InformerFreshness } from './informer-freshness.ts';

function fresh(): { clock: FakeClock; freshness: InformerFreshness } {
  const clock = new FakeClock();
  return { clock, freshness: new InformerFreshness(clock, 'pods') };
}

const at = monotonic;
const never = new AbortController().signal;

const proofs: Record<string, { steps: (f: InformerFreshness) => void; want: unknown }> = {
  'has none before the first list': { steps: () => undefined, want: undefined },
  'has none from events alone, as these may be old': {
    steps: (f) => f.delivered('10'),
    want: undefined,
  },
  'has one from a streaming list, aged from its sending': {
    steps: (f) => f.listed('10', at(3)),
    want: { revision: '10', sentAt: 3, by: 'streaming-list' },
  },
  'has none from a write until its answer was seen': {
    steps: (f) => {
      f.delivered('10');
      f.ownWrite({ sentAt: at(5), before: '10', answered: '12' });
      f.delivered('11');
    },
    want: undefined,
  },
  'has one from a write once its answer was seen': {
    steps: (f) => {
      f.delivered('10');
      f.ownWrite({ sentAt: at(5), before: '10', answered: '12' });
      f.delivered('12');
    },
    want: { revision: '12', sentAt: 5, by: 'own-write' },
  },
  'has one from a write that was seen before it was answered': {
    steps: (f) => {
      f.delivered('12');
      f.ownWrite({ sentAt: at(5), before: '10', answered: '12' });
    },
    want: { revision: '12', sentAt: 5, by: 'own-write' },
  },
  'has none from a write that changed nothing': {
    steps: (f) => {
      f.delivered('12');
      f.ownWrite({ sentAt: at(5), before: '12', answered: '12' });
    },
    want: undefined,
  },
  'has none from a repeated delete, which answers an older state': {
    steps: (f) => {
      f.delivered('12');
      f.ownWrite({ sentAt: at(5), before: '12', answered: '11' });
    },
    want: undefined,
  },
  'loses its proof in a relist': {
    steps: (f) => {
      f.listed('10', at(3));
      f.reset();
    },
    want: undefined,
  },
  'loses what was pending in a relist': {
    steps: (f) => {
      f.delivered('10');
      f.ownWrite({ sentAt: at(5), before: '10', answered: '12' });
      f.reset();
      f.delivered('12');
    },
    want: undefined,
  },
  'has one from a consistent read once its revision was seen': {
    steps: (f) => {
      f.delivered('10');
      f.consistentRead('11', at(6));
      f.delivered('13');
    },
    want: { revision: '11', sentAt: 6, by: 'consistent-read' },
  },
  'keeps a proof that was sent later than one that arrives late': {
    steps: (f) => {
      f.delivered('20');
      f.consistentRead('20', at(9));
      f.ownWrite({ sentAt: at(4), before: '10', answered: '12' });
    },
    want: { revision: '20', sentAt: 9, by: 'consistent-read' },
  },
  'takes the newest by sending time of several that one event proves': {
    steps: (f) => {
      f.ownWrite({ sentAt: at(7), before: '10', answered: '14' });
      f.ownWrite({ sentAt: at(5), before: '10', answered: '12' });
      f.delivered('14');
    },
    want: { revision: '14', sentAt: 7, by: 'own-write' },
  },
};
for (const [fact, { steps, want }] of Object.entries(proofs)) {
  test(`proof ${fact} (D-3, D-5)`, () => {
    const { freshness } = fresh();
    steps(freshness);
    assert.deepEqual(freshness.proof, want);
  });
}

test('proof of one type says nothing of another: a write is reported to its own type only (D-5)', () => {
  const pods = fresh().freshness;
  const sets = fresh().freshness;
  sets.delivered('12');
  pods.delivered('12');
  pods.ownWrite({ sentAt: at(5), before: '10', answered: '12' });
  assert.equal(sets.proof, undefined);
});

test('proof keeps coming while writes are sent faster than they are seen', () => {
  const { freshness } = fresh();
  for (let write = 1; write <= 1_000; write += 1) {
    freshness.ownWrite({ sentAt: at(write), before: '1', answered: String(1_000 + write) });
  }
  freshness.delivered('1010');
  assert.equal(freshness.proof?.sentAt, 10);
  freshness.delivered('2000');
  assert.equal(freshness.proof?.sentAt, 1_000);
});

test('consistentRead() throws when it is older than what had been seen when it was sent (D-6)', async () => {
  const { clock, freshness } = fresh();
  freshness.delivered('20');
  await clock.advance(5);
  assert.throws(() => freshness.consistentRead('19', at(5)), RevisionWentBackError);
});

test('consistentRead() takes a read that events overtook while it was under way', async () => {
  const { clock, freshness } = fresh();
  freshness.delivered('20');
  await clock.advance(5);
  freshness.delivered('30');
  freshness.consistentRead('25', at(3));
  assert.deepEqual(freshness.proof, { revision: '25', sentAt: 3, by: 'consistent-read' });
});

test('listed() throws for a list that is older than what was seen before a relist (D-6)', async () => {
  const { clock, freshness } = fresh();
  freshness.listed('20', at(0));
  await clock.advance(5);
  freshness.reset();
  assert.throws(() => freshness.listed('7', at(5)), RevisionWentBackError);
});

test('consistentRead() remembers the last of a quick series of events', async () => {
  const { clock, freshness } = fresh();
  for (const revision of ['20', '21', '22']) {
    freshness.delivered(revision);
    await clock.advance(10);
  }
  await clock.advance(10_000);
  assert.throws(() => freshness.consistentRead('21', at(10_000)), RevisionWentBackError);
});

test('consistentRead() never throws for a server whose revisions only grow', async () => {
  const steps = fc.array(fc.record({ wait: fc.nat(300), read: fc.boolean() }), {
    maxLength: 200,
    size: 'max',
  });
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const { clock, freshness } = fresh();
      let revision = 1;
      let sent: { at: number; revision: number } | undefined;
      for (const { wait, read } of list) {
        revision += 1;
        freshness.delivered(String(revision));
        if (sent !== undefined) freshness.consistentRead(String(sent.revision), at(sent.at));
        sent = read ? { at: clock.monotonic(), revision } : undefined;
        await clock.advance(wait);
      }
    }),
    { numRuns: 20 },
  );
});

test('hasSeen() is false before the first list and after a relist', () => {
  const { freshness } = fresh();
  assert.equal(freshness.hasSeen('1'), false);
  freshness.delivered('10');
  assert.equal(freshness.hasSeen('10'), true);
  assert.equal(freshness.hasSeen('11'), false);
  freshness.reset();
  assert.equal(freshness.hasSeen('1'), false);
});

test('seen never goes back within one list', () => {
  const { freshness } = fresh();
  freshness.delivered('10');
  freshness.delivered('9');
  assert.equal(freshness.seen, '10');
});

test('whenSeen() resolves when the own write comes back, also through a relist', async () => {
  const { freshness } = fresh();
  freshness.delivered('10');
  let isWoken = false;
  const wait = freshness.whenSeen('12', never).then(() => (isWoken = true));
  freshness.reset();
  freshness.delivered('11');
  await new FakeClock().settle();
  assert.equal(isWoken, false);
  freshness.delivered('13');
  await wait;
  await freshness.whenSeen('12', never);
});

test('whenSeen() rejects with the reason of its signal', async () => {
  const { freshness } = fresh();
  const controller = new AbortController();
  const wait = freshness.whenSeen('12', controller.signal);
  controller.abort(new Error('shutting down'));
  await assert.rejects(wait, { message: 'shutting down' });
});

const anyMove = fc.oneof(
  fc.record({ kind: fc.constantFrom('commit', 'write', 'no-change', 'read', 'relist') }),
  fc.record({ kind: fc.constant('deliver'), count: fc.nat(4) }),
  fc.record({ kind: fc.constant('answer'), which: fc.nat(3) }),
);

/** A server with one late watch, whose answers arrive in any order. */
class ProofRun {
  readonly clock = new FakeClock();
  readonly freshness = new InformerFreshness(this.clock, 'pods');
  /** The server's revision at each millisecond. */
  readonly revisions = [10];
  #delivered = 10;
  #answers: (() => void)[] = [];

  constructor() {
    this.freshness.listed('10', at(0));
  }

  get revision(): number {
    return this.revisions.at(-1) ?? 0;
  }

  async move(move: { kind: string; count?: number; which?: number }): Promise<void> {
    await this.clock.advance(1);
    const sentAt = this.clock.monotonic();
    const before = this.revision;
    this.revisions.push(['commit', 'write'].includes(move.kind) ? before + 1 : before);
    this.send(move.kind, { sentAt, before: String(before), answered: String(this.revision) });
    if (move.kind === 'relist') this.relist(sentAt);
    if (move.kind === 'deliver') this.deliver(move.count ?? 0);
    if (move.kind === 'answer') this.#answers.splice(move.which ?? 0, 1)[0]?.();
    this.check();
  }

  send(kind: string, write: OwnWrite): void {
    const { sentAt, answered } = write;
    // A write that changes nothing may be answered from a cache that lags.
    const stale = { ...write, answered: String(Number(answered) - 1) };
    const answers: Record<string, () => void> = {
      write: () => this.freshness.ownWrite(write),
      'no-change': () => this.freshness.ownWrite(stale),
      read: () => this.freshness.consistentRead(answered, sentAt),
    };
    const answer = answers[kind];
    if (answer !== undefined) this.#answers.push(answer);
  }

  relist(sentAt: ReturnType<typeof at>): void {
    this.freshness.reset();
    this.check();
    this.#delivered = this.revision;
    this.freshness.listed(String(this.revision), sentAt);
  }

  deliver(count: number): void {
    this.#delivered = Math.min(this.revision, this.#delivered + count);
    this.freshness.delivered(String(this.#delivered));
  }

  /** What was committed before the proof's request was sent is in the view. */
  check(): void {
    const { proof } = this.freshness;
    if (proof === undefined) return;
    const committed = this.revisions[proof.sentAt - 1] ?? 0;
    assert.ok(this.#delivered >= committed, `proof of ${proof.sentAt} lacks ${committed}`);
  }
}

test('proof never claims more than the view contains, whatever the order of answers and events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyMove, { maxLength: 60, size: 'max' }), async (moves) => {
      const run = new ProofRun();
      for (const move of moves) await run.move(move);
    }),
    { numRuns: 100 },
  );
});
