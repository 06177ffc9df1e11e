import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, seconds } from '#base/units.ts';
import type { CallOptions, Client } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { AdmissionBed } from '#support/admission/admission-bed.ts';
import { prepared, scaleRequest } from '#support/admission/admission-requests.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { sharedReads } from './shared-reads.ts';

interface Sent {
  readonly name: string;
  readonly options: CallOptions;
  readonly answer: PromiseWithResolvers<KubernetesObject>;
}

/** A client whose reads are answered by hand, read through {@link sharedReads}. */
class Bed {
  readonly clock = new FakeClock();
  readonly sent: Sent[] = [];
  readonly #shared: Client;

  constructor() {
    const client = {
      get: (_: unknown, { name }: { readonly name: string }, options: CallOptions = {}) => {
        const answer = Promise.withResolvers<KubernetesObject>();
        const fail = (): void =>
          answer.reject(new Error(`aborted: ${String(options.signal?.reason)}`));
        options.signal?.addEventListener('abort', fail, { once: true });
        this.sent.push({ name, options, answer });
        return answer.promise;
      },
    };
    this.#shared = sharedReads(client as unknown as Client, this.clock);
  }

  /** Reads a set; its answer as text. */
  async read(options: CallOptions = {}, name = 'x'): Promise<string> {
    const key = { namespace: 'test', name };
    try {
      const { metadata } = await this.#shared.get(resourceTypes.statefulSets, key, options);
      return metadata.resourceVersion;
    } catch (error) {
      return String(error);
    }
  }

  /** Answers the request that was sent as number `index`. */
  async answer(index: number, resourceVersion: string): Promise<void> {
    const metadata = { name: 'x', namespace: 'test', uid: 'u', resourceVersion };
    this.sent[index]?.answer.resolve({ metadata });
    await this.clock.settle();
  }
}

test('sharedReads() sends two requests for ten equal reads, the second once the first has ended', async () => {
  const bed = new Bed();
  const reads = Array.from({ length: 10 }, () => bed.read());
  await bed.clock.settle();
  assert.equal(bed.sent.length, 1);
  await bed.answer(0, '1');
  assert.equal(bed.sent.length, 2);
  await bed.answer(1, '2');
  assert.deepEqual(await Promise.all(reads), ['1', ...Array.from({ length: 9 }, () => '2')]);
});

test('sharedReads() answers no caller with what was asked for before', async () => {
  const bed = new Bed();
  const first = bed.read();
  await bed.clock.settle();
  const second = bed.read();
  await bed.answer(0, 'of before the second came');
  assert.equal(await first, 'of before the second came');
  const third = bed.read();
  await bed.answer(1, 'of before the third came');
  assert.equal(await second, 'of before the third came');
  await bed.answer(2, 'last');
  assert.equal(await third, 'last');
});

test('sharedReads() keeps reads of different objects apart, and forgets those that have ended', async () => {
  const bed = new Bed();
  const reads = [bed.read({}, 'x'), bed.read({}, 'y')];
  await bed.clock.settle();
  assert.deepEqual(
    bed.sent.map(({ name }) => name),
    ['x', 'y'],
  );
  await bed.answer(0, '1');
  await bed.answer(1, '2');
  assert.deepEqual(await Promise.all(reads), ['1', '2']);
  const again = bed.read({}, 'x');
  await bed.answer(2, '3');
  assert.equal(await again, '3');
});

test('sharedReads() waits a second for a read that hangs, and then reads beside it', async () => {
  const bed = new Bed();
  const hanging = bed.read();
  const waiting = [bed.read(), bed.read()];
  await bed.clock.advance(999);
  assert.equal(bed.sent.length, 1);
  await bed.clock.advance(1);
  assert.equal(bed.sent.length, 2);
  await bed.answer(1, '2');
  assert.deepEqual(await Promise.all(waiting), ['2', '2']);
  await bed.answer(0, '1');
  assert.equal(await hanging, '1');
  assert.deepEqual([bed.clock.pending(), bed.sent.length], [[], 2]);
});

test('sharedReads() lets one who leaves go, and goes on for the others', async () => {
  const bed = new Bed();
  const first = bed.read();
  const impatient = new AbortController();
  const left = bed.read({ signal: impatient.signal });
  const stays = bed.read();
  await bed.answer(0, '1');
  impatient.abort('gone');
  assert.equal(await left, 'gone');
  await bed.answer(1, '2');
  assert.deepEqual([await first, await stays, bed.sent.length], ['1', '2', 2]);
});

test('sharedReads() ends a request for which nothing waits any more', async () => {
  const bed = new Bed();
  const review = new AbortController();
  const read = bed.read({ signal: review.signal });
  await bed.clock.settle();
  review.abort('over');
  assert.equal(await read, 'Error: aborted: over');
});

test('sharedReads() sends nothing for those who left before, and reads for who comes then', async () => {
  const bed = new Bed();
  const first = bed.read();
  const review = new AbortController();
  const left = bed.read({ signal: review.signal });
  review.abort('over');
  assert.equal(await left, 'over');
  await bed.answer(0, '1');
  assert.deepEqual([await first, bed.sent.length, bed.clock.pending()], ['1', 1, []]);
  assert.equal(await bed.read({ signal: AbortSignal.abort('before') }), 'before');
  const next = bed.read();
  await bed.answer(1, '2');
  assert.equal(await next, '2');
});

test('sharedReads() tells each who waits of a failure, and reads again for the next', async () => {
  const bed = new Bed();
  const first = bed.read();
  const others = [bed.read(), bed.read()];
  await bed.answer(0, '1');
  bed.sent[1]?.answer.reject(new Error('refused'));
  assert.deepEqual(await Promise.all([first, ...others]), [
    '1',
    'Error: refused',
    'Error: refused',
  ]);
  const next = bed.read();
  await bed.clock.settle();
  await bed.answer(2, '2');
  assert.equal(await next, '2');
});

test('sharedReads() asks with the time of who waits longest, counted from when they came', async () => {
  const bed = new Bed();
  void bed.read({ timeout: seconds(9) });
  void bed.read({ timeout: seconds(5) });
  void bed.read({ timeout: millis(100) });
  await bed.clock.advance(400);
  await bed.answer(0, '1');
  assert.deepEqual(
    bed.sent.map(({ options }) => options.timeout),
    [9_000, 4_600],
  );
  await bed.answer(1, '2');
});

for (const webhook of ['noDownscale', 'prepareDownscale'] as const) {
  test(`${webhook}() asks the API server twice about 50 equal reviews of a Scale`, async () => {
    await using bed = await AdmissionBed.open();
    const labels = { 'grafana.com/no-downscale': 'true', ...prepared.labels, 'rollout-group': '' };
    await bed.store({ ...prepared, labels, serviceName: '' });
    const request = scaleRequest(3, 1);
    const decisions = await Promise.all(
      Array.from({ length: 50 }, () => bed.review(bed[webhook], request)),
    );
    assert.deepEqual(
      decisions.map(({ isAllowed }) => isAllowed),
      decisions.map(() => false),
    );
    assert.deepEqual(
      bed.api.requests,
      Array.from(
        { length: 2 },
        () => 'GET /apis/apps/v1/namespaces/test/statefulsets/ingester-zone-a',
      ),
    );
  });
}
