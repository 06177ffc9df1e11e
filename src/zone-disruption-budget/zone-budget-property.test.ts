/** Answers and numbers, held against a model that answers one eviction after the other (BUDG-2, BUDG-3, BUDG-5). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { instant } from '#base/units.ts';
import { heldIn } from '#disruption/decision/decide.ts';
import type { PodView } from '#statefulset/view.ts';
import { BudgetBed } from '#support/budgets/budgeted-zones.ts';
import { labels } from '#support/budgets/zone-budgets.ts';
import { podView, statefulSetView, T0 } from '#support/objects/views.ts';
import {
  ZoneBudgetModel,
  type ZonedSlot,
  type ZonedWorld,
} from '#support/oracles/zone-budget-model.ts';
import { judgedZoneBudget } from './ledger/judged-budget.ts';
import { governedPods } from './snapshot.ts';
import { parseZoneBudget } from './spec/parse-zone-budget.ts';
import { projectStatus } from './status/project-status.ts';
import type { ZoneBudgetStatus } from './status.ts';

type State = NonNullable<ZonedSlot['pod']>['state'];
type Limit = number | `${number}%`;

interface Beginning {
  readonly limit: Limit;
  /** Replicas of each set. */
  readonly replicas: readonly number[];
  /** How many pods nothing controls. */
  readonly alone: number;
  /** Zones of the slots in their order, repeated. */
  readonly zones: readonly (string | undefined)[];
}

type Step =
  | { readonly do: 'ask'; readonly slot: number; readonly isDryRun: boolean }
  | { readonly do: 'become'; readonly slot: number; readonly state: State | 'missing' }
  | { readonly do: 'made-again'; readonly slot: number; readonly state: State }
  | { readonly do: 'forget-zone'; readonly slot: number }
  | { readonly do: 'wait'; readonly span: number };

const limits = fc.oneof(
  fc.integer({ min: -1, max: 4 }),
  fc.integer({ min: -20, max: 130 }).map((percent): Limit => `${percent}%`),
);
const beginnings: fc.Arbitrary<Beginning> = fc.record({
  limit: limits,
  replicas: fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 3 }),
  alone: fc.integer({ min: 0, max: 2 }),
  zones: fc.array(fc.constantFrom('a', 'a', 'b', 'b', 'c', 'c', undefined), {
    minLength: 1,
    maxLength: 8,
  }),
});

const slots = fc.integer({ min: 0, max: 19 });
const states = fc.constantFrom<State[]>('ready', 'ready', 'not-ready', 'terminating');
const ask = fc.record({ do: fc.constant('ask' as const), slot: slots, isDryRun: fc.boolean() });
const histories: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: ask },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('become' as const),
        slot: slots,
        state: fc.oneof(states, fc.constant('missing' as const)),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('made-again' as const), slot: slots, state: states }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('forget-zone' as const), slot: slots }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('wait' as const),
        span: fc.constantFrom(1, 29_999, 30_000, 119_999, 120_000),
      }),
    },
  ),
  { maxLength: 30 },
);

/** The world as it is now, the operator's ledger over it, and the model. */
class Stage {
  readonly model: ZoneBudgetModel;
  readonly #bed: BudgetBed;
  readonly #replicas: readonly number[];
  world: ZonedWorld;
  #made = 0;

  constructor({ limit, replicas, alone, zones }: Beginning) {
    this.model = new ZoneBudgetModel(limit);
    this.#replicas = replicas;
    const ofSets = replicas.flatMap((count, set) =>
      Array.from({ length: count }, (_, ordinal) => ({
        name: `set${set}-${ordinal}`,
        isOfSet: true,
      })),
    );
    const others = Array.from({ length: alone }, (_, at) => ({
      name: `alone-${at}`,
      isOfSet: false,
    }));
    this.world = {
      now: T0,
      total: ofSets.length,
      slots: [...ofSets, ...others].map((slot, at) => ({
        ...slot,
        zone: zones[at % zones.length],
        pod: { uid: `${slot.name}-uid`, state: 'ready' },
      })),
    };
    const parsed = parseZoneBudget({
      spec: { selector: { matchLabels: labels }, maxUnavailable: limit },
    });
    assert.ok(parsed.kind === 'valid');
    const ref = { namespace: 'test', name: 'web', uid: 'zdb' };
    const zoneOf = (name: string): string | undefined =>
      this.world.slots.find((slot) => slot.name === name)?.zone;
    this.#bed = new BudgetBed(judgedZoneBudget(ref, parsed.spec, zoneOf));
    this.#look();
  }

  /** @returns the name of the slot that is asked for; undefined where nothing is */
  take(step: Step): string | undefined {
    if (step.do === 'wait') {
      this.world = { ...this.world, now: this.world.now + step.span };
      this.#look();
      return undefined;
    }
    const slot = this.world.slots[step.slot % Math.max(1, this.world.slots.length)];
    if (slot === undefined) return undefined;
    if (step.do === 'ask') return slot.name;
    this.#change(slot, step);
    return undefined;
  }

  /** Whether the pod of the slot `name` is given away. */
  ask(name: string, isDryRun: boolean): boolean {
    const slot = this.world.slots.find((each) => each.name === name);
    const controllerUid = slot?.isOfSet === true ? `${setOf(name)}-uid` : undefined;
    const pod = { name, uid: slot?.pod?.uid ?? 'none', controllerUid };
    const request = { pod, asking: { by: 'eviction' }, isDryRun } as const;
    return this.#bed.decide({ requests: [request] }).answers[0]?.kind === 'allowed';
  }

  given(): readonly string[] {
    return [...this.#bed.ledger.reservations.keys()];
  }

  status(): ZoneBudgetStatus {
    const standing = this.#bed.standing();
    const moment = { now: this.#bed.now };
    const held = heldIn(this.#bed.ledger, standing, moment);
    const status = projectStatus({ standing, held, moment, generation: 1 });
    assert.ok(status !== undefined);
    return status;
  }

  #change(slot: ZonedSlot, step: Exclude<Step, { do: 'ask' | 'wait' }>): void {
    const next = this.#next(slot, step);
    // Where nothing makes a pod again, its place goes with it.
    const isGone = !next.isOfSet && next.pod === undefined;
    this.world = {
      ...this.world,
      slots: this.world.slots.flatMap((each) => {
        if (each !== slot) return each;
        return isGone ? [] : next;
      }),
    };
    this.#look();
  }

  #next(slot: ZonedSlot, step: Exclude<Step, { do: 'ask' | 'wait' }>): ZonedSlot {
    switch (step.do) {
      case 'forget-zone':
        return { ...slot, zone: undefined };
      case 'made-again':
        this.#made += 1;
        return { ...slot, pod: { uid: `${slot.name}-uid-${this.#made}`, state: step.state } };
      case 'become':
        if (step.state === 'missing' || slot.pod === undefined) return { ...slot, pod: undefined };
        return { ...slot, pod: { ...slot.pod, state: step.state } };
      default:
        return step satisfies never;
    }
  }

  #look(): void {
    const pods = this.world.slots.flatMap(podOf);
    const sets = this.#replicas.map((replicas, set) =>
      statefulSetView({
        name: `set${set}`,
        spec: { replicas, templateLabels: labels },
        status: { replicas },
      }),
    );
    this.#bed.now = instant(this.world.now);
    this.#bed.snapshot = governedPods([], { pods, sets }).snapshot;
    this.#bed.decide();
  }
}

function setOf(name: string): string {
  return name.slice(0, name.lastIndexOf('-'));
}

function podOf({ name, isOfSet, pod }: ZonedSlot): readonly PodView[] {
  if (pod === undefined) return [];
  const { uid, state } = pod;
  const controllerUid = isOfSet ? `${setOf(name)}-uid` : undefined;
  return [
    podView({
      name,
      uid,
      controllerUid,
      labels,
      isTerminating: state === 'terminating',
      ...(state === 'not-ready' && { readySince: undefined }),
    }),
  ];
}

test('a ZoneDisruptionBudget answers every history as the sequential model does', () => {
  const answered = { allowed: 0, denied: 0 };
  fc.assert(
    fc.property(beginnings, histories, (beginning, steps) => {
      const stage = new Stage(beginning);
      for (const step of steps) {
        const name = stage.take(step);
        stage.model.release(stage.world);
        if (name === undefined || step.do !== 'ask') continue;
        const wanted = stage.model.ask(name, step.isDryRun, stage.world);
        assert.equal(stage.ask(name, step.isDryRun), wanted);
        assert.deepEqual(stage.given(), stage.model.given());
        answered[wanted ? 'allowed' : 'denied'] += 1;
      }
    }),
    { numRuns: 400 },
  );
  // Otherwise the histories are poor, and show nothing.
  assert.ok(answered.allowed > 200 && answered.denied > 200, JSON.stringify(answered));
});

test('projectStatus() shows of each zone how many healthy pods the model still gives of it', () => {
  fc.assert(
    fc.property(beginnings, histories, (beginning, steps) => {
      const stage = new Stage(beginning);
      for (const step of steps) {
        const name = stage.take(step);
        stage.model.release(stage.world);
        if (name === undefined || step.do !== 'ask') continue;
        stage.model.ask(name, step.isDryRun, stage.world);
        stage.ask(name, step.isDryRun);
      }
      const { world, model } = stage;
      const status = stage.status();
      const zones = new Set(world.slots.flatMap((slot) => model.zoneOf(slot) ?? []));
      assert.deepEqual(new Set(status.expectedPods.keys()), zones);
      for (const zone of zones) {
        const there = world.slots.filter((slot) => model.zoneOf(slot) === zone);
        const healthy = there.filter((slot) => !model.isDisturbed(slot));
        assert.equal(status.currentHealthy.get(zone), healthy.length);
        assert.equal(status.currentUnhealthy.get(zone), there.length - healthy.length);
        const more = model.clone();
        const allowed = healthy.filter((slot) => more.ask(slot.name, false, world));
        assert.equal(status.disruptionsAllowed.get(zone), allowed.length);
      }
      const expected = [...status.expectedPods.values()].reduce((sum, count) => sum + count, 0);
      const known = world.slots.filter((slot) => model.zoneOf(slot) !== undefined).length;
      if (zones.size > 0) assert.equal(expected, Math.max(known, world.total));
    }),
    { numRuns: 400 },
  );
});
