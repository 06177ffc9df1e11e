import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Monotonic } from '#base/units.ts';
import type { Budget } from '#disruption/budget.ts';
import type { Begun, DisruptionRequest } from '#disruption/decision/decide.ts';
import type { Leader } from '#disruption/release.ts';
import type { DisruptionSnapshot } from '#disruption/snapshot.ts';
import { standingOf } from '#disruption/standing.ts';
import { budget, failed, request, textOf, zones } from '#support/budgets/budgeted-zones.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { T0 } from '#support/objects/views.ts';
import { refusal } from '#support/rollouts/group-world.ts';
import { StoredMap } from '#support/rollouts/stored-map.ts';
import { DisruptionLedger } from './disruption-ledger.ts';

interface ReplicaOptions {
  readonly stored?: StoredMap;
  readonly clock?: FakeClock;
  readonly sawCreation?: boolean;
  readonly budget?: Budget;
  /** `none`: another replica leads. @default the term that {@link rollout} asks in */
  readonly leader?: Pick<Leader, 'term'> | 'none';
}

const firstTerm = 'uid/1/one';

/** One process that is asked, in a world of three zones. */
class Replica {
  readonly clock: FakeClock;
  readonly stored: StoredMap;
  readonly budget: Budget;
  snapshot: DisruptionSnapshot = zones();
  readonly ledger: DisruptionLedger;
  /** Pods that the leader does not want away any more. */
  readonly dropped = new Set<string>();
  begun: readonly Begun[] = [];
  /** When the view was proven that it decides on; `now`: just now. */
  provenAt: Monotonic | 'now' | undefined = 'now';
  /** How often the view was proven for a write that nothing waited for. */
  proofs = 0;
  /** How writes ended that nothing waited for. */
  readonly tidied: unknown[] = [];

  constructor(options: ReplicaOptions = {}) {
    this.clock = options.clock ?? new FakeClock(T0);
    this.stored = options.stored ?? new StoredMap();
    this.budget = options.budget ?? budget();
    this.ledger = new DisruptionLedger({
      clock: this.clock,
      map: this.stored,
      object: 'ConfigMap ops/ledger',
      budget: this.budget.ref,
      sawCreation: () => options.sawCreation ?? true,
      view: (now) => ({
        standing: standingOf(this.budget, this.snapshot, now),
        provenAt: this.provenAt === 'now' ? this.clock.monotonic() : this.provenAt,
      }),
      prove: () => this.#prove(),
      leader: () => this.#leader(options),
      begun: () => this.begun,
      onTidied: (failure) => this.tidied.push(failure),
    });
  }

  async #prove(): Promise<void> {
    this.proofs += 1;
    if (typeof this.provenAt === 'number') this.provenAt = this.clock.monotonic();
  }

  #leader({ leader = { term: firstTerm } }: ReplicaOptions): Leader | undefined {
    if (leader === 'none') return undefined;
    const isIntended = (uid: string): boolean => !this.dropped.has(uid);
    return { arePredecessorsOver: true, isIntended, ...leader };
  }

  /** Another process with the same clock and ConfigMap. */
  another(options: ReplicaOptions = {}): Replica {
    const { clock, stored, budget: same } = this;
    return new Replica({
      clock,
      stored,
      budget: same,
      sawCreation: false,
      leader: 'none',
      ...options,
    });
  }

  /** What is answered to a request for `slot`, such as `a-0`. */
  async ask(slot: string, overrides: Partial<DisruptionRequest> = {}): Promise<string> {
    const answer = await this.ledger.ask(request(slot, overrides), signal);
    if (answer.kind === 'unproven' || answer.kind === 'outdated') return answer.kind;
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
const rollout = { asking: { by: 'rollout', term: firstTerm } } as const;
const { signal } = new AbortController();

function pods(stored: StoredMap): readonly string[] {
  const text = stored.texts.get('reservations') ?? '[]';
  return [...text.matchAll(/"pod":"ingester-zone-([^"]*)"/g)].map(([, pod = '']) => pod);
}

test('[zpdb 78] of two evictions in two zones that ask at one instant exactly one is allowed, by one write', async () => {
  const replica = new Replica();
  const answers = await Promise.all([replica.ask('a-0'), replica.ask('b-0')]);
  assert.deepEqual(answers, ['allowed', inZoneA]);
  assert.deepEqual(replica.calls(), ['read', 'write']);
});

test('[zpdb 78] of two evictions that ask two replicas at one instant exactly one is allowed [BUDG-3]', async () => {
  const replica = new Replica();
  const other = replica.another();
  await replica.ledger.look(signal);
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

test('an intent of our own never ends by time, and ends when it is not wanted any more', async () => {
  const replica = new Replica();
  const other = replica.another();
  await replica.ask('a-0', rollout);
  await replica.clock.advance(3_600_000);
  assert.equal(await other.ask('b-0'), inZoneA);
  replica.dropped.add('ingester-zone-a-0-uid');
  assert.equal(await replica.ask('b-0'), 'allowed');
});

test('what is not wanted any more is taken out of the ledger a moment later, so that every replica knows', async () => {
  const replica = new Replica();
  await replica.ask('a-0', rollout);
  replica.dropped.add('ingester-zone-a-0-uid');
  assert.deepEqual(pods(replica.stored), ['a-0']);
  await replica.clock.advance(3_000);
  assert.deepEqual(pods(replica.stored), []);
  assert.equal(await replica.another().ask('b-0'), 'allowed');
});

test('what was not wanted for a while, and could not be taken out, holds once it is wanted again', async () => {
  const replica = new Replica();
  await replica.ask('a-0', rollout);
  replica.dropped.add('ingester-zone-a-0-uid');
  replica.stored.before = () => {
    throw refusal(403);
  };
  await replica.clock.advance(3_000);
  assert.equal(replica.tidied.length, 1);
  replica.stored.before = () => undefined;
  replica.dropped.clear();
  assert.equal(await replica.ask('a-0', rollout), 'allowed');
  await replica.clock.advance(600_000);
  assert.deepEqual(pods(replica.stored), ['a-0']);
});

test('a ledger that cannot be written is left alone for longer and longer', async () => {
  const replica = new Replica();
  await replica.ask('a-0', rollout);
  replica.dropped.add('ingester-zone-a-0-uid');
  replica.calls();
  replica.stored.before = () => {
    throw refusal(403);
  };
  await replica.clock.advance(600_000);
  assert.ok(replica.tidied.length < 12, `${replica.tidied.length}`);
  replica.ledger.close();
  const { length } = replica.tidied;
  await replica.clock.advance(600_000);
  assert.equal(replica.tidied.length, length);
});

test('a ledger that can be written again is looked at as often as before it could not', async () => {
  const replica = new Replica();
  await replica.ask('a-0', rollout);
  replica.dropped.add('ingester-zone-a-0-uid');
  replica.stored.before = () => {
    throw refusal(403);
  };
  await replica.clock.advance(600_000);
  replica.stored.before = () => undefined;
  await replica.clock.advance(120_000);
  assert.deepEqual(pods(replica.stored), []);
  await replica.ask('a-1', rollout);
  replica.dropped.add('ingester-zone-a-1-uid');
  await replica.clock.advance(3_000);
  assert.deepEqual(pods(replica.stored), []);
});

test('what has ended is taken out although the view was proven long ago: it is proven again', async () => {
  const replica = new Replica();
  replica.provenAt = replica.clock.monotonic();
  await replica.ask('a-0', rollout);
  await replica.clock.advance(60_000);
  assert.deepEqual(pods(replica.stored), ['a-0']);
  assert.equal(replica.proofs, 0);
  replica.dropped.add('ingester-zone-a-0-uid');
  await replica.clock.advance(3_000);
  assert.deepEqual(pods(replica.stored), []);
  assert.equal(replica.proofs, 1);
});

test('an eviction whose pod goes before anybody asks again ends once its successor is up, without a newer proof', async () => {
  const replica = new Replica();
  replica.provenAt = replica.clock.monotonic();
  await replica.clock.advance(1);
  await replica.ask('a-0');
  replica.snapshot = zones({ a: { pods: { 0: { uid: 'successor' } } } });
  assert.equal(await replica.ask('b-0'), 'allowed');
});

test('an eviction that another replica allowed, and whose pod this one saw last before that, ends by a proof of its own', async () => {
  const first = new Replica();
  const other = first.another();
  other.provenAt = first.clock.monotonic();
  await first.clock.advance(1);
  await first.ask('a-0');
  other.snapshot = zones({ a: { pods: { 0: { uid: 'successor' } } } });
  assert.equal(await other.ask('b-0'), 'unproven');
  await first.clock.advance(3_000);
  assert.equal(other.proofs, 1);
  assert.equal(await other.ask('b-0'), 'allowed');
});

test('what was replaced before the first look at it is taken out although nothing else proves the view', async () => {
  const replica = new Replica();
  replica.provenAt = replica.clock.monotonic();
  await replica.clock.advance(1_000);
  await replica.ask('a-0');
  replica.snapshot = zones({ a: { pods: { 0: { uid: 'its-successor' } } } });
  await replica.clock.advance(3_000);
  assert.deepEqual(pods(replica.stored), []);
  assert.equal(replica.proofs, 1);
});

test('an empty ledger is not looked at', async () => {
  const replica = new Replica();
  await replica.ask('a-0', rollout);
  replica.dropped.add('ingester-zone-a-0-uid');
  await replica.clock.advance(3_000);
  replica.calls();
  await replica.clock.advance(3_600_000);
  assert.deepEqual(replica.calls(), []);
});

test('what is under way when the budget is made is written down at once, and is in the way', async () => {
  const replica = new Replica();
  const other = replica.another();
  replica.begun = [{ pod: request('a-0').pod, asking: rollout.asking }];
  await replica.ledger.look(signal);
  assert.deepEqual(pods(replica.stored), ['a-0']);
  assert.equal(await other.ask('b-0'), inZoneA);
});

test('only the leader begins a ledger; another replica waits for it, and looks again within a second', async () => {
  const leader = new Replica();
  const other = leader.another({ sawCreation: true });
  assert.match(await other.ask('b-0'), /^unclear for 120000: there is no ConfigMap/);
  await leader.ledger.look(signal);
  await leader.clock.advance(1_001);
  assert.equal(await other.ask('b-0'), 'allowed');
});

test('a view that nothing proves gives nothing away, and denies all the same, without a write', async () => {
  const replica = new Replica();
  await replica.ledger.look(signal);
  replica.calls();
  replica.provenAt = undefined;
  assert.equal(await replica.ask('a-0'), 'unproven');
  replica.snapshot = zones({ b: { pods: { 0: failed } } });
  assert.equal(await replica.ask('a-0'), '1 pod not ready in ingester-zone-b');
  assert.deepEqual(replica.calls(), []);
});

test('a view that will be older than 10 s when its write is answered gives nothing away', async () => {
  const replica = new Replica();
  replica.provenAt = replica.clock.monotonic();
  await replica.clock.advance(5_001);
  assert.equal(await replica.ask('a-0'), 'unproven');
});

test('the leader ends intents of terms that are over (WRIT-2)', async () => {
  const replica = new Replica();
  await replica.ask('a-0', rollout);
  const leader = { term: 'uid/2/two' };
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
};

for (const [what, { damage, why }] of Object.entries(unreadable)) {
  test(`nothing is given away for 120 s where ${what}, and then by what the pods show (D-34)`, async () => {
    const first = new Replica();
    await first.ask('a-0');
    damage(first.stored);
    const replica = first.another();
    await replica.ledger.look(signal);
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
  await replica.ledger.look(signal);
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

const ref = { ...budget().ref, uid: 'made-anew' };

test('what a budget gave away counts under the next one of its name, which was seen to be made', async () => {
  const former = new Replica();
  await former.ask('a-0');
  const replica = former.another({
    budget: { ...budget(), ref },
    sawCreation: true,
    leader: { term: firstTerm },
  });
  assert.equal(await replica.ask('b-0'), inZoneA);
  await replica.ledger.look(signal);
  assert.match(replica.stored.texts.get('budget') ?? '', /made-anew/);
  assert.deepEqual(pods(replica.stored), ['a-0']);
  await replica.clock.advance(120_000);
  assert.equal(await replica.ask('b-0'), 'allowed');
});

test('the ledger of a former budget is waited out where no watch saw the new one being created, and then holds what it has', async () => {
  const former = new Replica();
  await former.ask('a-0', rollout);
  const replica = former.another({ budget: { ...budget(), ref } });
  await replica.ledger.look(signal);
  assert.match(await replica.ask('b-0'), /^unclear for 120000: .* must name the ZoneAware/);
  await former.clock.advance(120_000);
  assert.equal(await replica.ask('b-0'), inZoneA);
});

test('what can be said of a budget without a call changes with what was read or written', async () => {
  const replica = new Replica();
  assert.equal(replica.ledger.moment(replica.clock.now()).ledger.kind, 'unread');
  await replica.ask('a-0', rollout);
  const { ledger, isLedgerFresh } = replica.ledger.moment(replica.clock.now());
  assert.ok(ledger.kind === 'known');
  assert.deepEqual([...ledger.ledger.reservations.keys()], ['ingester-zone-a-0-uid']);
  assert.equal(isLedgerFresh, true);
  await replica.clock.advance(10_001);
  assert.equal(replica.ledger.moment(replica.clock.now()).isLedgerFresh, false);
});

test('what a write without an answer may still take out is written again before it is used', async () => {
  const replica = new Replica();
  await replica.ask('a-0', rollout);
  replica.dropped.add('ingester-zone-a-0-uid');
  // The write that takes it out never gets an answer; whether it lands nobody knows.
  replica.stored.before = (call) => {
    if (call !== 'read') throw refusal(503);
  };
  await replica.clock.advance(3_000);
  replica.stored.before = () => undefined;
  replica.dropped.clear();
  const { version } = replica.stored;
  assert.ok(replica.ledger.moment(replica.clock.now()).dropping.has('ingester-zone-a-0-uid'));
  const asked = replica.ask('a-0', rollout);
  await replica.clock.advance(10_000);
  assert.equal(await asked, 'allowed');
  assert.ok(replica.stored.version > version);
  assert.equal(replica.ledger.moment(replica.clock.now()).dropping.size, 0);
});

test('a repeat at another replica is allowed by a write, as what it saw may have ended since [BUDG-3]', async () => {
  const one = new Replica();
  const two = one.another();
  await one.ask('a-0');
  assert.equal(await two.ask('b-0'), inZoneA);
  two.calls();
  await two.clock.advance(1);
  assert.equal(await two.ask('a-0'), 'allowed');
  assert.deepEqual(two.calls(), ['write']);
  assert.equal(await two.ask('a-0'), 'allowed');
  assert.deepEqual(two.calls(), []);
});

test('a ledger that was missing an hour ago, and is missing now, is waited for anew (D-34)', async () => {
  const one = new Replica();
  const two = one.another();
  two.ledger.close();
  assert.match(await two.ask('b-0'), /^unclear for 120000/);
  await one.ask('a-0');
  await one.clock.advance(3_600_000);
  await one.ask('a-0');
  one.stored.drop();
  assert.match(await two.ask('b-0'), /^unclear for 120000: there is no ConfigMap/);
});

test('what is in the way by an older view alone is not held against anybody before the view is proven', async () => {
  const one = new Replica();
  const two = one.another();
  two.provenAt = two.clock.monotonic();
  await one.clock.advance(1_000);
  await one.ask('a-0');
  two.snapshot = zones({ a: { pods: { 0: { uid: 'newer-uid' } } } });
  assert.equal(await two.ask('b-0'), 'unproven');
  two.provenAt = 'now';
  assert.equal(await two.ask('b-0'), 'allowed');
});

test('an eviction that is allowed for five minutes, and never happens, lets others have their turn', async () => {
  const replica = new Replica();
  const answers: string[] = [];
  for (let at = 0; at < 36; at += 1) {
    answers.push(await replica.ask('a-0'));
    await replica.clock.advance(10_000);
  }
  const unused = 'evictions in ingester-zone-a were allowed for 5 minutes, and no pod has gone';
  assert.deepEqual([answers[29], answers[30], answers[35]], ['allowed', unused, unused]);
  // The last permission is over, and nobody has it again for a minute.
  await replica.clock.advance(65_000);
  assert.equal(await replica.ask('a-0'), unused);
  assert.equal(await replica.ask('b-0'), 'allowed');
});

const rested = 'evictions were allowed for 10 minutes, and no pod has gone';

test('[found X-1] evictions of one zone after the other rest together, and a rollout has its turn', async () => {
  const replica = new Replica({ budget: budget({ limit: 3 }) });
  const answers: string[] = [];
  let rolled: number | undefined;
  for (let at = 0; at < 900 && rolled === undefined; at += 2) {
    answers.push(await replica.ask(`${at % 720 < 360 ? 'a' : 'b'}-${at % 3}`));
    // It comes last each time, so that a zone that is free has been taken already.
    if ((await replica.ask('c-0', rollout)) === 'allowed') rolled = at;
    await replica.clock.advance(2_000);
  }
  assert.ok(answers.includes(rested), answers.slice(-3).join('; '));
  assert.ok(rolled !== undefined && rolled <= 721, `it has a pod after ${rolled} s`);
});
