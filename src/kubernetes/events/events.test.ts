import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogFields, Logger } from '#base/logger.ts';
import { instant, minutes, seconds } from '#base/units.ts';
import { type FakeAnswer, FakeTransport, settled } from '#support/api-server/fake-transport.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { createClient } from '../http-client.ts';
import { TransportError, type TransportRequest } from '../transport/transport.ts';
import type { EventNote, EventRecorder } from './event-recorder.ts';
import { createEventRecorder } from './events.ts';

const T0 = instant(1_700_000_000_000); // 2023-11-14T22:13:20Z
const answer = { body: { metadata: { name: 'e', uid: 'u', resourceVersion: '1' } } };
const about = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  namespace: 'demo',
  name: 'ingester',
  uid: 'u1',
};

function note(change: Partial<EventNote> = {}): EventNote {
  return { about, type: 'Normal', reason: 'PodDeleted', message: 'deleted pod 0', ...change };
}

interface Setup {
  readonly recorder: EventRecorder;
  readonly transport: FakeTransport;
  readonly clock: ManualClock;
  readonly logged: string[];
  readonly refused: number[];
  readonly dropped: () => number;
}

function setup(answers: (request: TransportRequest) => FakeAnswer = () => answer): Setup {
  const clock = new ManualClock(T0);
  const transport = new FakeTransport(answers);
  const client = createClient({ transport, clock, timeout: seconds(0), userAgent: 'test/1' });
  const logged: string[] = [];
  const log = (message: string, _fields?: LogFields): void => void logged.push(message);
  const levels = { debug: log, info: log, warn: log, error: log };
  const logger: Logger = { ...levels, with: () => logger, flush: () => undefined };
  const refused: number[] = [];
  let dropped = 0;
  const recorder = createEventRecorder({
    client,
    clock,
    logger,
    instance: 'operator-0',
    onRefused: (namespaces) => void refused.push(namespaces),
    onDropped: (notes) => void (dropped += notes),
  });
  return { recorder, transport, clock, logged, refused, dropped: () => dropped };
}

function bodyOf(request: TransportRequest | undefined): unknown {
  return JSON.parse(request?.body ?? 'null');
}

function methods(transport: FakeTransport): readonly string[] {
  return transport.requests.map((request) => request.method);
}

function forbidden(): FakeAnswer {
  return { status: 403, body: { reason: 'Forbidden', message: 'no' } };
}

test('record() creates an Event for the first note', async () => {
  const { recorder, transport } = setup();
  recorder.record(note());
  await recorder.flush();
  assert.equal(transport.last.path, '/api/v1/namespaces/demo/events?timeout=30s');
  assert.deepEqual(bodyOf(transport.last), {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'ingester.18bcfe568000001', namespace: 'demo' },
    involvedObject: about,
    type: 'Normal',
    reason: 'PodDeleted',
    message: 'deleted pod 0',
    count: 1,
    firstTimestamp: '2023-11-14T22:13:20Z',
    lastTimestamp: '2023-11-14T22:13:20Z',
    source: { component: 'rollout-operator' },
    reportingComponent: 'rollout-operator',
    reportingInstance: 'operator-0',
  });
});

test('record() patches count, message and time of later notes, after 10 s at the earliest', async () => {
  const { recorder, transport, clock } = setup();
  recorder.record(note());
  await settled();
  clock.advance(seconds(3));
  recorder.record(note({ message: 'deleted pod 1' }));
  recorder.record(note({ message: 'deleted pod 2' }));
  await settled();
  assert.deepEqual(methods(transport), ['POST']);
  clock.advance(seconds(7));
  await settled();
  assert.deepEqual(methods(transport), ['POST', 'PATCH']);
  assert.deepEqual(bodyOf(transport.last), {
    count: 3,
    message: 'deleted pod 2',
    lastTimestamp: '2023-11-14T22:13:23Z',
  });
});

test('record() does not patch at once what is noted while the Event is being created', async () => {
  const { recorder, transport } = setup();
  recorder.record(note());
  recorder.record(note());
  await settled();
  assert.deepEqual(methods(transport), ['POST']);
});

test('record() shows what is noted again after 10 min by the same Event, younger and in its new words (D-54)', async () => {
  const { recorder, transport, clock } = setup();
  recorder.record(note({ message: 'pod 0 is not ready' }));
  await settled();
  for (const message of ['pod 0 is not ready', 'pod 1 is not ready']) {
    clock.advance(minutes(10));
    recorder.record(note({ message }));
    await settled();
  }
  assert.deepEqual(methods(transport), ['POST', 'PATCH', 'PATCH']);
  assert.deepEqual(bodyOf(transport.requests[1]), {
    count: 2,
    message: 'pod 0 is not ready',
    lastTimestamp: '2023-11-14T22:23:20Z',
  });
  assert.deepEqual(bodyOf(transport.last), {
    count: 3,
    message: 'pod 1 is not ready',
    lastTimestamp: '2023-11-14T22:33:20Z',
  });
});

test('record() begins a new Event when a series was silent for 15 min', async () => {
  const { recorder, transport, clock } = setup();
  recorder.record(note());
  await settled();
  clock.advance(minutes(15));
  recorder.record(note());
  await settled();
  assert.deepEqual(methods(transport), ['POST', 'POST']);
});

test('record() keeps an Event for each subject and reason', async () => {
  const { recorder, transport } = setup();
  recorder.record(note());
  recorder.record(note({ reason: 'Paused' }));
  recorder.record(note({ about: { ...about, uid: 'u2' } }));
  await recorder.flush();
  assert.deepEqual(methods(transport), ['POST', 'POST', 'POST']);
});

test('record() cuts a message that the API server would refuse', async () => {
  const { recorder, transport } = setup();
  recorder.record(note({ message: 'x'.repeat(2_000) }));
  await recorder.flush();
  const { message } = bodyOf(transport.last) as { message: string };
  assert.equal(message.length, 1_024);
});

test('record() shows marks of direction in their escapes [found X-9]', async () => {
  const { recorder, transport } = setup();
  recorder.record(note({ message: 'pod answered 500: a\u202eb' }));
  await recorder.flush();
  const { message } = bodyOf(transport.last) as { message: string };
  assert.equal(message, 'pod answered 500: a\\u202eb');
});

test('flush() writes what waits for its 10 s', async () => {
  const { recorder, transport } = setup();
  recorder.record(note());
  await settled();
  recorder.record(note());
  await recorder.flush();
  assert.deepEqual(methods(transport), ['POST', 'PATCH']);
});

test('flush() resolves at once when there is nothing to write', async () => {
  const { recorder, transport } = setup();
  await recorder.flush();
  assert.equal(transport.requests.length, 0);
});

test('record() tries a namespace that forbids Events once more after 1 min, as a starting API server forbids too much', async () => {
  let isStarting = true;
  const { recorder, transport, clock, refused } = setup(() => (isStarting ? forbidden() : answer));
  recorder.record(note());
  await recorder.flush();
  isStarting = false;
  clock.advance(seconds(59));
  recorder.record(note());
  await recorder.flush();
  assert.equal(transport.requests.length, 1);
  clock.advance(seconds(1));
  recorder.record(note());
  await recorder.flush();
  assert.equal(transport.requests.length, 2);
  assert.deepEqual(refused, [1, 0]);
});

test('record() is silent in a namespace that forbids Events twice, after one log line (D-1)', async () => {
  const { recorder, transport, clock, logged, refused } = setup(forbidden);
  recorder.record(note());
  recorder.record(note({ reason: 'Paused' }));
  await recorder.flush();
  for (let hours = 0; hours < 10; hours += 1) {
    clock.advance(minutes(60));
    recorder.record(note());
    await recorder.flush();
  }
  assert.equal(transport.requests.length, 2);
  assert.deepEqual(logged, ['Events cannot be written in this namespace']);
  assert.deepEqual(refused, [1]);
});

test('record() goes on in other namespaces', async () => {
  const { recorder, transport } = setup((request) =>
    request.path.includes('/demo/') ? forbidden() : answer,
  );
  recorder.record(note());
  recorder.record(note({ about: { ...about, namespace: 'other', uid: 'u2' } }));
  await recorder.flush();
  assert.equal(transport.requests.length, 2);
});

test('record() tries a namespace that did not exist again after 10 min', async () => {
  let exists = false;
  const { recorder, clock, refused, transport } = setup(() =>
    exists ? answer : { status: 404, body: { reason: 'NotFound', message: 'namespaces "demo"' } },
  );
  recorder.record(note());
  await recorder.flush();
  recorder.record(note());
  await recorder.flush();
  assert.equal(transport.requests.length, 1);
  exists = true;
  clock.advance(minutes(10));
  recorder.record(note());
  await recorder.flush();
  assert.equal(transport.requests.length, 2);
  assert.deepEqual(refused, [1, 0]);
});

test('record() tries again after 1 s and 5 s, then drops the note with a log line', async () => {
  const { recorder, transport, clock, logged, dropped } = setup(() => ({ status: 500 }));
  recorder.record(note());
  await settled();
  clock.advance(seconds(1));
  await settled();
  clock.advance(seconds(4));
  await settled();
  assert.equal(transport.requests.length, 2);
  clock.advance(seconds(1));
  await settled();
  assert.equal(transport.requests.length, 3);
  assert.deepEqual(logged, ['Event could not be written']);
  assert.equal(dropped(), 1);
});

test('record() waits as long as a throttling server asks', async () => {
  const answers: FakeAnswer[] = [{ status: 429, headers: { 'retry-after': '8' } }];
  const { recorder, transport, clock } = setup(() => answers.shift() ?? answer);
  recorder.record(note());
  await settled();
  clock.advance(seconds(7));
  await settled();
  assert.equal(transport.requests.length, 1);
  clock.advance(seconds(1));
  await settled();
  assert.equal(transport.requests.length, 2);
});

test('record() does not repeat what the server calls invalid', async () => {
  const { recorder, transport, logged } = setup(() => ({ status: 422 }));
  recorder.record(note());
  await recorder.flush();
  assert.equal(transport.requests.length, 1);
  assert.equal(logged.length, 1);
});

test('record() writes an Event anew that has expired at the server', async () => {
  const { recorder, transport, clock } = setup((request) =>
    request.method === 'PATCH' ? { status: 404 } : answer,
  );
  recorder.record(note());
  await settled();
  clock.advance(seconds(10));
  recorder.record(note());
  await settled();
  clock.advance(seconds(1));
  await settled();
  assert.deepEqual(methods(transport), ['POST', 'PATCH', 'POST']);
});

test('record() patches an Event whose create had an effect but no answer', async () => {
  const answers: FakeAnswer[] = [
    new TransportError('reset', 'connection'),
    { status: 409, body: { reason: 'AlreadyExists' } },
  ];
  const { recorder, transport, clock } = setup(() => answers.shift() ?? answer);
  recorder.record(note());
  for (const wait of [1, 5]) {
    await settled();
    clock.advance(seconds(wait));
  }
  await settled();
  assert.deepEqual(methods(transport), ['POST', 'POST', 'PATCH']);
});

test('record() takes another name when the first is taken', async () => {
  const answers: FakeAnswer[] = [{ status: 409, body: { reason: 'AlreadyExists' } }];
  const { recorder, transport, clock } = setup(() => answers.shift() ?? answer);
  recorder.record(note());
  await settled();
  clock.advance(seconds(1));
  await settled();
  const names = transport.requests.map(
    (each) => (bodyOf(each) as typeof answer.body).metadata.name,
  );
  assert.deepEqual(names, ['ingester.18bcfe568000001', 'ingester.18bcfe568000002']);
});

test('record() keeps 1,000 series and counts what it drops', async () => {
  const { recorder, dropped } = setup(() => new Promise<FakeAnswer>(() => undefined) as never);
  for (let n = 0; n < 1_011; n++) recorder.record(note({ reason: `Reason${n}` }));
  assert.equal(dropped(), 10);
});
