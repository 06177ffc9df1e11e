import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { after, type Instant, seconds } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { rawStatefulSet } from '../objects/objects.ts';
import { T0 } from '../objects/views.ts';
import { SoundScaling } from './scaling.ts';

interface Write {
  readonly name: string;
  readonly to: number;
  readonly at?: Instant;
  readonly user?: string;
}

/** Zones a and b of three, b following a; commits of their replicas one after the other. */
class Story {
  readonly invariant: SoundScaling;
  readonly #sets = new Map<string, JsonObject>();
  #revision = 0;

  constructor(
    annotations: Readonly<Record<string, string>> = {},
    labels: JsonObject = {},
    sentAt?: Instant,
  ) {
    this.invariant = new SoundScaling({
      ours: (user) => user === 'us',
      maxDecisionAge: seconds(10),
      sentAt: () => sentAt,
    });
    this.#store('a', rawStatefulSet({ name: 'a' }));
    const follower = { 'grafana.com/rollout-downscale-leader': 'a', ...annotations };
    const b = rawStatefulSet({ name: 'b', annotations: follower });
    const metadata = { ...Object(b['metadata']) } as JsonObject;
    const all = { ...Object(metadata['labels']), ...labels } as JsonObject;
    this.#store('b', { ...b, metadata: { ...metadata, labels: all } });
  }

  annotate(name: string, annotations: JsonObject): this {
    const set = this.#sets.get(name) ?? {};
    const metadata = { ...Object(set['metadata']), annotations } as JsonObject;
    return this.#store(name, { ...set, metadata });
  }

  write({ name, to, at = T0, user = 'us' }: Write): this {
    const set = this.#sets.get(name) ?? {};
    const spec = { ...Object(set['spec']), replicas: to } as JsonObject;
    return this.#store(name, { ...set, spec }, { at, user });
  }

  violations(): readonly string[] {
    return this.invariant.violations.map(({ message }) => message);
  }

  #store(name: string, set: JsonObject, { at = T0, user = 'user' }: Partial<Write> = {}): this {
    const before = this.#sets.get(name);
    this.#sets.set(name, set);
    this.#revision += 1;
    const commit = {
      revision: this.#revision,
      at,
      verb: before === undefined ? 'create' : 'update',
      resource: 'statefulsets.apps',
      namespace: 'test',
      name,
      uid: `${name}-uid`,
      user,
      callId: this.#revision,
      before,
      after: set,
    };
    this.invariant.onCommit(commit as unknown as Commit);
    return this;
  }
}

test('SCAL-1 passes a follower that goes where its leader is', () => {
  const story = new Story().write({ name: 'a', to: 5, user: 'user' }).write({ name: 'b', to: 5 });
  assert.deepEqual(story.violations(), []);
});

test('SCAL-1 flags a follower that goes where its leader is not', () => {
  const story = new Story().write({ name: 'b', to: 0 });
  assert.deepEqual(story.violations(), [
    'We scaled test/b from 3 to 0 although what it follows asked for 3',
  ]);
});

test('SCAL-1 passes what was true 10 s before, and flags what is older', () => {
  const moved = (age: number): Story =>
    new Story()
      .write({ name: 'a', to: 5, user: 'user' })
      .write({ name: 'a', to: 4, user: 'user', at: after(T0, seconds(60)) })
      .write({ name: 'b', to: 5, at: after(T0, seconds(60 + age)) });
  assert.deepEqual(moved(9).violations(), []);
  assert.equal(moved(10).violations().length, 1);
});

test('SCAL-1 passes what was true 10 s before it was sent, however late it was carried out', () => {
  const arrived = (sentAt?: Instant): Story =>
    new Story({}, {}, sentAt)
      .write({ name: 'a', to: 2, user: 'user' })
      .write({ name: 'a', to: 3, user: 'user', at: after(T0, seconds(5)) })
      .write({ name: 'b', to: 2, at: after(T0, seconds(60)) });
  assert.deepEqual(arrived(after(T0, seconds(1))).violations(), []);
  assert.equal(arrived(after(T0, seconds(20))).violations().length, 1);
  assert.equal(arrived().violations().length, 1);
});

test('SCAL-1 flags replicas that we change of a set that follows nothing', () => {
  const story = new Story().write({ name: 'a', to: 2 });
  assert.deepEqual(story.violations(), [
    'We scaled test/a from 3 to 2 although what it follows asked for nothing',
  ]);
});

test('SCAL-1 passes a part of the way where a delay is asked for, and flags it elsewhere', () => {
  const part = (annotations: Readonly<Record<string, string>>): Story =>
    new Story(annotations).write({ name: 'a', to: 0, user: 'user' }).write({ name: 'b', to: 1 });
  assert.deepEqual(part({ 'grafana.com/rollout-delayed-downscale': '1h' }).violations(), []);
  assert.equal(part({}).violations().length, 1);
});

test('SCAL-1 passes what is forced', () => {
  const story = new Story({ 'grafana.com/rollout-force-replicas': '1' }).write({
    name: 'b',
    to: 1,
  });
  assert.deepEqual(story.violations(), []);
});

test('SCAL-1 flags a down-scale before the minimum time since another zone', () => {
  const label = { 'grafana.com/min-time-between-zones-downscale': '1h' };
  const story = new Story({}, label)
    .annotate('a', { 'grafana.com/last-downscale': '2025-12-31T23:30:00Z' })
    .write({ name: 'a', to: 2, user: 'user' })
    .write({ name: 'b', to: 2 });
  assert.deepEqual(story.violations(), [
    'We scaled test/b from 3 to 2 1800000 ms after a; 3600000 ms are the minimum',
  ]);
});

test('SCAL-1 takes the minimum time of the annotation, if there is one [found R-18]', () => {
  const label = { 'grafana.com/min-time-between-zones-downscale': '1m' };
  const story = new Story({ 'grafana.com/min-time-between-zones-downscale': '1h' }, label)
    .annotate('a', { 'grafana.com/last-downscale': '2025-12-31T23:30:00Z' })
    .write({ name: 'a', to: 2, user: 'user' })
    .write({ name: 'b', to: 2 });
  assert.deepEqual(story.violations(), [
    'We scaled test/b from 3 to 2 1800000 ms after a; 3600000 ms are the minimum',
  ]);
});

test('SCAL-1 is not about what others write', () => {
  const story = new Story().write({ name: 'b', to: 0, user: 'user' });
  assert.deepEqual(story.violations(), []);
});
