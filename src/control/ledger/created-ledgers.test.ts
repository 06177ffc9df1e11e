import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { RecordingLogger } from '#support/telemetry/recording.ts';
import { CreatedLedgers, type LookedAtBudget } from './created-ledgers.ts';

function budget(uid: string): LookedAtBudget {
  return { namespace: 'test', name: uid, uid };
}

class Bed {
  readonly clock = new FakeClock();
  readonly log = new RecordingLogger();
  readonly fresh = new Set<string>();
  readonly begun: string[] = [];
  readonly looks = new CreatedLedgers({
    clock: this.clock,
    log: this.log,
    sawCreation: (uid) => this.fresh.has(uid),
  });

  /** Has the ledger of `uid` looked at; `look` is what that comes to. */
  look(uid: string, look: () => Promise<void> = () => Promise.resolve()): void {
    this.looks.look(budget(uid), async () => {
      this.begun.push(uid);
      await look();
    });
  }
}

test('the ledger of each budget is looked at once', async () => {
  const bed = new Bed();
  bed.look('one');
  bed.look('one');
  bed.look('two');
  await bed.clock.advance(0);
  assert.deepEqual(bed.begun, ['one', 'two']);
});

test('ledgers that were there before are looked at one after the other, and a new one at once', async () => {
  const bed = new Bed();
  const hung = Promise.withResolvers<void>();
  bed.look('one', () => hung.promise);
  bed.look('two');
  bed.fresh.add('new');
  bed.look('new');
  await bed.clock.advance(0);
  assert.deepEqual(bed.begun.toSorted(), ['new', 'one']);
  hung.resolve();
  await bed.clock.advance(0);
  assert.deepEqual(bed.begun.at(-1), 'two');
});

test('a look that failed is reported, and repeated only while the budget is new', async () => {
  const bed = new Bed();
  const fail = (): Promise<void> => Promise.reject(new Error('no'));
  bed.fresh.add('new');
  bed.look('old', fail);
  bed.look('new', fail);
  await bed.clock.advance(seconds(2));
  assert.deepEqual(bed.begun.toSorted(), ['new', 'new', 'old']);
  assert.ok(bed.log.lines.every(({ fields }) => fields['err'] instanceof Error));
  bed.fresh.clear();
  await bed.clock.advance(seconds(60));
  // Once more, which was due.
  assert.deepEqual(bed.begun.toSorted(), ['new', 'new', 'new', 'old']);
});

test('nothing is looked at any more once it is closed', async () => {
  const bed = new Bed();
  bed.fresh.add('new');
  bed.look('new', () => Promise.reject(new Error('no')));
  await bed.clock.advance(0);
  bed.looks.close();
  bed.look('two');
  await bed.clock.advance(seconds(60));
  assert.deepEqual(bed.begun, ['new']);
});
