import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import type { PodBehaviour } from '#support/pods/pod-fleet.ts';
import { type BedOptions, DelayedDownscaleBed } from '#support/rollouts/delayed-downscale-bed.ts';
import { delayedDownscaleOf } from './delayed-downscale.ts';

/** Expected calls as `DELETE 0 1 2 POST 4 3`: by method, then by ordinal as planned. */
function callsOf(bed: DelayedDownscaleBed): string {
  const ordinals = (method: string): string =>
    bed.fleet.calls
      .filter((call) => call.method === method)
      .map(({ pod }) => ` ${pod.slice(pod.lastIndexOf('-') + 1)}`)
      .join('');
  const text = ['DELETE', 'POST'].map((method) => {
    const list = ordinals(method);
    return list === '' ? '' : `${method}${list}`;
  });
  return text.filter((each) => each !== '').join(' ');
}

function patchesOf(bed: DelayedDownscaleBed): readonly number[] {
  return bed.patches.map(({ to }) => to);
}

interface Case extends BedOptions {
  readonly wanted: number;
  /** Minutes since when pods are prepared, by ordinal; the others begin when they are asked. */
  readonly prepared?: Readonly<Record<number, number>>;
  /** By ordinal. */
  readonly behaviours?: Readonly<Record<number, PodBehaviour>>;
  readonly want: {
    readonly calls: string;
    readonly patches: readonly number[];
    readonly verdict: string;
  };
}

function answering(body: string, status = 200): PodBehaviour {
  return { kind: 'answer', status, body };
}

/** What each scenario has in common: nothing but the time of one exchange passes. */
async function exchange({
  behaviours = {},
  prepared = {},
  ...options
}: Case): Promise<DelayedDownscaleBed> {
  const bed = new DelayedDownscaleBed(options).prepared(prepared);
  for (const [ordinal, behaviour] of Object.entries(behaviours)) {
    bed.fleet.behave(behaviour, bed.podName(Number(ordinal)));
  }
  return bed.run();
}

/** Seventy minutes before the instant at which every test begins, in Unix seconds. */
const dueTimestamp = 1_767_225_600 - 70 * 60;

const cases: Record<string, Case> = {
  'lets all pods go that are due [scenario 59]': {
    wanted: 3,
    prepared: { 4: 70, 3: 70 },
    want: { calls: 'DELETE 0 1 2 POST 4 3', patches: [3], verdict: 'settled' },
  },
  'lets none go while none is due [scenario 60]': {
    wanted: 3,
    prepared: { 4: 30 },
    want: { calls: 'DELETE 0 1 2 POST 4 3', patches: [], verdict: 'DownscaleDelayed' },
  },
  'lets none go while the highest is not due [scenario 61]': {
    wanted: 3,
    prepared: { 4: 0, 3: 70 },
    want: { calls: 'DELETE 0 1 2 POST 4 3', patches: [], verdict: 'DownscaleDelayed' },
  },
  // After the write the peer asks 1 and 2 again (DD-24); their answers are seconds old here.
  'lets the tail go that is due, above one in the middle that is not [scenario 62]': {
    wanted: 1,
    prepared: { 4: 70, 3: 75, 2: 30, 1: 75 },
    want: { calls: 'DELETE 0 POST 4 3 2 1', patches: [3], verdict: 'DownscaleDelayed' },
  },
  'takes exactly the delay for due [scenario 63]': {
    wanted: 4,
    prepared: { 4: 60 },
    want: { calls: 'DELETE 0 1 2 3 POST 4', patches: [4], verdict: 'settled' },
  },
  'takes a time to come for not due [scenario 63]': {
    wanted: 4,
    prepared: { 4: -70 },
    want: { calls: 'DELETE 0 1 2 3 POST 4', patches: [], verdict: 'DownscaleDelayed' },
  },
  'accepts a 201 [scenario 64]': {
    wanted: 4,
    behaviours: { 4: answering(`{"timestamp":${dueTimestamp},"more":[]}`, 201) },
    want: { calls: 'DELETE 0 1 2 3 POST 4', patches: [4], verdict: 'settled' },
  },
  'scales up at once, and cancels those that stay, then those that came [scenario 66]': {
    replicas: 2,
    wanted: 5,
    want: { calls: 'DELETE 0 1 2 3 4', patches: [5], verdict: 'settled' },
  },
  'cancels each pod once when the counts are equal [scenario 67]': {
    replicas: 3,
    wanted: 3,
    want: { calls: 'DELETE 0 1 2', patches: [], verdict: 'settled' },
  },
  'lets pods go to a forced count when they are due [scenario 68]': {
    wanted: 2,
    prepared: { 4: 70, 3: 70, 2: 70 },
    want: { calls: 'DELETE 0 1 POST 4 3 2', patches: [2], verdict: 'settled' },
  },
  'asks all and cancels none for a wanted count of 0 [scenario 68]': {
    wanted: 0,
    want: { calls: 'POST 4 3 2 1 0', patches: [], verdict: 'DownscaleDelayed' },
  },
  'only cancels for a forced count that is the current one [scenario 68]': {
    wanted: 5,
    want: { calls: 'DELETE 0 1 2 3 4', patches: [], verdict: 'settled' },
  },
  'scales at once without calls when the URL is not set [scenario 69]': {
    wanted: 3,
    url: '',
    want: { calls: '', patches: [3], verdict: 'settled' },
  },
  'scales at once without calls when the delay is not set [scenario 69]': {
    wanted: 3,
    delay: '',
    want: { calls: '', patches: [3], verdict: 'settled' },
  },
  'scales at once without calls when the delay is 0 [scenario 69]': {
    wanted: 3,
    delay: '0',
    want: { calls: '', patches: [3], verdict: 'settled' },
  },
  'scales at once without calls when the delay is 0s [scenario 69]': {
    wanted: 3,
    delay: '0s',
    want: { calls: '', patches: [3], verdict: 'settled' },
  },
  'calls pods by their ordinals when those start above 0 (KW-30)': {
    wanted: 3,
    ordinalsStart: 10,
    prepared: { 14: 70, 13: 70 },
    want: { calls: 'DELETE 10 11 12 POST 14 13', patches: [3], verdict: 'settled' },
  },
};

for (const delay of ['1.5h', '-1h', 'abc']) {
  const directions: Record<string, readonly [wanted: number, verdict: string]> = {
    'scales not down [scenario 70]': [3, 'InvalidDelayedDownscale'],
    'scales not up [scenario 70]': [7, 'InvalidDelayedDownscale'],
    'says nothing when the counts are equal [scenario 70]': [5, 'settled'],
  };
  for (const [fact, [wanted, verdict]] of Object.entries(directions)) {
    cases[`with the delay ${delay} ${fact}`] = {
      wanted,
      delay,
      want: { calls: '', patches: [], verdict },
    };
  }
}

const useless: Record<string, PodBehaviour> = {
  'a 500': answering(`{"timestamp":${dueTimestamp}}`, 500),
  'a 409': answering(`{"timestamp":${dueTimestamp}}`, 409),
  'no answer': { kind: 'reset' },
  'no JSON': answering('yes'),
  'a timestamp of 0': answering('{"timestamp":0}'),
  'a timestamp of -0': answering('{"timestamp":-0}'),
  'no timestamp': answering('{}'),
  'a timestamp that is text': answering('{"timestamp":"1"}'),
  'a timestamp that is no integer': answering('{"timestamp":1.5}'),
  'a timestamp with an exponent': answering('{"timestamp":1e9}'),
  'a timestamp beyond what is exact': answering('{"timestamp":9007199254740993}'),
  'a list': answering(`[{"timestamp":${dueTimestamp}}]`),
  'JSON and more': answering(`{"timestamp":${dueTimestamp}}{}`),
  'an empty 204': { kind: 'answer', status: 204 },
};

for (const [answer, behaviour] of Object.entries(useless)) {
  // D-21, KW-26: the peer lets none go.
  cases[`lets those above go when a pod answers with ${answer} [scenario 64]`] = {
    wanted: 2,
    prepared: { 4: 70, 2: 70 },
    behaviours: { 3: behaviour },
    want: { calls: 'DELETE 0 1 POST 4 3 2', patches: [4], verdict: 'PodNotPrepared' },
  };
}

for (const [answer, behaviour] of Object.entries({
  'a 409': answering('locked', 409),
  'a 500': answering('', 500),
  'no answer': { kind: 'never' },
} as const)) {
  cases[`scales up when the pods answer DELETE with ${answer} [scenario 66]`] = {
    replicas: 2,
    wanted: 5,
    behaviours: { 0: behaviour, 1: behaviour },
    want: { calls: 'DELETE 0 1 2 3 4', patches: [5], verdict: 'settled' },
  };
}

for (const [fact, given] of Object.entries(cases)) {
  test(`planDelayedDownscale() ${fact}`, async () => {
    const bed = await exchange(given);
    assert.deepEqual(
      { calls: callsOf(bed), patches: patchesOf(bed), verdict: bed.verdict() },
      given.want,
    );
  });
}

test('planDelayedDownscale() calls pods by their full names [scenario 59]', async () => {
  const bed = await new DelayedDownscaleBed({ wanted: 4 }).run();
  const last = bed.fleet.calls.at(-1);
  assert.equal(last?.host, 'ingester-zone-b-4.ingester-zone-b.test.svc.cluster.local.');
  assert.equal(last?.path, '/prepare-delayed-downscale');
});

test('planDelayedDownscale() uses the service name, and keeps port and query [scenario 69]', async () => {
  const bed = new DelayedDownscaleBed({
    wanted: 4,
    serviceName: 'ingester',
    url: 'http://pod:8080/p?x=1',
  });
  await bed.run();
  const last = bed.fleet.calls.at(-1);
  assert.equal(last?.host, 'ingester-zone-b-4.ingester.test.svc.cluster.local.:8080');
  assert.equal(last?.path, '/p?x=1');
});

test('planDelayedDownscale() decides for each set on its own [scenario 65]', async () => {
  const a = new DelayedDownscaleBed({ name: 'ingester-zone-a', wanted: 3 });
  const b = new DelayedDownscaleBed({ wanted: 3 }).prepared({ 4: 70, 3: 70 });
  await Promise.all([a.run(), b.run()]);
  assert.equal(callsOf(a), 'DELETE 0 1 2 POST 4 3');
  assert.equal(callsOf(b), 'DELETE 0 1 2 POST 4 3');
  assert.deepEqual([patchesOf(a), patchesOf(b)], [[], [3]]);
});

test('planDelayedDownscale() scales at the very end of the delay, and asks only at both ends of it', async () => {
  const bed = new DelayedDownscaleBed({ wanted: 4, delay: '4m' });
  await bed.run(minutes(4) - 1);
  assert.equal(callsOf(bed), 'DELETE 0 1 2 3 POST 4');
  assert.deepEqual(patchesOf(bed), []);
  await bed.run(1);
  assert.equal(callsOf(bed), 'DELETE 0 1 2 3 POST 4 4');
  assert.deepEqual(patchesOf(bed), [4]);
});

for (const [step, span] of [
  ['forward', minutes(60)],
  ['back', minutes(-60)],
] as const) {
  test(`planDelayedDownscale() waits as long when the clock is set ${step} by an hour meanwhile (D-55)`, async () => {
    const bed = await new DelayedDownscaleBed({ wanted: 4 }).run(minutes(30));
    bed.clock.setWallClock(span);
    bed.want(4);
    await bed.run(minutes(30) - 1);
    assert.deepEqual(patchesOf(bed), []);
    await bed.run(1);
    assert.deepEqual(patchesOf(bed), [4]);
  });
}

test('planDelayedDownscale() counts no time before the pod was cancelled, whatever the clocks show (D-55)', async () => {
  const bed = await new DelayedDownscaleBed().run(minutes(5));
  const hourAgo = JSON.stringify({ timestamp: bed.clock.now() / 1_000 - 3_600 });
  bed.fleet.behave({ kind: 'answer', status: 200, body: hourAgo }, 'ingester-zone-b-4');
  bed.want(4);
  await bed.run(minutes(55) - 1);
  assert.deepEqual(patchesOf(bed), []);
  await bed.run(1);
  assert.deepEqual(patchesOf(bed), [4]);
});

test('planDelayedDownscale() waits no longer after the clock was set and a pod failed to answer (D-55)', async () => {
  const bed = await new DelayedDownscaleBed({ wanted: 4 }).run(minutes(59));
  bed.clock.setWallClock(minutes(-60));
  bed.fleet.behave({ kind: 'answer', status: 500 });
  await bed.run(minutes(1));
  assert.equal(bed.verdict(), 'PodNotPrepared');
  bed.fleet.behave({ kind: 'application' });
  await bed.run(seconds(1));
  assert.deepEqual(patchesOf(bed), [4]);
});

test('planDelayedDownscale() makes no call once all is cancelled (KW-25, QUIE-1)', async () => {
  const bed = await new DelayedDownscaleBed().run(minutes(600));
  assert.equal(callsOf(bed), 'DELETE 0 1 2 3 4');
  assert.deepEqual(bed.plan.requeue, { kind: 'await-change' });
});

test('planDelayedDownscale() cancels again after a start (D-22), and changes nothing else by it', async () => {
  const bed = await new DelayedDownscaleBed({ wanted: 4 }).run(minutes(30));
  const before = bed.fleet.preparedSince('ingester-zone-b-4');
  bed.restart();
  await bed.run();
  assert.deepEqual(bed.fleet.story().slice(-5), [
    'DELETE ingester-zone-b-0',
    'DELETE ingester-zone-b-1',
    'DELETE ingester-zone-b-2',
    'DELETE ingester-zone-b-3',
    'POST ingester-zone-b-4',
  ]);
  assert.equal(bed.fleet.preparedSince('ingester-zone-b-4'), before);
  await bed.run(minutes(30));
  assert.deepEqual(patchesOf(bed), [4]);
});

test('planDelayedDownscale() cancels when the wanted count returns, and begins again after that (D-22)', async () => {
  const bed = await new DelayedDownscaleBed({ wanted: 4 }).run(minutes(59));
  bed.want(5);
  await bed.run(minutes(1));
  assert.equal(bed.fleet.story().at(-1), 'DELETE ingester-zone-b-4');
  bed.want(4);
  await bed.run(minutes(59));
  assert.deepEqual(patchesOf(bed), []);
  await bed.run(minutes(1));
  assert.deepEqual(patchesOf(bed), [4]);
});

test('planDelayedDownscale() repeats a DELETE with growing waits until it is answered (D-22)', async () => {
  const bed = new DelayedDownscaleBed({ replicas: 1 });
  bed.fleet.behave({ kind: 'answer', status: 500 });
  await bed.run(seconds(20));
  const at = bed.fleet.calls.map((call) => (call.at - 1_767_225_600_000) / 1_000);
  assert.deepEqual(at, [0, 1, 3, 7, 15]);
  bed.fleet.behave({ kind: 'answer', status: 409 });
  await bed.run(minutes(60));
  assert.equal(bed.fleet.calls.length, 6);
});

test('planDelayedDownscale() calls a pod at once that becomes ready, whatever its wait', async () => {
  const bed = new DelayedDownscaleBed({ replicas: 1 });
  bed.replacePod(0, { isReady: false });
  bed.fleet.behave({ kind: 'reset' });
  await bed.run(seconds(16));
  assert.equal(bed.fleet.calls.length, 5);
  bed.fleet.behave({ kind: 'application' });
  bed.makeReady(0);
  await bed.run();
  assert.equal(bed.fleet.calls.length, 6);
  assert.deepEqual(bed.plan.requeue, { kind: 'await-change' });
});

test('planDelayedDownscale() does not call a pod that is not there, and holds what is below it', async () => {
  const bed = new DelayedDownscaleBed({ wanted: 3 }).prepared({ 3: 70 });
  bed.replacePod(4);
  await bed.run();
  assert.equal(callsOf(bed), 'DELETE 0 1 2 POST 3');
  assert.equal(bed.verdict(), 'PodNotPrepared');
  assert.deepEqual(patchesOf(bed), []);
});

test('planDelayedDownscale() asks a new pod in the slot, and goes by its own answer', async () => {
  const bed = await new DelayedDownscaleBed({ wanted: 4 }).run(minutes(59));
  bed.fleet.prepare('ingester-zone-b-4', undefined);
  bed.replacePod(4, { isReady: true });
  await bed.run(minutes(59));
  assert.deepEqual(patchesOf(bed), []);
  await bed.run(minutes(1));
  assert.deepEqual(patchesOf(bed), [4]);
});

test('planDelayedDownscale() asks again before a pod goes, so that one that was cancelled by hand stays', async () => {
  const bed = await new DelayedDownscaleBed({ wanted: 4 }).run(minutes(58));
  bed.fleet.prepare('ingester-zone-b-4', undefined);
  await bed.run(minutes(2));
  assert.deepEqual(patchesOf(bed), []);
  assert.equal(bed.verdict(), 'DownscaleDelayed');
});

test('planDelayedDownscale() asks for a preparation again every 5 min, in case a user took it back', async () => {
  const bed = await new DelayedDownscaleBed({ wanted: 4 }).run(minutes(11));
  const posts = bed.fleet.calls.filter(({ method }) => method === 'POST');
  assert.deepEqual(
    posts.map(({ at }) => (at - 1_767_225_600_000) / 60_000),
    [0, 5, 10],
  );
});

test('planDelayedDownscale() lets pods wait 2.5 s for a silent one below them, then they go (KW-26)', async () => {
  const bed = new DelayedDownscaleBed({ wanted: 2 }).prepared({ 4: 70, 3: 70, 2: 70 });
  bed.fleet.behave({ kind: 'never' }, 'ingester-zone-b-2');
  await bed.run(2_499);
  assert.deepEqual([patchesOf(bed), bed.verdict()], [[], 'AwaitingPods']);
  await bed.run(1);
  assert.deepEqual(patchesOf(bed), [3]);
  await bed.run(minutes(1));
  assert.equal(bed.verdict(), 'PodNotPrepared');
});

test('planDelayedDownscale() sends no second call to a pod that has not answered the first', async () => {
  const bed = new DelayedDownscaleBed({ wanted: 4 });
  bed.fleet.behave({ kind: 'never' });
  await bed.run();
  bed.want(5);
  await bed.run(4_999);
  assert.equal(callsOf(bed), 'DELETE 0 1 2 3 POST 4');
  await bed.run(1);
  assert.equal(callsOf(bed), 'DELETE 0 1 2 3 4 POST 4');
});

/** What pod 4 was called with after its POST, and when, in seconds. */
function callsAfterThePost({ fleet }: DelayedDownscaleBed): readonly (readonly [string, number])[] {
  return fleet.calls
    .filter(({ pod }) => pod === 'ingester-zone-b-4')
    .slice(1)
    .map(({ method, at }) => [method, (at - 1_767_225_600_000) / 1_000]);
}

test('planDelayedDownscale() cancels once more when a POST without an answer may still arrive', async () => {
  const bed = new DelayedDownscaleBed({ wanted: 4 });
  bed.fleet.behave({ kind: 'never' }, 'ingester-zone-b-4');
  await bed.run();
  bed.want(5);
  await bed.run(4_999);
  bed.fleet.behave({ kind: 'application' }, 'ingester-zone-b-4');
  await bed.run(minutes(10));
  assert.deepEqual(callsAfterThePost(bed), [
    ['DELETE', 5],
    ['DELETE', 65],
  ]);
});

test('planDelayedDownscale() cancels once more after a POST without an answer, whatever came of the first DELETE', async () => {
  const bed = new DelayedDownscaleBed({ wanted: 4 });
  bed.fleet.behave({ kind: 'never' }, 'ingester-zone-b-4');
  await bed.run();
  bed.want(5);
  await bed.run(4_999);
  bed.fleet.behave({ kind: 'answer', status: 500 }, 'ingester-zone-b-4');
  await bed.run(1);
  bed.fleet.behave({ kind: 'application' }, 'ingester-zone-b-4');
  await bed.run(minutes(10));
  assert.deepEqual(callsAfterThePost(bed), [
    ['DELETE', 5],
    ['DELETE', 6],
    ['DELETE', 65],
  ]);
});

test('planDelayedDownscale() goes on from the pods own word when its write was refused', async () => {
  const bed = new DelayedDownscaleBed({ wanted: 4 }).prepared({ 4: 70 });
  bed.isRefusing = true;
  await bed.run(seconds(30));
  assert.equal(bed.verdict(), 'scale 4');
  bed.isRefusing = false;
  bed.want(4);
  await bed.run();
  assert.equal(callsOf(bed), 'DELETE 0 1 2 3 POST 4 4');
  assert.deepEqual(patchesOf(bed), [4]);
});

test('planDelayedDownscale() lets no pod go by the young answer of the one before it in the slot', async () => {
  const bed = new DelayedDownscaleBed({ wanted: 4 }).prepared({ 4: 70 });
  bed.isRefusing = true;
  await bed.run();
  assert.equal(bed.verdict(), 'scale 4');
  bed.isRefusing = false;
  bed.fleet.prepare('ingester-zone-b-4', undefined);
  bed.replacePod(4, { isReady: true });
  await bed.run(minutes(1));
  assert.deepEqual([patchesOf(bed), bed.verdict()], [[], 'DownscaleDelayed']);
});

test('planDelayedDownscale() lets no pod go by a young answer while it is being cancelled', async () => {
  const bed = new DelayedDownscaleBed({ wanted: 4 }).prepared({ 4: 70 });
  bed.isRefusing = true;
  await bed.run();
  bed.fleet.behave({ kind: 'never' }, 'ingester-zone-b-4');
  bed.want(5);
  await bed.run();
  assert.equal(bed.fleet.story().at(-1), 'DELETE ingester-zone-b-4');
  bed.isRefusing = false;
  bed.want(4);
  await bed.run(seconds(1));
  assert.deepEqual([patchesOf(bed), bed.verdict()], [[], 'AwaitingPods']);
});

const uncallable: Record<string, BedOptions> = {
  'has no scheme': { url: 'pod/prepare' },
  'has another scheme': { url: 'ftp://pod/prepare' },
  'has a port that does not exist': { url: 'http://pod:99999/prepare' },
  'would end its host in the name of the service': { serviceName: 'evil.test:80/x?' },
};

for (const [fact, options] of Object.entries(uncallable)) {
  test(`planDelayedDownscale() scales up but not down, without calls, when the URL ${fact} (IN-24)`, async () => {
    const down = await new DelayedDownscaleBed({ ...options, wanted: 3 }).run();
    assert.deepEqual([down.verdict(), patchesOf(down)], ['InvalidDelayedDownscale', []]);
    const up = await new DelayedDownscaleBed({ ...options, wanted: 7 }).run();
    assert.deepEqual([up.verdict(), patchesOf(up)], ['settled', [7]]);
    assert.equal(callsOf(up) + callsOf(down), '');
  });
}

test('planDelayedDownscale() does not scale down a set whose pods have no names', async () => {
  const bed = await new DelayedDownscaleBed({ serviceName: '', wanted: 3 }).run();
  assert.equal(bed.verdict(), 'InvalidDelayedDownscale');
});

for (const url of [
  'http://',
  'http://pod:port/x',
  ':x',
  'http://pod/\u0000',
  'http://evil.test:80\\@pod/x',
  'http://evil.test\\@pod/x',
  'http://pod/%zz',
]) {
  test(`planDelayedDownscale() scales in no direction with the URL ${JSON.stringify(url)} (IN-24)`, async () => {
    for (const wanted of [3, 7]) {
      const bed = await new DelayedDownscaleBed({ url, wanted }).run();
      assert.deepEqual([bed.verdict(), patchesOf(bed)], ['InvalidDelayedDownscale', []]);
    }
  });
}

test('planDelayedDownscale() calls no other host that its URL names, whatever is in it (D-59)', async () => {
  for (const url of ['http://pod:80/@evil.test/x', 'http://evil@pod/x', 'http://pod#@evil.test']) {
    const bed = await new DelayedDownscaleBed({ url, replicas: 1, wanted: 1 }).run();
    assert.deepEqual(
      bed.fleet.calls.map(({ host }) => host.replace(/:\d+$/, '')),
      ['ingester-zone-b-0.ingester-zone-b.test.svc.cluster.local.'],
    );
  }
});

test('delayedDownscaleOf() names the annotation of a URL that calls another host, and quotes it', () => {
  const bed = new DelayedDownscaleBed({ url: 'http://evil.test:80\\@pod/x' });
  assert.deepEqual(delayedDownscaleOf(bed.set), {
    kind: 'invalid',
    problem: {
      path: 'metadata.annotations["grafana.com/rollout-prepare-delayed-downscale-url"]',
      message:
        'must be an absolute http or https URL such as "http://pod:8080/prepare": got "http://evil.test:80\\\\@pod/x"',
    },
  });
});

test('delayedDownscaleOf() names the annotation and what it must be', () => {
  const bed = new DelayedDownscaleBed({ delay: '1.5h' });
  const parsed = delayedDownscaleOf(bed.set);
  assert.equal(parsed.kind, 'invalid');
  assert.equal(
    parsed.problem.path,
    'metadata.annotations["grafana.com/rollout-delayed-downscale"]',
  );
});
