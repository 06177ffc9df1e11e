/** What holds of a ledger whatever happens, held against a model that answers one request after the other (BUDG-3). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { textOf } from '#support/budgets/budgeted-zones.ts';
import {
  type Asked,
  type Beginning,
  beginnings,
  histories,
  requestOf,
} from '#support/budgets/disruption-history.ts';
import { Play, play } from '#support/budgets/ledger-play.ts';
import {
  isAvailable,
  type ModelRequest,
  SequentialModel,
  type World,
} from '#support/oracles/disruption-model.ts';
import { formatLedger } from './format-ledger.ts';
import type { Ledger } from './ledger.ts';

function heldBy({ reservations }: Ledger): readonly string[] {
  return [...reservations.values()].map(({ uid, claims }) => {
    const askers = claims.map(({ by }) => by).toSorted();
    return `${uid} ${askers.join('+')}`;
  });
}

const runs = { numRuns: 60 };

test('decide() answers every history as the sequential model does (BUDG-3, BUDG-4)', () => {
  const answered = new Map<string, number>();
  fc.assert(
    fc.property(beginnings, histories, (beginning, steps) => {
      const model = new SequentialModel(beginning.budget);
      play(beginning, steps, ({ play: stage, step }) => {
        const requests = stage.requests(step);
        const { term, arePredecessorsOver } = stage.leader;
        const over = arePredecessorsOver ? term : undefined;
        model.release(stage.world, { over, leading: term, dropped: stage.dropped });
        const wanted = requests.map((request) => model.ask(request, stage.world));
        const { answers } = stage.decide(requests.map(requestOf));
        assert.deepEqual(answers.map(textOf), wanted);
        assert.deepEqual(heldBy(stage.ledger), model.held());
        for (const text of wanted) {
          const kind = text.replaceAll(/\d+|ingester-zone-\w/g, '…').replaceAll('pods', 'pod');
          answered.set(kind, (answered.get(kind) ?? 0) + 1);
        }
      });
    }),
    { numRuns: 250 },
  );
  // Otherwise the histories are poor, and show nothing.
  for (const kind of [
    'allowed',
    'max unavailable = …',
    '… pod not ready in …',
    '… pod unknown in …',
    '… pod not ready, … pod unknown in …',
    '… pod not ready in partition …',
    '… pod unknown in partition …',
    '… pod not ready, … pod unknown in partition …',
    'the pod is not among those that are seen',
    'the StatefulSet that owns the pod is not selected',
    'unable to determine pod status in related StatefulSet',
  ]) {
    assert.ok(answered.has(kind), kind);
  }
});

test('decide() comes to the same for a round as for its requests one by one', () => {
  fc.assert(
    fc.property(beginnings, histories, (beginning, steps) => {
      play(beginning, steps, ({ play: stage, step }) => {
        const requests = stage.requests(step).map(requestOf);
        const single = new Play(beginning);
        single.changing.world = stage.world;
        single.changing.leader = stage.changing.leader;
        single.dropped = stage.dropped;
        single.ledger = stage.ledger;
        single.decide([]);
        const one = requests.flatMap((request) => single.decide([request]).answers);
        const { answers } = stage.decide(requests);
        assert.deepEqual(answers, one);
        assert.deepEqual(stage.ledger, single.ledger);
      });
    }),
    runs,
  );
});

/** Slots of a set that are reserved, or have no available pod. */
function takenSlots({ reservations }: Ledger, world: World, set: string): ReadonlySet<string> {
  const taken = new Set<string>();
  for (const { slot } of reservations.values()) if (slot.set === set) taken.add(slot.pod);
  const found = world.sets.find(({ name }) => name === set);
  if (found === undefined) return taken;
  for (let ordinal = 0; ordinal < Math.max(found.wanted, found.counted); ordinal += 1) {
    if (!isAvailable(world, found, ordinal)) taken.add(`${set}-${ordinal}`);
  }
  return taken;
}

test('decide() in zone mode gives away within the limit, of one zone, and counts each slot once (BUDG-2)', () => {
  let granted = 0;
  const inZones = beginnings.filter(({ budget }) => !budget.isPartitioned);
  fc.assert(
    fc.property(inZones, histories, (beginning, steps) => {
      play(beginning, steps, ({ play: stage, step }) => {
        stage.decide([]);
        for (const request of stage.requests(step)) {
          const [answer] = stage.decide([requestOf(request)]).answers;
          const isNew = answer?.kind === 'allowed' && !answer.isRepeated && !request.isDryRun;
          if (!isNew) continue;
          granted += 1;
          const { world, ledger } = stage;
          const zones = world.sets.filter(({ name }) => takenSlots(ledger, world, name).size > 0);
          assert.deepEqual(
            zones.map(({ name }) => name),
            [request.set],
          );
          if (request.by === 'scale-down') continue;
          const own = takenSlots(ledger, world, request.set).size;
          assert.ok(own <= limitIn(beginning, request, world), `${own} of ${request.set}`);
        }
      });
    }),
    runs,
  );
  assert.ok(granted > 10, `${granted}`);
});

/** Worked out in floating point, which is right for the shares that are asked here. */
function limitIn({ budget }: Beginning, { set, override }: ModelRequest, world: World): number {
  const own = world.sets.find(({ name }) => name === set);
  const replicas = Math.min(own?.wanted ?? 0, own?.counted ?? 0);
  const share = (Number(String(budget.limit).replace('%', '')) / 100) * replicas;
  const part = share === 0 ? 0 : Math.max(1, Math.floor(share + 1e-9));
  const limit = typeof budget.limit === 'number' ? budget.limit : part;
  return limit === 0 ? (override ?? 0) : limit;
}

test('decide() in partition mode gives away within the limit of the partition, counted over all zones (BUDG-2)', () => {
  let granted = 0;
  const inPartitions = beginnings.filter(({ budget }) => budget.isPartitioned);
  fc.assert(
    fc.property(inPartitions, histories, (beginning, steps) => {
      play(beginning, steps, ({ play: stage, step }) => {
        stage.decide([]);
        for (const request of stage.requests(step)) {
          const [answer] = stage.decide([requestOf(request)]).answers;
          const isNew = answer?.kind === 'allowed' && !answer.isRepeated && !request.isDryRun;
          if (!isNew || request.by === 'scale-down') continue;
          granted += 1;
          const taken = stage.world.sets.filter(({ name }) =>
            takenSlots(stage.ledger, stage.world, name).has(`${name}-${request.ordinal}`),
          );
          assert.ok(taken.length <= limitIn(beginning, request, stage.world));
        }
      });
    }),
    runs,
  );
  assert.ok(granted > 10, `${granted}`);
});

test('decide() answers a repeated request as before, and counts nothing again (BUDG-5)', () => {
  fc.assert(
    fc.property(beginnings, histories, (beginning, steps) => {
      play(beginning, steps, ({ play: stage, step }) => {
        const requests = stage.requests(step).map(requestOf);
        const { answers } = stage.decide(requests);
        // A scale-down takes what the limit does not count, so that others may be beyond it then.
        if (requests.some(({ asking }) => asking.by === 'scale-down')) return;
        // So may who asks with a greater limit of his own.
        if (requests.some(({ override }) => override !== undefined)) return;
        const allowed = requests.filter(
          ({ isDryRun }, at) => answers[at]?.kind === 'allowed' && isDryRun !== true,
        );
        const again = stage.try([...allowed, ...allowed]);
        assert.ok(again.answers.every((each) => each.kind === 'allowed' && each.isRepeated));
        assert.equal(again.change, 'none');
      });
    }),
    runs,
  );
});

test('decide() changes nothing for dry runs, ever (BUDG-5)', () => {
  const dry = (asked: Asked): Asked => ({ ...asked, isDryRun: true });
  fc.assert(
    fc.property(beginnings, histories, (beginning, steps) => {
      play(beginning, steps, ({ play: stage, step }) => {
        stage.decide(stage.requests(step).map(requestOf));
        if (step.do !== 'ask') return;
        const tried = stage.requests({ ...step, round: step.round.map(dry) }).map(requestOf);
        assert.equal(stage.try(tried).change, 'none');
      });
    }),
    runs,
  );
});

test('decide() says truly what changed', () => {
  fc.assert(
    fc.property(beginnings, histories, (beginning, steps) => {
      play(beginning, steps, ({ play: stage, step }) => {
        const before = stage.ledger;
        const { change, ledger } = stage.decide(stage.requests(step).map(requestOf));
        const isSame = formatLedger(before).digest === formatLedger(ledger).digest;
        assert.equal(change === 'none', isSame);
        if (change !== 'releases') return;
        for (const line of heldBy(ledger)) {
          const [uid = '', askers = ''] = line.split(' ');
          const had = before.reservations.get(uid)?.claims.map(({ by }) => by) ?? [];
          assert.ok(askers.split('+').every((asker) => had.some((each) => each === asker)));
        }
      });
    }),
    runs,
  );
});
