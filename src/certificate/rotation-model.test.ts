/**
 * Any interleaving of replicas whose clocks differ, whose reads and views lag, whose writes lose races, fail or lose
 * their answers, and that are killed and started: at every moment every published bundle trusts what each ready
 * replica serves.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import {
  after,
  type Instant,
  instant,
  type Millis,
  type Monotonic,
  millis,
  minutes,
  monotonic,
} from '#base/units.ts';
import type { Authority, Leaf, SecretContent, SecretState } from './api.ts';
import { plan } from './plan.ts';
import { isTolerated, planBundle, publishedSince, unnamedSince } from './plan-bundle.ts';
import { lifecycle } from './plan-lifecycle.ts';
import type { ContentToStore } from './plan-store.ts';

const T0 = instant(1_767_225_600_000);
const NAME = 'rollout-operator.test.svc';
/** Life of each certificate. */
const life = minutes(10 * 24 * 60);

interface Bundle {
  readonly version: number;
  readonly carried: readonly Authority[];
}

interface Shared {
  readonly version: number;
  readonly secret: SecretState;
}

/** A decision to store that is on its way. */
interface Pending {
  readonly basis: number;
  readonly content: ContentToStore;
  readonly isAbsent: boolean;
}

class ReplicaModel {
  readonly offset: Millis;
  served: Leaf | undefined;
  remembered: readonly Authority[] = [];
  wanted: readonly Authority[] = [];
  since: ReadonlyMap<string, Instant> = new Map();
  unnamed: ReadonlyMap<string, Monotonic> = new Map();
  readAt: Monotonic | undefined;
  /** What its watch has shown it. */
  view: Bundle[] = [];
  pending: Pending | undefined;
  isReady = false;

  constructor(offset: Millis) {
    this.offset = offset;
  }
}

class World {
  now = T0;
  shared: Shared = { version: 0, secret: { kind: 'absent' } };
  bundles: Bundle[] = [
    { version: 0, carried: [] },
    { version: 0, carried: [] },
  ];
  readonly replicas: ReplicaModel[];
  #issued = 0;

  /** How many certificates have been made. */
  get issued(): number {
    return this.#issued;
  }

  constructor(offsets: readonly Millis[]) {
    this.replicas = offsets.map((offset) => new ReplicaModel(offset));
  }

  clockOf({ offset }: ReplicaModel): Instant {
    return after(this.now, offset);
  }

  /** The first half of a look: read, decide, serve, want. The write comes as a step of its own. */
  look(replica: ReplicaModel): void {
    const { version, secret } = this.shared;
    const decided = plan(
      {
        secret,
        served: replica.served,
        remembered: replica.remembered,
        publication: { kind: 'managed', since: replica.since },
        dnsName: NAME,
      },
      this.clockOf(replica),
    );
    if (secret.kind === 'valid') {
      replica.remembered = secret.content.authorities;
      replica.readAt = monotonic(this.now);
    }
    const isUsable = decided.serve !== undefined && decided.serve.notAfter > this.now;
    if (isUsable) replica.served = decided.serve;
    if (decided.authorities.length > 0) replica.wanted = decided.authorities;
    replica.pending =
      decided.store === undefined
        ? undefined
        : { basis: version, content: decided.store, isAbsent: secret.kind === 'absent' };
    this.review(replica);
  }

  /** The second half. Whether the answer arrives makes no difference: a look follows either way. */
  write(replica: ReplicaModel): void {
    const { pending } = replica;
    replica.pending = undefined;
    if (pending === undefined || pending.basis !== this.shared.version) return;
    const { content } = pending;
    const fresh =
      content.current === 'new' || content.next?.pair === 'new'
        ? this.#issue(this.clockOf(replica))
        : undefined;
    const leafOf = (pair: Leaf | 'new'): Leaf => {
      if (pair !== 'new') return pair;
      assert.ok(fresh !== undefined);
      return fresh;
    };
    const stored: SecretContent = {
      current: leafOf(content.current),
      next: content.next && { leaf: leafOf(content.next.pair), from: content.next.from },
      authorities: [...content.authorities, ...(fresh === undefined ? [] : [fresh.authority])],
    };
    this.shared = { version: this.shared.version + 1, secret: { kind: 'valid', content: stored } };
  }

  #issue(now: Instant): Leaf {
    this.#issued += 1;
    const id = String(this.#issued);
    const notAfter = after(now, life);
    const authority = { id: `ca-${id}`, pem: id, notAfter };
    const notBefore = after(now, minutes(-5));
    return { id, cert: id, key: id, notBefore, notAfter, dnsNames: [NAME], authority };
  }

  /** The watch of `replica` shows configuration `index` as it is. */
  show(replica: ReplicaModel, index: number): void {
    const bundle = this.bundles[index];
    assert.ok(bundle !== undefined);
    replica.view[index] = bundle;
    this.review(replica);
  }

  /** `replica` writes what it thinks that configuration `index` lacks, if its view is current. */
  publish(replica: ReplicaModel, index: number): void {
    const seen = replica.view[index];
    const actual = this.bundles[index];
    if (seen === undefined || actual === undefined || replica.wanted.length === 0) return;
    const ids = seen.carried.map(({ id }) => id);
    const now = this.clockOf(replica);
    const tolerated = seen.carried.filter(
      ({ id, notAfter }) => notAfter <= now || isTolerated(replica.unnamed.get(id), replica.readAt),
    );
    const view = { tolerated, contested: [], ids, hasForeignText: false };
    const carried = planBundle(view, replica.wanted, now);
    if (carried === undefined || seen.version !== actual.version) return;
    this.bundles[index] = { version: actual.version + 1, carried };
  }

  review(replica: ReplicaModel): void {
    const bundles = this.bundles.map((_, index) => replica.view[index]);
    if (bundles.some((bundle) => bundle === undefined)) return;
    const ids = bundles.map((bundle) => (bundle?.carried ?? []).map(({ id }) => id));
    const named = new Set(replica.wanted.map(({ id }) => id));
    const known = { earlier: replica.unnamed, now: monotonic(this.now) };
    if (named.size > 0) replica.unnamed = unnamedSince(ids, named, known);
    const now = this.clockOf(replica);
    replica.since = publishedSince(ids, replica.wanted, { earlier: replica.since, now });
    const isTrusted = replica.wanted.every(({ id }) => ids.every((each) => each.includes(id)));
    if (replica.served !== undefined && isTrusted) replica.isReady = true;
  }

  restart(index: number): void {
    const { offset } = this.replicas[index] ?? { offset: millis(0) };
    this.replicas[index] = new ReplicaModel(offset);
  }

  /** What is wrong now; empty when nothing is. */
  problems(): readonly string[] {
    return this.replicas.flatMap(({ served, isReady }, index) => {
      if (!isReady || served === undefined) return [];
      const isTrusted = this.bundles.every(({ carried }) =>
        carried.some(({ id }) => id === served.authority.id),
      );
      const expired = served.notAfter <= this.now ? [`replica ${index} serves what expired`] : [];
      return isTrusted ? expired : [...expired, `replica ${index} serves ${served.id}, untrusted`];
    });
  }

  /** Whether a replica serves what the Secret does not vouch for. */
  get hasUnnamed(): boolean {
    const { secret } = this.shared;
    const named = secret.kind === 'valid' ? secret.content.authorities.map(({ id }) => id) : [];
    return this.replicas.some(
      ({ served, isReady }) => isReady && served && !named.includes(served.authority.id),
    );
  }

  /** Everything that is due happens, in order, on every replica. */
  settle(): void {
    for (let round = 0; round < 6; round += 1) {
      for (const replica of this.replicas) {
        this.look(replica);
        this.write(replica);
        for (const index of this.bundles.keys()) {
          this.show(replica, index);
          this.publish(replica, index);
          this.show(replica, index);
        }
      }
    }
  }
}

type Step =
  | { readonly kind: 'look'; readonly replica: number }
  | { readonly kind: 'write'; readonly replica: number }
  | { readonly kind: 'restart'; readonly replica: number }
  | { readonly kind: 'show'; readonly replica: number; readonly bundle: number }
  | { readonly kind: 'publish'; readonly replica: number; readonly bundle: number }
  | { readonly kind: 'advance'; readonly by: number }
  | { readonly kind: 'settle' }
  | { readonly kind: 'delete' };

const replicaIndex = fc.integer({ min: 0, max: 2 });
const bundleIndex = fc.integer({ min: 0, max: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.oneof(
      fc.record({ kind: fc.constant('look' as const), replica: replicaIndex }),
      fc.record({ kind: fc.constant('write' as const), replica: replicaIndex }),
    ),
  },
  {
    weight: 6,
    arbitrary: fc.oneof(
      fc.record({
        kind: fc.constant('show' as const),
        replica: replicaIndex,
        bundle: bundleIndex,
      }),
      fc.record({
        kind: fc.constant('publish' as const),
        replica: replicaIndex,
        bundle: bundleIndex,
      }),
    ),
  },
  {
    weight: 3,
    // From a second to a third of a life.
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      by: fc.constantFrom(1_000, 30_000, 60_000, 3_600_000, life / 12, life / 6, life / 3),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('restart' as const), replica: replicaIndex }),
  },
);

function take(world: World, given: Step): void {
  switch (given.kind) {
    case 'advance':
      return advance(world, given.by);
    case 'settle':
      return world.settle();
    case 'delete':
      world.shared = { version: world.shared.version + 1, secret: { kind: 'absent' } };
      return undefined;
    case 'restart':
      return world.restart(given.replica);
    case 'look':
      return world.look(replicaAt(world, given.replica));
    case 'write':
      return world.write(replicaAt(world, given.replica));
    case 'show':
      return world.show(replicaAt(world, given.replica), given.bundle);
    default:
      return world.publish(replicaAt(world, given.replica), given.bundle);
  }
}

function replicaAt(world: World, index: number): ReplicaModel {
  const replica = world.replicas[index];
  assert.ok(replica !== undefined);
  return replica;
}

/** Most that the clock of a replica is wrong here. */
const wrong = minutes(4);

/**
 * Time passes, and nobody acts meanwhile. Where the Secret was deleted, and made again without what a replica serves, that
 * one looks at it within half a minute: who is cut off just then is not promised to stay trusted. It stops a minute before a clock that is ahead may see the latest switch: from
 * then on the next certificate is served to those that trust it, so the API server must have been within reach once before,
 * and is then.
 */
function advance(world: World, by: number): void {
  const first = world.hasUnnamed ? Math.min(by, 30_000) : 0;
  if (first > 0) {
    world.now = instant(world.now + first);
    world.settle();
  }
  pass(world, by - first);
}

function pass(world: World, by: number): void {
  const limits = world.replicas.flatMap(({ served }) =>
    served === undefined ? [] : [lifecycle(served).latestSwitch - wrong - minutes(1)],
  );
  const next = Math.min(world.now + by, ...limits);
  if (next < world.now + by) {
    world.now = instant(Math.max(world.now, next));
    world.settle();
    world.now = instant(world.now + 60_000);
    world.settle();
    return;
  }
  world.now = instant(next);
}

const offsets = fc.array(
  fc.integer({ min: 0, max: 2 * wrong }).map((value) => millis(value - wrong)),
  { minLength: 3, maxLength: 3 },
);

describe('plan() and planBundle()', () => {
  test('D-28 leave every served certificate trusted by every bundle, in any interleaving', () => {
    fc.assert(
      fc.property(offsets, fc.array(step, { maxLength: 80, size: 'max' }), (given, steps) => {
        const world = new World(given);
        for (const [index, each] of steps.entries()) {
          take(world, each);
          assert.deepEqual(world.problems(), [], `after step ${index}: ${JSON.stringify(each)}`);
        }
      }),
      { numRuns: 400 },
    );
  });

  test('D-28 end with one certificate on all replicas and nothing left to write, from any state', () => {
    fc.assert(
      fc.property(offsets, fc.array(step, { maxLength: 40, size: 'max' }), (given, steps) => {
        const world = new World(given);
        for (const each of steps) take(world, each);
        for (let round = 0; round < 12; round += 1) {
          world.settle();
          advance(world, 60_000);
        }
        world.settle();
        const { version } = world.shared;
        const versions = world.bundles.map((bundle) => bundle.version);
        world.settle();
        assert.deepEqual(
          [world.shared.version, world.bundles.map((bundle) => bundle.version)],
          [version, versions],
        );
        assert.ok(world.replicas.every(({ isReady }) => isReady));
        const leaves = new Set(world.replicas.map(({ served }) => served?.id));
        assert.ok(leaves.size === 1, [...leaves].join(', '));
      }),
      { numRuns: 100 },
    );
  });

  test('end with the certificate of the slowest clock where clocks are hours apart', () => {
    const hours = [-5, 0, 5].map((value) => minutes(value * 60));
    for (const first of [0, 1, 2]) {
      const world = new World(hours);
      const replicas = world.replicas.map((_, at) => replicaAt(world, (at + first) % 3));
      for (let round = 0; round < 6; round += 1) {
        // All decide on the same Secret; of their writes the first wins.
        for (const replica of replicas) world.look(replica);
        for (const replica of replicas) world.write(replica);
        world.now = instant(world.now + 60_000);
      }
      for (let round = 0; round < 3; round += 1) {
        world.settle();
        world.now = instant(world.now + 60_000);
      }
      assert.ok(world.issued <= 3, `${world.issued} certificates were made`);
      const { issued, shared } = world;
      world.settle();
      assert.deepEqual([world.issued, world.shared.version], [issued, shared.version]);
      assert.equal(new Set(world.replicas.map(({ served }) => served?.id)).size, 1);
    }
  });
});
