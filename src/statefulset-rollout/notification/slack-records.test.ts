import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError } from '#kubernetes/transport/api-error.ts';
import type { Thread } from '#notification/outbox-state.ts';
import { objectAt, stringAt } from '#statefulset/parse-fields.ts';
import { FakeInformer } from '#support/api-server/fake-informer.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { OutboxPlay, shown } from '#support/rollouts/outbox-play.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { parseRollout } from '../parse-resource.ts';
import { SlackRecords } from './slack-records.ts';

const place = { namespace: 'demo', name: 'db' };
const uid = 'uid-1';

/** A thread after `sent` of its calls. */
function threadAfter(sent: number): Thread {
  const play = new OutboxPlay();
  play.want({ pages: [shown('p'), shown('q'), shown('r')] });
  play.runTo(sent * 1_000 - 1);
  const [thread] = [...play.outbox.threads.values()];
  assert.ok(thread);
  return thread;
}

/** Records of one resource, beside what was written of them, woken for them, and is free again. */
class Bed {
  readonly clock = new FakeClock();
  readonly written: JsonObject[] = [];
  readonly woken: string[] = [];
  readonly released: string[] = [];
  isLeading = true;
  /** What the next write fails with. */
  failure: unknown;
  readonly records: SlackRecords;

  constructor() {
    const rollouts = new FakeInformer({
      clock: this.clock,
      type: resourceTypes.statefulsetRollouts,
      project: parseRollout,
      indexers: {},
    });
    const stored: KubernetesObject = { metadata: { ...place, uid, resourceVersion: '7' } };
    rollouts.lister.upsert(stored);
    this.records = new SlackRecords(
      {
        client: {
          patch: (_type, _key, { body }) => {
            const { failure } = this;
            this.failure = undefined;
            if (failure !== undefined) return Promise.reject(failure);
            assert.ok(body.kind === 'merge');
            this.written.push(body.document);
            return Promise.resolve(stored);
          },
        },
        clock: this.clock,
        log: silentLogger,
        rollouts,
        unseenRollouts: { answered: () => undefined },
        leads: () => this.isLeading,
        wake: (key) => this.woken.push(key),
      },
      (each) => this.released.push(each),
    );
  }

  /** Revisions over which was written. */
  get revisions(): readonly (string | undefined)[] {
    return this.written.map((each) => stringAt(objectAt(each, 'metadata'), 'resourceVersion'));
  }
}

describe('SlackRecords', () => {
  let bed: Bed;

  beforeEach(() => {
    bed = new Bed();
  });

  test('SlackRecords wakes the resource, and keeps the newest until the status is stored that was made with it', () => {
    const { records } = bed;
    records.note(place, threadAfter(1), true);
    const first = records.of(uid);
    records.note(place, threadAfter(2), true);
    records.stored(uid, first);
    const second = records.of(uid);
    assert.equal(Array.isArray(second?.['pages']), true);
    assert.deepEqual(bed.released, []);
    records.stored(uid, second);
    assert.equal(records.of(uid), undefined);
    assert.deepEqual([bed.released, bed.woken], [[uid], ['demo/db', 'demo/db']]);
  });

  test('SlackRecords writes nothing itself that a pass stores within a second', async () => {
    bed.records.note(place, threadAfter(1), true);
    bed.records.stored(uid, bed.records.of(uid));
    await bed.clock.advance(millis(60_000));
    assert.deepEqual(bed.written, []);
  });

  test('SlackRecords writes a new message itself after a second in which no pass has, over what is seen', async () => {
    bed.records.note(place, threadAfter(1), true);
    await bed.clock.advance(millis(999));
    assert.deepEqual(bed.revisions, []);
    await bed.clock.advance(millis(1));
    assert.deepEqual([bed.revisions, bed.released], [['7'], [uid]]);
  });

  test('SlackRecords writes it again after another second where another client has written meanwhile', async () => {
    bed.failure = new ApiError(
      { verb: 'patch', kind: 'StatefulsetRollout' },
      { status: 409, reason: 'Conflict', message: 'modified', details: {} },
    );
    bed.records.note(place, threadAfter(1), true);
    await bed.clock.advance(millis(1_000));
    assert.deepEqual([bed.revisions, bed.released], [[], []]);
    await bed.clock.advance(millis(1_000));
    assert.deepEqual([bed.revisions, bed.released], [['7'], [uid]]);
  });

  test('SlackRecords leaves to passes what a message that stands shows anew', async () => {
    bed.records.note(place, threadAfter(1), false);
    await bed.clock.advance(millis(60_000));
    assert.deepEqual(bed.written, []);
    assert.notEqual(bed.records.of(uid), undefined);
  });

  test('SlackRecords writes what is left at the end, whatever is seen, and only while the Lease is held', async () => {
    bed.records.note(place, threadAfter(1), false);
    bed.isLeading = false;
    await bed.records.flush();
    assert.deepEqual(bed.written, []);
    bed.isLeading = true;
    await bed.records.flush();
    assert.deepEqual(bed.revisions, [undefined]);
    await bed.records.flush();
    assert.equal(bed.written.length, 1);
  });

  test('SlackRecords stores nothing of a rollout that another one has followed', () => {
    const superseded: Thread = { ...threadAfter(1), ending: 'superseded' };
    assert.equal(bed.records.note(place, superseded, true), false);
    assert.deepEqual([bed.records.of(uid), bed.woken], [undefined, []]);
  });

  test('SlackRecords writes nothing into another resource of the same name', async () => {
    bed.records.note(place, { ...threadAfter(1), uid: 'uid-0' }, true);
    await bed.clock.advance(millis(1_000));
    assert.deepEqual(bed.written, []);
  });
});
