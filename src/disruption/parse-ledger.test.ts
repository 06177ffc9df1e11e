import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { JsonObject } from '#base/json.ts';
import { instant } from '#base/units.ts';
import { BudgetBed, budget, request, zones } from '#support/budgets/budgeted-zones.ts';
import { T0 } from '#support/objects/views.ts';
import { digestOf, formatLedger, type LedgerData } from './format-ledger.ts';
import { emptyLedger, type Ledger } from './ledger.ts';
import { parseLedger } from './parse-ledger.ts';
import type { Claim, Reservation } from './reservation.ts';

const { ref } = budget();
const object = 'ConfigMap ops/zpdb-ingester';

/** One pod that an eviction may take, and one that a rollout takes. */
function ledger(): Ledger {
  const bed = new BudgetBed(budget({ limit: 2 }));
  bed.ask('a-0');
  bed.ask('a-1', { asking: { by: 'rollout', term: 'lease-uid/3/one' } });
  return bed.ledger;
}

const stored = formatLedger(ledger());

test('formatLedger() writes what people can read', () => {
  assert.deepEqual(stored, {
    version: '1',
    budget:
      '{"kind":"ZoneAwarePodDisruptionBudget","namespace":"test","name":"ingester","uid":"budget-uid"}',
    reservations: `[
{"uid":"ingester-zone-a-0-uid","pod":"ingester-zone-a-0","set":"ingester-zone-a","zone":"ingester-zone-a","claims":[{"by":"eviction","at":"2026-01-01T00:00:00.000Z"}]},
{"uid":"ingester-zone-a-1-uid","pod":"ingester-zone-a-1","set":"ingester-zone-a","zone":"ingester-zone-a","claims":[{"by":"rollout","at":"2026-01-01T00:00:00.000Z","term":"lease-uid/3/one"}]}
]`,
    digest: stored.digest,
  });
  assert.equal(formatLedger(emptyLedger(ref)).reservations, '[]');
});

test('digestOf() is that of FNV-1a', () => {
  // The hash of the two line feeds between three empty texts, worked out by hand: offset ^ 10, times the prime, twice.
  let hash = 2_166_136_261n;
  for (let turn = 0; turn < 2; turn += 1) hash = ((hash ^ 10n) * 16_777_619n) % 2n ** 32n;
  const empty = { version: '', budget: '', reservations: '' };
  assert.equal(digestOf(empty), hash.toString(16).padStart(8, '0'));
});

const at = fc.integer({ min: 0, max: 4_102_444_800_000 }).map(instant);
const name = fc.string({ minLength: 1, maxLength: 60, unit: 'binary' });
const evictionClaim: fc.Arbitrary<Claim> = fc.record({ by: fc.constant('eviction' as const), at });
const ownClaim = (by: 'rollout' | 'scale-down'): fc.Arbitrary<Claim> =>
  fc.record({ by: fc.constant(by), at, term: name });
const claims = fc
  .tuple(fc.option(evictionClaim), fc.option(ownClaim('rollout')), ownClaim('scale-down'))
  .map((each) => each.flatMap((claim) => (claim === null ? [] : { ...claim })));
const maybeName = fc.option(name, { nil: undefined });
const reservation: fc.Arbitrary<Reservation> = fc
  .tuple(name, name, maybeName, maybeName, claims)
  .map(([uid, pod, set, zone, each]) => ({ uid, slot: { pod, set, zone }, claims: each }));

test('parseLedger() reads what formatLedger() wrote, whatever is in it', () => {
  fc.assert(
    fc.property(fc.uniqueArray(reservation, { selector: ({ uid }) => uid }), (all) => {
      const written = { budget: ref, reservations: new Map(all.map((each) => [each.uid, each])) };
      const read = parseLedger({ ...formatLedger(written) }, ref, object);
      assert.deepEqual(read, { kind: 'ledger', ledger: written });
    }),
  );
});

test('parseLedger() throws never, and takes no text for a ledger that is not one', () => {
  const keys = ['version', 'budget', 'reservations', 'digest'] as const;
  const damaged = fc.tuple(fc.constantFrom(...keys), fc.string());
  fc.assert(
    fc.property(damaged, ([key, text]) => {
      fc.pre(text !== stored[key]);
      assert.notEqual(parseLedger({ ...stored, [key]: text }, ref, object).kind, 'ledger');
    }),
  );
});

test('parseLedger() calls a ledger that ends early truncated, wherever it ends', () => {
  for (let length = 0; length < stored.reservations.length; length += 1) {
    const cut = stored.reservations.slice(0, length);
    const { kind } = parseLedger({ ...stored, reservations: cut }, ref, object);
    // Cut behind the list of claims it looks whole to its end.
    assert.ok(kind === 'truncated' || (kind === 'edited' && cut.endsWith(']')), cut);
  }
});

/** The ledger with other reservations, and the digest that belongs to them. */
function signed(members: Partial<LedgerData>): JsonObject {
  const data = { ...stored, ...members };
  return { ...data, digest: digestOf(data) };
}

function withEntry(entry: JsonObject): JsonObject {
  return signed({ reservations: JSON.stringify([entry]) });
}

const whole = {
  uid: 'u',
  pod: 'ingester-zone-a-0',
  set: 'ingester-zone-a',
  zone: 'ingester-zone-a',
  claims: [{ by: 'eviction', at: '2026-01-01T00:00:00Z' }],
};
const ours = { by: 'rollout', at: '2026-01-01T00:00:00Z', term: 't' };

const faults: Record<
  string,
  {
    readonly data: JsonObject;
    readonly kind: string;
    readonly path: string;
    readonly message: string;
  }
> = {
  'without a version': {
    data: {},
    kind: 'truncated',
    path: 'version',
    message: 'must be a text: there is none',
  },
  'without reservations': {
    data: { version: stored.version, budget: stored.budget, digest: stored.digest },
    kind: 'truncated',
    path: 'reservations',
    message: 'must be a text: there is none',
  },
  'without a digest': {
    data: { version: stored.version, budget: stored.budget, reservations: stored.reservations },
    kind: 'truncated',
    path: 'digest',
    message: 'must be a text: there is none',
  },
  'of a newer version': {
    data: signed({ version: '2' }),
    kind: 'from-the-future',
    path: 'version',
    message:
      'must be "1", the version that this program writes: got "2", which a newer program wrote',
  },
  'of a version that is none': {
    data: signed({ version: 'one' }),
    kind: 'edited',
    path: 'version',
    message: 'must be "1", the version that this program writes: got "one"',
  },
  'of a budget with another uid that was edited by hand': {
    data: signed({ budget: '{"uid":"older-uid"}', reservations: '[{"uid":""}]' }),
    kind: 'edited',
    path: 'reservations"][0].uid',
    message: 'must be the uid of a pod: got "\\"\\""',
  },
  'of no budget': {
    data: signed({ budget: 'ingester' }),
    kind: 'edited',
    path: 'budget',
    message:
      'must name the ZoneAwarePodDisruptionBudget test/ingester with uid "budget-uid": got "ingester"',
  },
  'whose list is cut': {
    data: signed({ reservations: '[{"uid":"u","pod":"ingester-zo' }),
    kind: 'truncated',
    path: 'reservations',
    message:
      'must be a JSON array: got 30 characters that end in "[{\\"uid\\":\\"u\\",\\"pod\\":\\"ingester-zo"',
  },
  'whose list is an object': {
    data: signed({ reservations: '{"u":[]}' }),
    kind: 'edited',
    path: 'reservations',
    message: 'must be a JSON array: got 8 characters that end in "{\\"u\\":[]}"',
  },
  'that was edited by hand': {
    data: { ...stored, reservations: '[]', digest: '00000000' },
    kind: 'edited',
    path: 'digest',
    message: `must be "${digestOf({ ...stored, reservations: '[]' })}", as computed from the other members: got "00000000"; was it edited by hand?`,
  },
  'with an entry that is no object': {
    data: signed({ reservations: '[1]' }),
    kind: 'edited',
    path: 'reservations"][0]',
    message: 'must be an object',
  },
  'with an entry without a uid': {
    data: withEntry({ ...whole, uid: 7 }),
    kind: 'edited',
    path: 'reservations"][0].uid',
    message: 'must be the uid of a pod: got "7"',
  },
  'with an entry without a pod': {
    data: withEntry({ ...whole, pod: '' }),
    kind: 'edited',
    path: 'reservations"][0].pod',
    message: 'must be the name of a pod: got "\\"\\""',
  },
  'with an entry whose zone is a number': {
    data: withEntry({ ...whole, zone: 1 }),
    kind: 'edited',
    path: 'reservations"][0].zone',
    message: 'must be a name, or absent: got "1"',
  },
  'with two entries for one pod': {
    data: signed({ reservations: JSON.stringify([whole, whole]) }),
    kind: 'edited',
    path: 'reservations"][1].uid',
    message: 'must be of a pod that no other reservation is for: got "u"',
  },
  'with an entry without a claim': {
    data: withEntry({ ...whole, claims: [] }),
    kind: 'edited',
    path: 'reservations"][0].claims',
    message: 'must be an array with at least one claim: got "[]"',
  },
  'with a claim by an unknown asker': {
    data: withEntry({ ...whole, claims: [{ by: 'me', at: '2026-01-01T00:00:00Z' }] }),
    kind: 'edited',
    path: 'reservations"][0].claims[0].by',
    message: 'must be "eviction", "rollout" or "scale-down": got "\\"me\\""',
  },
  'with a claim without a time': {
    data: withEntry({ ...whole, claims: [{ by: 'eviction' }] }),
    kind: 'edited',
    path: 'reservations"][0].claims[0].at',
    message: 'must be an RFC 3339 time such as "2026-01-31T12:00:00Z": got ""',
  },
  'with an intent of ours of no term': {
    data: withEntry({ ...whole, claims: [{ ...ours, term: undefined }] }),
    kind: 'edited',
    path: 'reservations"][0].claims[0].term',
    message: 'must be the term in which it was made: got none',
  },
  'with two claims by one asker': {
    data: withEntry({ ...whole, claims: [ours, ours] }),
    kind: 'edited',
    path: 'reservations"][0].claims[1].by',
    message: 'must be said once: got "rollout" again',
  },
};

for (const [fact, { data, kind, path, message }] of Object.entries(faults)) {
  test(`parseLedger() refuses a ledger ${fact}`, () => {
    const end = path.includes('"]') ? path : `${path}"]`;
    assert.deepEqual(parseLedger(data, ref, object), {
      kind,
      problem: { path: `ConfigMap ops/zpdb-ingester data["${end}`, message },
    });
  });
}

test('parseLedger() tells what a budget with another uid had given away, and that it is not this one', () => {
  const data = signed({ ...stored, budget: '{"uid":"older-uid"}' });
  const read = parseLedger(data, ref, object);
  assert.ok(read.kind === 'of-another-budget');
  assert.deepEqual(read.problem, {
    path: 'ConfigMap ops/zpdb-ingester data["budget"]',
    message:
      'must name the ZoneAwarePodDisruptionBudget test/ingester with uid "budget-uid": got "{\\"uid\\":\\"older-uid\\"}"',
  });
  const own = parseLedger({ ...stored }, ref, object);
  assert.ok(own.kind === 'ledger' && own.ledger.reservations.size > 0);
  assert.deepEqual(read.ledger, own.ledger);
});

test('parseLedger() reads a ledger of which only the budget was renamed', () => {
  const renamed = { ...ref, name: 'ingester-2' };
  assert.equal(parseLedger({ ...stored }, renamed, object).kind, 'ledger');
});

test('decide() gives away no more than a ConfigMap holds, and says so', () => {
  const long = 'x'.repeat(200);
  const size = 2_000;
  const mode = { kind: 'zones-of-nodes', zoneOf: () => long } as const;
  const bed = new BudgetBed(
    budget({ limit: size, mode }),
    zones({ a: { spec: { replicas: size } }, b: 'none', c: 'none' }),
  );
  const asking = { by: 'rollout', term: long } as const;
  const requests = Array.from({ length: size }, (_, at) => request(`a-${at}`, { asking }));
  const { answers, ledger: full } = bed.decide({ requests });
  const granted = answers.filter(({ kind }) => kind === 'allowed').length;
  const [denied] = answers.flatMap((answer) => (answer.kind === 'denied' ? answer.denial : []));
  assert.ok(granted > 500 && granted < size);
  assert.deepEqual(denied, { kind: 'ledger-full', reservations: granted, mostBytes: 524_288 });
  const { reservations } = formatLedger(full);
  assert.ok(Buffer.byteLength(reservations) <= 524_288);
  // What is given away already stays so for other askers, and there is room for them.
  const more = bed.decide({
    requests: requests
      .slice(0, granted)
      .map(({ pod }) => ({ pod, asking: { by: 'scale-down', term: long } })),
  });
  assert.ok(more.answers.every(({ kind }) => kind === 'allowed'));
  assert.ok(Buffer.byteLength(formatLedger(more.ledger).reservations) < 1_000_000);
});

test('decide() and the stored form agree on times: whole milliseconds', () => {
  const bed = new BudgetBed();
  bed.now = instant(T0 + 0.75);
  bed.ask('a-0');
  assert.deepEqual(parseLedger({ ...formatLedger(bed.ledger) }, ref, object), {
    kind: 'ledger',
    ledger: bed.ledger,
  });
});
