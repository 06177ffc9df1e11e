import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { millis } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { SlackPace } from './slack-pace.ts';

interface View {
  readonly text: string;
}

describe('SlackPace', () => {
  let clock: FakeClock;
  let told: string[];
  let pace: SlackPace<View>;

  beforeEach(() => {
    clock = new FakeClock();
    told = [];
    const tell = ({ text }: View): void => void told.push(`${clock.monotonic()} ${text}`);
    pace = new SlackPace({ clock, tell });
  });

  function show(text: string, mark = 'RollingOut', uid = 'uid-1'): void {
    pace.show({ uid, mark, view: { text } });
  }

  test('SlackPace tells the first look at once, and then the newest of each second', async () => {
    show('a');
    await clock.advance(millis(300));
    show('b');
    await clock.advance(millis(300));
    show('c');
    await clock.advance(millis(5_000));
    assert.deepEqual(told, ['0 a', '1000 c']);
    show('d');
    assert.deepEqual(told.slice(2), ['5600 d']);
  });

  test('SlackPace tells another phase at once, and not again what came before it', async () => {
    show('a');
    show('b');
    await clock.advance(millis(500));
    show('c', 'RolloutDone');
    await clock.advance(millis(5_000));
    assert.deepEqual(told, ['0 a', '500 c']);
  });

  test('SlackPace tells resources apart', () => {
    show('a');
    show('b', 'RollingOut', 'uid-2');
    assert.deepEqual(told, ['0 a', '0 b']);
  });

  test('SlackPace sends at once what was not sent of a resource that is gone, and nothing after that', async () => {
    show('a');
    show('b');
    pace.forget('uid-1');
    assert.deepEqual(told, ['0 a', '0 b']);
    await clock.advance(millis(5_000));
    pace.forget('uid-1');
    assert.equal(told.length, 2);
    assert.deepEqual(clock.pending(), []);
  });
});
