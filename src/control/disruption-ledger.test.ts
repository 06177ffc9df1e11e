import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Budget } from '#disruption/budget.ts';
import type { DisruptionRequest } from '#disruption/decide.ts';
import type { Leader } from '#disruption/release.ts';
import type { DisruptionSnapshot } from '#disruption/snapshot.ts';
import { standingOf } from '#disruption/standing.ts';
import { budget, request, textOf, zones } from '#testing/budgeted-zones.ts';
import { FakeClock } from '#testing/fake-clock.ts';
import { refusal } from '#testing/group-world.ts';
import { StoredMap } from '#testing/stored-map.ts';
import { T0 } from '#testing/views.ts';
import { DisruptionLedger } from './disruption-ledger.ts';

interface ReplicaOptions {
  readonly stored?: StoredMap;
  readonly clock?: FakeClock;
  readonly sawCreation?: boolean;
  readonly budget?: Budget;
  readonly leader?: Leader;
}

/** One process that is asked, in a world of three zones. */
class Replica {
  readonly clock: FakeClock;
  readonly stored: StoredMap;
  readonly budget: Budget;
  snapshot: DisruptionSnapshot = zones();
  readonly ledger: DisruptionLedger;

  constructor(options: ReplicaOptions = {}) {
    this.clock = options.clock ?? new FakeClock(T0);
    this.stored = options.stored ?? new StoredMap();
    this.budget = options.budget ?? budget();
    this.ledger = new DisruptionLedger({
      clock: this.clock,
      map: this.stored,
      object: 'ConfigMap ops/ledger',
      budget: this.budget.ref,
      sawCreation: options.sawCreation ?? true,
      standing: (now) => standingOf(this.budget, this.snapshot, now),
      leader: () => options.leader,
    });
  }

  /** Another process with the same clock and ConfigMap. */
  another(options: ReplicaOptions = {}): Replica {
    const { clock, stored, budget: same } = this;
    return new Replica({ clock, stored, budget: same, sawCreation: false, ...options });
  }

  /** What is answered to a request for `slot`, such as `a-0`. */
  async ask(slot: string, overrides: Partial<DisruptionRequest> = {}): Promise<string> {
    const { signal } = new AbortController();
    const answer = await this.ledger.ask(request(slot, overrides), signal);
    if (answer.kind !== 'unclear') return textOf(answer);
    const left = answer.until === undefined ? 'for ever' : `for ${answer.until - this.clock.now()}`;
    return `unclear ${left}: ${answer.why}`;
  }

  /** The calls since this was last asked for. */
  calls(): readonly string[] {
    return this.stored.calls
      .splice(0)
      .map((call) => call.slice(0, call.indexOf(' ') + 1 || 5).trim());
  }
}

const inZoneA = '1 pod not ready in ingester-zone-a';
const rollout = { asking: { by: 'rollout', term: 'uid/1/one' } } as const;

test('[zpdb 78] of two evictions in two zones that ask at one instant exactly one is allowed, by one write', async () => {
  const replica = new Replica();
  const answers = await Promise.all([replica.ask('a-0'), replica.ask('b-0')]);
  assert.deepEqual(answers, ['allowed', inZoneA]);
  assert.deepEqual(replica.calls(), ['read', 'write']);
});

test('[zpdb 78] of two evictions that ask two replicas at one instant exactly one is allowed [BUDG-3]', async () => {
  const replica = new Replica();
  const other = replica.another({ sawCreation: true });
  const answers = await Promise.all([replica.ask('a-0'), other.ask('b-0')]);
  assert.deepEqual(answers.toSorted(), [inZoneA, 'allowed']);
});

test('[zpdb 70] [zpdb 71] what was allowed counts at once, and is allowed again without a call [BUDG-5]', async () => {
  const replica = new Replica();
  assert.equal(await replica.ask('a-0'), 'allowed');
  replica.calls();
  assert.equal(await replica.ask('b-0'), inZoneA);
  assert.equal(await replica.ask('a-0'), 'allowed');
  assert.deepEqual(replica.calls(), []);
});

test('fifty evictions of a zone at one instant get what the budget allows, by one write', async () => {
  const replica = new Replica({ budget: budget({ limit: 20 }) });
  replica.snapshot = zones({ a: { spec: { replicas: 60 } } });
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, ordinal) => replica.ask(`a-${ordinal}`)),
  );
  assert.equal(answers.filter((answer) => answer === 'allowed').length, 20);
  assert.deepEqual(replica.calls(), ['read', 'write']);
});

test('a dry run is answered as any other, and writes nothing [BUDG-5]', async () => {
  const replica = new Replica();
  assert.equal(await replica.ask('a-0', { isDryRun: true }), 'allowed');
  assert.deepEqual(replica.calls(), ['read']);
  assert.equal(await replica.ask('b-0'), 'allowed');
});

test('a rollout and an eviction race for one slot: exactly one wins, and the loser hears of the other', async () => {
  const replica = new Replica();
  const answers = await Promise.all([replica.ask('a-0', rollout), replica.ask('b-0')]);
  assert.deepEqual(answers, ['allowed', inZoneA]);
});

test('a permission outlives the process that gave it [BUDG-1]', async () => {
  const replica = new Replica();
  await replica.ask('a-0');
  assert.equal(await replica.another().ask('b-0'), inZoneA);
});

test('a permission without an effect ends after 120 s, by the clock that never steps', async () => {
  const replica = new Replica();
  await replica.ask('a-0');
  replica.clock.setWallClock(3_600_000);
  await replica.clock.advance(119_999);
  assert.equal(await replica.ask('b-0'), inZoneA);
  await replica.clock.advance(1);
  assert.equal(await replica.ask('b-0'), 'allowed');
});

test('an intent of our own never ends by time, and ends when it is taken back', async () => {
  const replica = new Replica();
  const other = replica.another();
  await replica.ask('a-0', rollout);
  await replica.clock.advance(3_600_000);
  assert.equal(await other.ask('b-0'), inZoneA);
  const { signal } = new AbortController();
  await replica.ledger.takeBack([{ uid: 'ingester-zone-a-0-uid', by: 'rollout' }], signal);
  assert.equal(await replica.ask('b-0'), 'allowed');
});

test('what is taken back is stored, so that every replica knows', async () => {
  const replica = new Replica();
  await replica.ask('a-0', rollout);
  const { signal } = new AbortController();
  await replica.ledger.takeBack([{ uid: 'ingester-zone-a-0-uid', by: 'rollout' }], signal);
  assert.equal(await replica.another().ask('b-0'), 'allowed');
});

test('what is taken back and wanted again holds', async () => {
  const replica = new Replica();
  const other = replica.another();
  await replica.ask('a-0', rollout);
  replica.stored.before = () => {
    throw refusal(403);
  };
  const { signal } = new AbortController();
  const voided = [{ uid: 'ingester-zone-a-0-uid', by: 'rollout' }] as const;
  await assert.rejects(replica.ledger.takeBack(voided, signal), { status: 403 });
  replica.stored.before = () => undefined;
  assert.equal(await replica.ask('a-0', rollout), 'allowed');
  await replica.ask('a-1');
  assert.equal(await other.ask('b-0'), '1 pod not ready in ingester-zone-a');
});

test('the leader ends intents of terms that are over (WRIT-2)', async () => {
  const replica = new Replica();
  await replica.ask('a-0', rollout);
  const leader = { term: 'uid/2/two', arePredecessorsOver: true };
  assert.equal(await replica.another({ leader }).ask('b-0'), 'allowed');
});

test('a write whose answer is lost gives nothing away twice', async () => {
  const replica = new Replica();
  let isLost = false;
  replica.stored.after = (call) => {
    if (call === 'read' || isLost) return;
    isLost = true;
    throw refusal(503);
  };
  assert.deepEqual(await Promise.all([replica.ask('a-0'), replica.ask('b-0')]), [
    'allowed',
    inZoneA,
  ]);
});

const strange = 'ConfigMap ops/ledger data';
const unreadable: Record<
  string,
  { readonly damage: (stored: StoredMap) => void; readonly why: RegExp }
> = {
  'it is missing, and nobody saw the budget being made': {
    damage: (stored) => stored.drop(),
    why: /^there is no ConfigMap ops\/ledger$/,
  },
  'it was cut off': {
    damage: (stored) => stored.change('reservations', '[{"uid":'),
    why: new RegExp(`^${strange}\\["reservations"\\] must be a JSON array`),
  },
  'it was edited by hand': {
    damage: (stored) => stored.change('reservations', '[]'),
    why: new RegExp(`^${strange}\\["digest"\\] .*was it edited by hand`),
  },
  'it is of a former budget of the name': {
    damage: (stored) =>
      stored.change('budget', '{"kind":"ZoneAwarePodDisruptionBudget","uid":"former"}'),
    why: new RegExp(`^${strange}\\["budget"\\] must name the ZoneAwarePodDisruptionBudget`),
  },
};

for (const [what, { damage, why }] of Object.entries(unreadable)) {
  test(`nothing is given away for 120 s where ${what}, and then by what the pods show (D-34)`, async () => {
    const first = new Replica();
    await first.ask('a-0');
    damage(first.stored);
    const replica = first.another();
    await replica.ledger.look(new AbortController().signal);
    await first.clock.advance(100_000);
    const [, left = '', text = ''] =
      /^unclear for (\d+): (.*)$/.exec(await replica.ask('a-1')) ?? [];
    assert.equal(left, '20000');
    assert.match(text, why);
    await first.clock.advance(20_000);
    assert.equal(await replica.ask('b-0'), 'allowed');
    assert.equal(await first.another().ask('a-1'), '1 pod not ready in ingester-zone-b');
  });
}

test('a ledger that a newer program wrote is never written over', async () => {
  const first = new Replica();
  await first.ask('a-0');
  first.stored.change('version', '2');
  const replica = first.another();
  await replica.ledger.look(new AbortController().signal);
  await first.clock.advance(1_000_000);
  assert.match(await replica.ask('a-0'), /^unclear for ever: .*which a newer program wrote/);
  assert.equal(first.stored.texts.get('version'), '2');
});

test('a ledger that is deleted is not empty for who knew it', async () => {
  const replica = new Replica();
  await replica.ask('a-0');
  replica.stored.drop();
  await replica.clock.advance(10_001);
  assert.match(await replica.ask('b-0'), /^unclear for 120000: there is no ConfigMap/);
});

test('a new ledger of a budget that was seen to be made is empty at once', async () => {
  const former = new Replica();
  await former.ask('a-0');
  const ref = { ...budget().ref, uid: 'made-anew' };
  const replica = former.another({ budget: { ...budget(), ref }, sawCreation: true });
  assert.equal(await replica.ask('b-0'), 'allowed');
});
