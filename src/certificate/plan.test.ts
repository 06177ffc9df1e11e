import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { after, type Instant, instant, minutes, seconds } from '#base/units.ts';
import type { Authority, Leaf, SecretContent, SecretState } from './api.ts';
import { type Plan, plan, type Snapshot } from './plan.ts';
import { lifecycle, pauseBetweenLooks } from './plan-lifecycle.ts';

const T0 = instant(1_767_225_600_000);
const NAME = 'rollout-operator.test.svc';
const day = (value: number) => after(T0, minutes(value * 1_440));

/** A CA `id`, valid for `days` from T0 on. */
function ca(id: string, days = 24): Authority {
  return { id: `ca-${id}`, pem: `PEM ca-${id}\n`, notAfter: day(days) };
}

/** A leaf `id`, valid from `from` for 24 days: 1/24 of its life is a day. */
function leaf(id: string, from = 0, dnsNames: readonly string[] = [NAME]): Leaf {
  const authority = ca(id, from + 24);
  const [notBefore, notAfter] = [day(from), authority.notAfter];
  return { id, cert: `${id} cert`, key: `${id} key`, notBefore, notAfter, dnsNames, authority };
}

const old = leaf('old');
const coming = leaf('new', 16);
const another = leaf('another', 17);

function valid(content: Partial<SecretContent> = {}): SecretState {
  const { current = old, next } = content;
  const authorities = content.authorities ?? [
    current.authority,
    ...(next === undefined ? [] : [next.leaf.authority]),
  ];
  return { kind: 'valid', content: { current, next, authorities } };
}

const rotating = valid({ next: { leaf: coming, from: day(20) } });

function snapshot(overrides: Partial<Snapshot> = {}): Snapshot {
  return {
    secret: valid(),
    served: old,
    remembered: [old.authority],
    publication: { kind: 'managed', since: new Map([['ca-old', T0]]) },
    dnsName: NAME,
    ...overrides,
  };
}

function published(...ids: readonly string[]): Snapshot['publication'] {
  return { kind: 'managed', since: new Map(ids.map((id) => [id, T0])) };
}

/** A plan in short: what is served, what is stored and why, what is trusted, what waits. */
interface Outline {
  readonly serve: string | undefined;
  readonly store?: string;
  readonly trust: readonly string[];
  readonly waiting?: string;
}

function outline({ serve, store, authorities, waiting }: Plan): Outline {
  const pair = (each: Leaf | 'new'): string => (each === 'new' ? 'new' : each.id);
  const next = store?.next === undefined ? '' : ` then ${pair(store.next.pair)}`;
  return {
    serve: serve?.id,
    ...(store !== undefined && {
      store: `${store.because.reason}: ${pair(store.current)}${next}`,
    }),
    trust: authorities.map(({ id }) => id),
    ...(waiting !== undefined && { waiting: waiting.reason }),
  };
}

interface Case {
  readonly given: Partial<Snapshot>;
  readonly at: Instant;
  readonly want: Outline;
}

const both = ['ca-old', 'ca-new'];
/** Left by as many rotations. */
const many = Array.from({ length: 9 }, (_, index) => ca(`${index}`));
const renamed = leaf('old', 0, ['other.test.svc']);
const refused: SecretState = { kind: 'refused', message: 'Secret "test/s" lacks "ca"' };

const cases: Readonly<Record<string, Case>> = {
  '[admission 83] makes the first certificate where there is no Secret': {
    given: { secret: { kind: 'absent' }, served: undefined, remembered: [] },
    at: T0,
    want: { serve: undefined, store: 'CertificateMissing: new', trust: [] },
  },
  '[admission 85] fills an empty Secret': {
    given: { secret: { kind: 'empty' }, served: undefined, remembered: [] },
    at: T0,
    want: { serve: undefined, store: 'CertificateMissing: new', trust: [] },
  },
  '[admission 84] serves a valid Secret as it is, whatever is published': {
    given: { served: undefined, remembered: [], publication: published() },
    at: day(1),
    want: { serve: 'old', trust: ['ca-old'] },
  },
  '[admission 86] [admission 87] serves nothing from a Secret that cannot be used': {
    given: { secret: refused, served: undefined, remembered: [] },
    at: T0,
    want: { serve: undefined, trust: [], waiting: 'SecretRefused' },
  },
  'keeps what it serves when the Secret becomes unusable, and overwrites nothing': {
    given: { secret: refused },
    at: day(1),
    want: { serve: 'old', trust: ['ca-old'], waiting: 'SecretRefused' },
  },
  'publishes the CAs in use even where more than are kept stand before them': {
    given: {
      secret: valid({
        next: { leaf: coming, from: day(20) },
        authorities: [...many, old.authority, coming.authority],
      }),
    },
    at: day(17),
    want: { serve: 'old', trust: [...both, ...many.slice(0, 6).map(({ id }) => id)] },
  },
  '[admission 88] replaces an expired certificate': {
    given: { served: undefined },
    at: day(24),
    want: { serve: 'old', store: 'CertificateExpired: new', trust: ['ca-old'] },
  },
  'replaces a certificate that begins more than five minutes from now': {
    given: { secret: valid({ current: coming }), served: undefined },
    at: instant(day(16) - minutes(5) - 1),
    want: { serve: 'new', store: 'CertificateNotYetValid: new', trust: ['ca-new'] },
  },
  'takes one that begins in five minutes, as by a clock that is ahead': {
    given: { secret: valid({ current: coming }), served: undefined },
    at: instant(day(16) - minutes(5)),
    want: { serve: 'new', trust: ['ca-new'] },
  },
  'serves on what clients accept while another that is not valid yet is replaced': {
    given: { secret: valid({ current: coming }), publication: published(...both) },
    at: day(1),
    want: { serve: 'old', store: 'CertificateNotYetValid: new', trust: ['ca-new', 'ca-old'] },
  },
  'serves what replaces a certificate that is not valid yet before its CA is published': {
    given: { served: coming, publication: published() },
    at: day(1),
    want: { serve: 'old', trust: ['ca-old'] },
  },
  'does not switch to a next certificate that is not valid yet': {
    given: {
      secret: valid({ next: { leaf: coming, from: day(1) } }),
      publication: published(...both),
    },
    at: day(2),
    want: { serve: 'old', trust: ['ca-old', 'ca-new'] },
  },
  'puts the next certificate in the place of one that is not valid yet': {
    given: {
      secret: valid({ current: coming, next: { leaf: old, from: day(20) } }),
      served: undefined,
    },
    at: day(1),
    want: { serve: 'old', store: 'CertificateSwitched: old', trust: ['ca-new', 'ca-old'] },
  },
  'makes another first certificate when the Secret was deleted under one that is not valid yet': {
    given: { secret: { kind: 'absent' }, served: coming, remembered: [] },
    at: day(1),
    want: { serve: 'new', store: 'CertificateMissing: new', trust: ['ca-new'] },
  },
  '[admission 88] promotes the next certificate where the current one has expired': {
    given: { secret: rotating, served: undefined },
    at: day(24),
    want: { serve: 'new', store: 'CertificateSwitched: new', trust: both },
  },
  '[admission 90] does nothing before two thirds of the life': {
    given: {},
    at: instant(day(16) - 1),
    want: { serve: 'old', trust: ['ca-old'] },
  },
  'D-28 prepares the next certificate at two thirds of the life, and serves the old one': {
    given: {},
    at: day(16),
    want: { serve: 'old', store: 'CertificateExpiring: old then new', trust: ['ca-old'] },
  },
  'D-28 has both CAs trusted, and serves the old certificate until the time comes': {
    given: { secret: rotating, publication: published(...both) },
    at: instant(day(20) - 1),
    want: { serve: 'old', trust: both },
  },
  'D-28 serves the next certificate when its time has come, and stores that': {
    given: { secret: rotating, publication: published(...both) },
    at: day(20),
    want: { serve: 'new', store: 'CertificateSwitched: new', trust: both },
  },
  'D-28 waits while a labelled configuration lacks the new CA': {
    given: { secret: rotating },
    at: day(20),
    want: { serve: 'old', trust: both, waiting: 'CaNotPublished' },
  },
  'waits until the new CA has been everywhere for half a minute': {
    given: {
      secret: rotating,
      publication: { kind: 'managed', since: new Map([['ca-new', day(20)]]) },
    },
    at: instant(day(20) + 29_999),
    want: { serve: 'old', trust: both, waiting: 'CaNotPublished' },
  },
  'switches once the new CA has been everywhere for half a minute': {
    given: {
      secret: rotating,
      publication: { kind: 'managed', since: new Map([['ca-new', day(20)]]) },
    },
    at: after(day(20), seconds(30)),
    want: { serve: 'new', store: 'CertificateSwitched: new', trust: both },
  },
  'waits no longer when the old certificate is about to expire': {
    given: { secret: rotating },
    at: after(day(24), minutes(-5)),
    want: { serve: 'new', store: 'CertificateSwitched: new', trust: both },
  },
  'starts with the current certificate while the next one is not trusted everywhere': {
    given: { secret: rotating, served: undefined, publication: published('ca-old') },
    at: day(21),
    want: { serve: 'old', trust: both, waiting: 'CaNotPublished' },
  },
  'follows another replica that has switched': {
    given: {
      secret: valid({ current: coming, authorities: [coming.authority, old.authority] }),
      publication: published(...both),
    },
    at: day(20),
    want: { serve: 'new', trust: ['ca-new', 'ca-old'] },
  },
  'does not follow while it sees a configuration that trusts only the old CA': {
    given: { secret: valid({ current: coming, authorities: [coming.authority, old.authority] }) },
    at: day(20),
    want: { serve: 'old', trust: ['ca-new', 'ca-old'], waiting: 'CaNotPublished' },
  },
  'keeps trusting its own CA when a user stored another certificate, and adds it to the Secret': {
    given: { secret: valid({ current: coming }) },
    at: day(17),
    want: {
      serve: 'old',
      store: 'AuthorityMissing: new',
      trust: both.toReversed(),
      waiting: 'CaNotPublished',
    },
  },
  'keeps the next certificate of another owner when it adds its own CA to the Secret': {
    given: { secret: valid({ current: coming, next: { leaf: another, from: day(30) } }) },
    at: day(17),
    want: {
      serve: 'old',
      store: 'AuthorityMissing: new then another',
      trust: ['ca-new', 'ca-another', 'ca-old'],
      waiting: 'CaNotPublished',
    },
  },
  'trusts the old CA until it has expired, as a replica may be cut off': {
    given: {
      secret: valid({ current: coming, authorities: [coming.authority, old.authority] }),
      served: coming,
    },
    at: day(24),
    want: { serve: 'new', trust: ['ca-new', 'ca-old'] },
  },
  'forgets the old CA five minutes after it expired': {
    given: {
      secret: valid({ current: coming, authorities: [coming.authority, old.authority] }),
      served: coming,
    },
    at: after(day(24), minutes(5)),
    want: { serve: 'new', trust: ['ca-new'] },
  },
  'puts back what it serves when the Secret was deleted, with a next one': {
    given: { secret: { kind: 'absent' } },
    at: day(1),
    want: { serve: 'old', store: 'CertificateDeleted: old then new', trust: ['ca-old'] },
  },
  'makes another first certificate when the Secret was deleted after expiry': {
    given: { secret: { kind: 'absent' } },
    at: day(24),
    want: { serve: 'old', store: 'CertificateMissing: new', trust: ['ca-old'] },
  },
  'prepares another certificate when clients call it by a new name': {
    given: { secret: valid({ current: renamed }), served: renamed },
    at: day(1),
    want: { serve: 'old', store: 'NameNotCovered: old then new', trust: ['ca-old'] },
  },
  'leaves the name to the usual renewal where the bundles are not its own': {
    given: {
      secret: valid({ current: renamed }),
      served: renamed,
      publication: { kind: 'unmanaged' },
    },
    at: day(1),
    want: { serve: 'old', trust: ['ca-old'] },
  },
  'switches at once to a next certificate that has the name': {
    given: {
      secret: valid({ current: renamed, next: { leaf: coming, from: day(20) } }),
      served: renamed,
      publication: published(...both),
    },
    at: day(17),
    want: { serve: 'new', store: 'CertificateSwitched: new', trust: both },
  },
  'takes the next certificate as late as it can where the bundles are not its own': {
    given: { secret: rotating, publication: { kind: 'unmanaged' } },
    at: day(20),
    want: { serve: 'new', store: 'CertificateSwitched: new', trust: both },
  },
  'makes another next certificate where that has expired': {
    given: {
      secret: valid({ next: { leaf: leaf('new', -9), from: day(20) } }),
      publication: published('ca-old'),
    },
    at: day(16),
    want: { serve: 'old', store: 'CertificateExpiring: old then new', trust: ['ca-old'] },
  },
};

describe('plan()', () => {
  for (const [fact, { given, at, want }] of Object.entries(cases)) {
    test(fact, () => assert.deepEqual(outline(plan(snapshot(given), at)), want));
  }

  test('D-28 keeps every CA that has not expired in the Secret when it stores the switch', () => {
    const authorities = [old.authority, coming.authority, ca('restored')];
    const secret = valid({ next: { leaf: coming, from: day(20) }, authorities });
    const { store } = plan(snapshot({ secret, publication: published(...both) }), day(20));
    assert.deepEqual(
      store?.authorities.map(({ id }) => id),
      ['ca-old', 'ca-new', 'ca-restored'],
    );
  });

  test('stores its own CA in addition to those that the Secret names, and issues nothing for it', () => {
    const { store } = plan(snapshot({ secret: valid({ current: coming }) }), day(17));
    assert.deepEqual(
      store?.authorities.map(({ id }) => id),
      ['ca-new', 'ca-old'],
    );
    assert.equal(store.current, coming);
  });

  test('D-28 lets the next certificate begin at 5/6 of the life, by the Secret alone', () => {
    assert.deepEqual(plan(snapshot(), day(18)).store?.next?.from, day(20));
  });

  test('lets it begin at the last moment where the bundles are not its own', () => {
    const { store } = plan(snapshot({ publication: { kind: 'unmanaged' } }), day(18));
    assert.deepEqual(store?.next?.from, after(day(24), minutes(-5)));
  });

  test('lets it begin at once after the Secret was deleted', () => {
    const { store } = plan(snapshot({ secret: { kind: 'absent' } }), day(2));
    assert.deepEqual(store?.next?.from, day(2));
  });

  test('puts all wanted names into the certificate of a new name, so that replicas cannot fight', () => {
    const given = { secret: valid({ current: renamed }), served: renamed };
    const { store } = plan(snapshot(given), day(1));
    assert.deepEqual(store?.dnsNames, [NAME, 'other.test.svc']);
  });

  test('stores only the wanted name at the usual renewal', () => {
    const two = leaf('old', 0, [NAME, 'other.test.svc']);
    const given = { secret: valid({ current: two }), served: two };
    assert.deepEqual(plan(snapshot(given), day(16)).store?.dnsNames, [NAME]);
  });

  test('accepts a wildcard of the name', () => {
    const wildcard = leaf('old', 0, ['*.TEST.svc']);
    const given = { secret: valid({ current: wildcard }), served: wildcard };
    assert.equal(plan(snapshot(given), day(1)).store, undefined);
  });

  test('keeps at most eight CAs however often the Secret is replaced', () => {
    const authorities = Array.from({ length: 20 }, (_, index) => ca(`x${index}`));
    const secret = valid({ authorities: [old.authority, ...authorities] });
    const { store } = plan(snapshot({ secret }), day(16));
    assert.equal(store?.next?.pair, 'new');
    assert.equal(store.authorities.length + 1, 8, 'that of the new pair included');
    assert.equal(store.authorities[0]?.id, 'ca-old');
  });

  test('D-28 looks at the Secret each minute, so well within half of the overlap', () => {
    assert.equal(plan(snapshot(), day(1)).lookAgain, after(day(1), minutes(1)));
  });

  test('looks sooner where something falls due sooner', () => {
    const at = instant(day(16) - 1_000);
    assert.equal(plan(snapshot(), at).lookAgain, day(16));
    const due = instant(day(20) - 1_000);
    assert.equal(plan(snapshot({ secret: rotating }), due).lookAgain, day(20));
  });

  test('looks more often at a certificate of minutes', () => {
    const notAfter = after(T0, minutes(12));
    const short = { ...old, notAfter, authority: { ...old.authority, notAfter } };
    const given = { secret: valid({ current: short }), served: short };
    assert.equal(plan(snapshot(given), T0).lookAgain, after(T0, seconds(30)));
  });
});

describe('lifecycle()', () => {
  test('divides the life as D-28 says', () => {
    assert.deepEqual(lifecycle(old), {
      renewAt: day(16),
      switchAt: day(20),
      latestSwitch: after(day(24), minutes(-5)),
      poll: 60_000,
      settle: 30_000,
    });
  });
});

test('pauseBetweenLooks() is 5 s, and less only where certificates of seconds are asked for', () => {
  assert.equal(pauseBetweenLooks(minutes(365 * 1_440)), 5_000);
  assert.equal(pauseBetweenLooks(minutes(2)), 5_000);
  assert.equal(pauseBetweenLooks(seconds(12)), 500);
});
