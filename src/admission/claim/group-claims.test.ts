/** Replicas that compete for one group, their requests in any order and their clocks wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Clock } from '#base/clock.ts';
import { instant, millis, seconds } from '#base/units.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { setObject } from '#support/admission/admission-requests.ts';
import { FaultyTransport } from '#support/api-server/faulty-transport.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { SkewedClock } from '#support/clocks/skewed-clock.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { startDeadline } from '../review/deadline.ts';
import { sharedClaims } from './claim-store.ts';
import { type ClaimOutcome, GroupClaims } from './group-claims.ts';

const T0 = instant(1_767_225_600_000);
const life = 30_000;

/** What one replica does for one review. */
interface Review {
  readonly set: string;
  readonly ends: 'allowed' | 'denied' | 'in a crash';
}

/** Who holds the group, by the answers to the reviews. */
interface Hold {
  readonly set: string;
  /** When it was told so. */
  readonly at: number;
  state: 'under-way' | 'allowed' | 'given up';
}

class Contest {
  readonly clock: FakeClock;
  readonly holds: Hold[] = [];
  readonly problems: string[] = [];
  readonly #cluster: EmbeddedCluster;
  readonly #scheduler: fc.Scheduler;
  /** Time that is passing. */
  #passing: Promise<void> = Promise.resolve();

  constructor(clock: FakeClock, cluster: EmbeddedCluster, scheduler: fc.Scheduler) {
    this.clock = clock;
    this.#cluster = cluster;
    this.#scheduler = scheduler;
  }

  /** Runs the reviews of one process, one after the other, its wall clock `skew` ahead. */
  async replica(identity: string, skew: number, reviews: readonly Review[]): Promise<void> {
    const clock = new SkewedClock(this.clock);
    clock.step(millis(skew));
    const api = new FaultyTransport(this.#cluster.transport());
    api.beforeRequest = async ({ method }) => {
      await this.#scheduler.schedule(Promise.resolve(), `${identity} ${method}`);
      await this.#passing;
    };
    const claims = claimsOf(identity, clock, api);
    for (const review of reviews) {
      await this.#review(claims, clock, review);
      if (review.ends === 'in a crash') return;
    }
  }

  async #review(claims: GroupClaims, clock: SkewedClock, { set, ends }: Review): Promise<void> {
    const background: Promise<void>[] = [];
    const onBackground = (work: Promise<void>): void => void background.push(work);
    const deadline = startDeadline(clock, clock.monotonic(), seconds(5));
    const asked = { namespace: 'test', group: 'ingester', set, generation: 1, onBackground };
    const outcome = await claims.claim(asked, deadline).catch(() => undefined);
    if (outcome?.kind === 'claimed') {
      const hold = this.#told(set, 'under-way');
      if (ends === 'in a crash') return;
      // What cannot be written down in time is a denial.
      const isAllowed =
        ends === 'allowed' && (await outcome.claim.allow(deadline).catch(() => false));
      hold.state = 'given up';
      if (isAllowed) this.#told(set, 'allowed');
      else await outcome.claim.giveUp();
    }
    deadline.release();
    await Promise.all(background);
  }

  /** Who is told that it holds the group must be the only one, but for a set that is allowed twice. */
  #told(set: string, state: Hold['state']): Hold {
    const at = this.clock.monotonic();
    for (const other of this.holds) {
      const isOver = other.state === 'given up' || at - other.at >= life;
      if (isOver || (other.state === 'allowed' && other.set === set)) continue;
      this.problems.push(`${set} is ${state} while ${other.set} is ${other.state}`);
    }
    const hold = { set, at, state };
    this.holds.push(hold);
    return hold;
  }

  /** Lets time pass between the requests, and by 10 ms after that until `ended`, for those that wait. */
  async pass(spans: readonly number[], ended: Promise<unknown>): Promise<void> {
    const left = [...spans];
    const ending = { isOver: false };
    const over = ended.then(() => {
      ending.isOver = true;
    });
    while (!ending.isOver || left.length > 0) {
      const span = left.shift() ?? 10;
      await this.#scheduler.schedule(Promise.resolve(), `${span} ms pass`);
      this.#passing = this.clock.advance(span);
      await this.#passing;
    }
    await over;
  }
}

const sets = ['ingester-zone-a', 'ingester-zone-b', 'ingester-zone-c'];
const review = fc.record({
  set: fc.constantFrom(...sets),
  ends: fc.constantFrom('allowed', 'allowed', 'denied', 'in a crash'),
} as const);
const skew = fc.constantFrom(0, 3_600_000, -3_600_000, 60_000);
const span = fc.constantFrom(1, 1_000, 4_000, 10_000, 29_999, 30_000);

async function storeSets(cluster: EmbeddedCluster, clock: FakeClock): Promise<void> {
  const transport = cluster.transport();
  const admin = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  await admin.create(resourceTypes.namespaces, {}, { body: { metadata: { name: 'test' } } });
  for (const name of sets) {
    const body = setObject({ name });
    await admin.create(resourceTypes.statefulSets, { namespace: 'test' }, { body });
  }
}

/** The claims of one process. */
function claimsOf(identity: string, clock: Clock, transport: Transport): GroupClaims {
  const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  const store = sharedClaims(client, 'test');
  return new GroupClaims({ client, store, clock, log: silentLogger, namespace: 'test', identity });
}

test('GroupClaims protects what it stands for, though neither could it be given up nor the next one be written', async () => {
  const clock = new FakeClock(T0);
  const cluster = await createCluster({ clock, seed: 1 });
  await storeSets(cluster, clock);
  const api = new FaultyTransport(cluster.transport());
  const first = claimsOf('first', clock, cluster.transport());
  const second = claimsOf('second', clock, api);
  const claim = (claims: GroupClaims, set: string): Promise<ClaimOutcome> => {
    const request = { namespace: 'test', group: 'ingester', set, generation: 1 };
    const deadline = startDeadline(clock, clock.monotonic(), seconds(5));
    return claims.claim({ ...request, onBackground: () => undefined }, deadline);
  };
  const allowed = await claim(first, 'ingester-zone-a');
  assert.ok(allowed.kind === 'claimed');
  await allowed.claim.allow(startDeadline(clock, clock.monotonic(), seconds(5)));
  const again = await claim(second, 'ingester-zone-a');
  assert.ok(again.kind === 'claimed');
  api.fault = ({ method }) => (method === 'PUT' ? 'reset' : undefined);
  await again.claim.giveUp();
  await assert.rejects(claim(second, 'ingester-zone-a'));
  api.fault = () => undefined;
  const other = await claim(second, 'ingester-zone-b');
  assert.deepEqual(other, { kind: 'held', by: 'ingester-zone-a' });
  await cluster.close();
});

test('GroupClaims never tells two replicas that they hold a group, in any order of requests', async () => {
  let mostHolds = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.tuple(skew, fc.array(review, { minLength: 2, maxLength: 6 })), {
        minLength: 2,
        maxLength: 3,
      }),
      fc.array(span, { minLength: 2, maxLength: 8 }),
      async (scheduler, replicas, spans) => {
        const clock = new FakeClock(T0);
        const cluster = await createCluster({ clock, seed: 1 });
        await storeSets(cluster, clock);
        const contest = new Contest(clock, cluster, scheduler);
        const running = replicas.map(([skewed, reviews], index) =>
          contest.replica(`replica-${index}`, skewed, reviews),
        );
        await scheduler.waitFor(contest.pass(spans, Promise.all(running)));
        await cluster.close();
        mostHolds = Math.max(mostHolds, contest.holds.length);
        assert.deepEqual(contest.problems, []);
      },
    ),
    { numRuns: 100 },
  );
  assert.ok(mostHolds > 2, 'a group is held again and again');
});
