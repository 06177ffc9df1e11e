/** The delay across zones, by the scenarios of the budget. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, type Instant, instant, millis, minutes, monotonic, seconds } from '#base/units.ts';
import type { PodView, Watched } from '#statefulset/view.ts';
import { BudgetBed, budget, partitions, request, zones } from '#support/budgets/budgeted-zones.ts';
import { T0 } from '#support/objects/views.ts';

interface DelayCase {
  readonly delay?: ReturnType<typeof minutes>;
  /** How the pod b-0 differs from one that has been ready for an hour. */
  readonly peer?: Partial<PodView>;
  readonly watched?: Watched;
  readonly after?: readonly string[];
  readonly asks?: string;
  readonly answer: string;
}

const text = (at: Instant): string => new Date(at).toISOString().replace('.000Z', 'Z');
const ago = (span: ReturnType<typeof minutes>): Instant => instant(T0 - span);
const notReady = '1 pod not ready in partition 0';

/** What this process has watched of b-0 for `span`; whether it saw it become ready. */
function watching(span: ReturnType<typeof minutes>, isWitnessed = false): Watched {
  const uid = 'ingester-zone-b-0-uid';
  return {
    now: monotonic(span),
    since: new Map([[uid, monotonic(0)]]),
    witnessed: new Set(isWitnessed ? [uid] : []),
    served: new Set(),
    gone: new Map(),
    begun: monotonic(0),
  };
}

const delays: Record<string, DelayCase> = {
  'is over for a peer that both times call old [zpdb 104]': {
    peer: { readyTime: text(ago(minutes(60))) },
    answer: 'allowed',
  },
  'runs for a peer that was noted ready just now, whatever its condition [zpdb 105]': {
    peer: { readyTime: text(T0) },
    answer: notReady,
  },
  'runs for a peer whose condition turned just now, whatever was noted': {
    peer: { readySince: T0, readyTime: text(ago(minutes(60))) },
    answer: notReady,
  },
  'runs by the condition for a peer without a note [zpdb 106]': {
    peer: { readySince: ago(seconds(30)) },
    answer: notReady,
  },
  'is over by the condition for a peer without a note': { answer: 'allowed' },
  'runs by the condition for a peer with a malformed note [zpdb 106]': {
    peer: { readySince: ago(seconds(30)), readyTime: 'an hour ago' },
    answer: notReady,
  },
  'is over by the condition for a peer with a malformed note': {
    peer: { readyTime: '' },
    answer: 'allowed',
  },
  'runs where nothing tells since when a peer is ready': {
    peer: { readySince: undefined, unready: undefined },
    answer: notReady,
  },
  'does not save a peer that is reserved [zpdb 107]': { after: ['b-0'], answer: notReady },
  'runs in its own partition only [zpdb 109]': {
    peer: { readyTime: text(T0) },
    asks: 'a-1',
    answer: 'allowed',
  },
  'of 0 needs no times at all [zpdb 110]': {
    delay: minutes(0),
    peer: { readySince: undefined, unready: undefined },
    answer: 'allowed',
  },
  'runs at its very end': { peer: { readySince: ago(minutes(1)) }, answer: notReady },
  'is over right after its end': {
    peer: { readySince: after(ago(minutes(1)), millis(-1)) },
    answer: 'allowed',
  },
  'takes a time to come for now (D-55)': {
    peer: { readySince: after(T0, minutes(60)) },
    answer: notReady,
  },
  'ends at the latest when it was watched to pass (D-55)': {
    peer: { readySince: after(T0, minutes(60)) },
    watched: watching(millis(60_001)),
    answer: 'allowed',
  },
  'runs by the own clock alone for a peer that was seen to become ready': {
    watched: watching(seconds(10), true),
    answer: notReady,
  },
};

for (const [fact, { delay = minutes(1), peer = {}, watched, ...rest }] of Object.entries(delays)) {
  test(`decide() in partition mode: the delay ${fact}`, () => {
    const snapshot = {
      ...zones({ b: { pods: { 0: peer } } }),
      ...(watched !== undefined && { watched }),
    };
    const bed = new BudgetBed(budget({ mode: partitions(delay) }), snapshot);
    for (const slot of rest.after ?? []) assert.equal(bed.ask(slot), 'allowed');
    assert.equal(bed.ask(rest.asks ?? 'a-0'), rest.answer);
  });
}

test('decide() in partition mode lets the delay run from when the pod is back [zpdb 108]', () => {
  const mode = partitions(seconds(15));
  const bed = new BudgetBed(budget({ mode }), zones());
  assert.equal(bed.ask('a-0'), 'allowed');
  bed.now = after(T0, seconds(30));
  bed.snapshot = zones({ a: { pods: { 0: { uid: 'newer-uid', readySince: bed.now } } } });
  assert.equal(bed.ask('b-0'), notReady);
  bed.now = after(T0, seconds(46));
  assert.equal(bed.ask('b-0'), 'allowed');
});

test('decide() says when the delay is over, to the millisecond', () => {
  const mode = partitions(minutes(1));
  const bed = new BudgetBed(budget({ mode }), zones({ b: { pods: { 0: { readySince: T0 } } } }));
  const [answer] = bed.decide({ requests: [request('a-0')] }).answers;
  assert.equal(
    answer?.kind === 'denied' && answer.denial.kind === 'disturbed' && answer.denial.until,
    T0 + 60_001,
  );
  bed.now = after(T0, millis(60_000));
  assert.equal(bed.ask('a-0'), notReady);
  bed.now = after(T0, millis(60_001));
  assert.equal(bed.ask('a-0'), 'allowed');
});

test('standingOf() tells which notes of when a pod became ready it passes over', () => {
  const mode = partitions(minutes(1));
  const bed = new BudgetBed(budget({ mode }), zones({ b: { pods: { 0: { readyTime: 'soon' } } } }));
  const { problems } = bed.standing();
  assert.deepEqual(problems, [
    {
      path: 'metadata.annotations["grafana.com/ready-time"] of pod ingester-zone-b-0',
      message: 'must be an RFC 3339 time such as "2026-01-31T12:00:00Z": got "soon"',
    },
  ]);
});
