import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Arbitrary,
  array,
  assert as assertProperty,
  boolean,
  constant,
  constantFrom,
  integer,
  oneof,
  option,
  property,
  record,
} from 'fast-check';
import { after, type Instant, instant, type Monotonic, millis, monotonic } from '#base/units.ts';
import type { Decision, Plan } from '#control/decision/decision.ts';
import { T0 } from '#support/objects/views.ts';
import { assertPlain, deepFreeze } from '#support/plain-data.ts';
import {
  coordination,
  delays,
  follows,
  mirrors,
  REFERENCE,
  reference,
  type ZoneSpec,
} from '#support/rollouts/coordination.ts';
import type { PodPreparation } from './delayed-downscale/delayed-downscale-snapshot.ts';
import { planCoordination } from './plan.ts';
import type { CoordinationSnapshot, Preparations } from './snapshot.ts';

const HOUR = 3_600_000;
const zones = ['a', 'b', 'c', 'd', 'e'] as const;
type Zone = (typeof zones)[number];

/** a leads, b follows it, c follows b and waits for it, d and e mirror, d with a delay; b, c and d know the minimum time. */
const sources: Readonly<Record<Zone, Readonly<Record<string, string>>>> = {
  a: {},
  b: follows('a'),
  c: follows('b', { 'rollout-upscale-only-when-leader-ready': 'true' }),
  d: mirrors(delays()),
  e: mirrors(),
};

type Step =
  | { readonly kind: 'user-scales'; readonly zone: Zone; readonly to: number }
  | { readonly kind: 'hpa'; readonly to: number }
  | { readonly kind: 'force'; readonly zone: Zone; readonly to: number | undefined }
  | { readonly kind: 'reference-fails'; readonly fails: boolean }
  | { readonly kind: 'pods-answer'; readonly due: number }
  | { readonly kind: 'pods-settle' }
  | { readonly kind: 'time'; readonly hours: number };

const count = integer({ min: 0, max: 6 });
const zone = constantFrom(...zones);
const step: Arbitrary<Step> = oneof(
  record({ kind: constant('user-scales' as const), zone, to: count }),
  record({ kind: constant('hpa' as const), to: count }),
  record({
    kind: constant('force' as const),
    zone,
    to: option(count, { nil: undefined }),
  }),
  record({ kind: constant('reference-fails' as const), fails: boolean() }),
  record({ kind: constant('pods-answer' as const), due: count }),
  record({ kind: constant('pods-settle' as const) }),
  record({ kind: constant('time' as const), hours: integer({ min: 0, max: 20 }) }),
);

/** A group whose API server, autoscaler, pods and webhook are a few variables. */
class Model {
  now: Instant = T0;
  readonly #replicas = new Map<Zone, number>(zones.map((each) => [each, 3]));
  /** `status.replicas`: what the StatefulSet controller has got to. */
  readonly #current = new Map<Zone, number>(zones.map((each) => [each, 3]));
  readonly #forced = new Map<Zone, number>();
  readonly #downscaled = new Map<Zone, Instant>();
  #wanted = 3;
  #reported = 3;
  #isUnreadable = false;
  /** Pods of d from this ordinal on may go. */
  #due = 0;

  take(step: Step): void {
    if (step.kind === 'user-scales') this.#scale(step.zone, step.to);
    if (step.kind === 'hpa') this.#wanted = step.to;
    if (step.kind === 'reference-fails') this.#isUnreadable = step.fails;
    if (step.kind === 'pods-answer') this.#due = step.due;
    if (step.kind === 'time') this.now = after(this.now, millis(step.hours * HOUR));
    if (step.kind === 'pods-settle') this.settle();
    if (step.kind === 'force') this.#force(step.zone, step.to);
  }

  #force(zone: Zone, to: number | undefined): void {
    if (to === undefined) this.#forced.delete(zone);
    else this.#forced.set(zone, to);
  }

  /** The StatefulSet controller has done what it has to. */
  settle(): void {
    for (const [each, replicas] of this.#replicas) this.#current.set(each, replicas);
  }

  plan(): Plan {
    return planCoordination(this.snapshot(), this.now);
  }

  /** Carries out what `plan` says. @returns how many writes that were */
  apply({ decisions }: Plan): number {
    const writes = decisions.filter(({ kind }) => kind === 'scale' || kind === 'write-back');
    for (const write of writes) {
      if (write.kind === 'scale') this.#scale(zoneNamed(write), write.to);
      if (write.kind === 'write-back') this.#reported = write.replicas;
    }
    return writes.length;
  }

  /** Zones that are not where their source wants them. */
  unsettled(): readonly Zone[] {
    return zones.filter((each) => this.#wish(each) !== this.#replicas.get(each));
  }

  /** Zones but `zone` whose pods are still on their way to what their replicas say. */
  leavingBut(zone: Zone): readonly Zone[] {
    return zones.filter(
      (each) => each !== zone && (this.#current.get(each) ?? 0) > (this.#replicas.get(each) ?? 0),
    );
  }

  #wish(zone: Zone): number | undefined {
    if (zone === 'a') return this.#replicas.get('a');
    const source = zone === 'b' ? 'a' : 'b';
    const own = zone === 'd' || zone === 'e' ? this.#wanted : this.#replicas.get(source);
    return this.#forced.get(zone) ?? own;
  }

  #scale(zone: Zone, to: number): void {
    if (to < (this.#replicas.get(zone) ?? 0)) this.#downscaled.set(zone, this.now);
    this.#replicas.set(zone, to);
  }

  snapshot(): CoordinationSnapshot {
    const specs = Object.fromEntries(zones.map((each) => [each, this.#spec(each)]));
    const state = this.#isUnreadable
      ? ({ kind: 'unreadable', message: 'it fails' } as const)
      : reference(this.#wanted, this.#reported);
    return coordination(specs, {
      takenAt: this.#takenAt(),
      references: new Map([[REFERENCE, state]]),
      preparations: new Map([['ingester-zone-d-uid', [this.#preparations()]]]),
    });
  }

  #spec(zone: Zone): ZoneSpec {
    const forced = this.#forced.get(zone);
    const downscaled = this.#downscaled.get(zone);
    const replicas = this.#replicas.get(zone) ?? 0;
    const current = this.#current.get(zone) ?? 0;
    return {
      replicas,
      current,
      ready: Math.min(current, replicas),
      labels:
        zone === 'b' || zone === 'c' || zone === 'd'
          ? { 'min-time-between-zones-downscale': '5h' }
          : {},
      annotations: {
        ...sources[zone],
        ...(forced === undefined ? {} : { 'rollout-force-replicas': String(forced) }),
        ...(downscaled === undefined
          ? {}
          : { 'last-downscale': new Date(downscaled).toISOString() }),
      },
    };
  }

  #takenAt(): Monotonic {
    return monotonic(this.now);
  }

  /** Pods of d are asked for ever, or due by an answer that is not waited on; those that stay were told so. */
  #preparations(): Preparations {
    const wanted = this.#forced.get('d') ?? this.#wanted;
    const asked: PodPreparation = { calling: 'POST', state: { kind: 'unknown' } };
    const stays: PodPreparation = {
      calling: undefined,
      state: { kind: 'cancelled', repeatAt: undefined },
    };
    const slots = Array.from({ length: 7 }, (_, ordinal) => {
      const goes = ordinal >= this.#due ? this.#dueSlot(ordinal) : asked;
      return [ordinal, ordinal < wanted ? stays : goes] as const;
    });
    return { url: 'http://pod/prepare', slots: new Map(slots) };
  }

  #dueSlot(ordinal: number): PodPreparation {
    const uid = `ingester-zone-d-${ordinal}-uid`;
    const since = after(T0, millis(-10 * HOUR));
    const answeredAt = monotonic(this.#takenAt() - 3_000);
    const heard = { elapsedThen: millis(10 * HOUR) };
    return { calling: undefined, state: { kind: 'prepared', uid, since, ...heard, answeredAt } };
  }
}

function zoneNamed({ set }: Decision): Zone {
  const found = zones.find((each) => set.name === `ingester-zone-${each}`);
  assert.ok(found);
  return found;
}

/** Passes until nothing is written any more, and no time is waited for. */
function runOut(model: Model): Plan {
  for (let pass = 0; pass < 200; pass += 1) {
    const plan = model.plan();
    const writes = model.apply(plan);
    model.settle();
    if (writes > 0) continue;
    if (plan.requeue.kind === 'await-change') return plan;
    model.now = instant(Math.max(model.now, plan.requeue.at));
  }
  return assert.fail('the group never came to rest');
}

test('any interleaving of users, autoscaler, timers and answers ends at rest, and what is not as wanted says why', () => {
  assertProperty(
    property(array(step, { maxLength: 40 }), (steps) => {
      const model = new Model();
      for (const each of steps) {
        model.take(each);
        const plan = model.plan();
        assert.ok(plan.decisions.filter(({ kind }) => kind === 'scale').length <= 1);
        model.apply(plan);
      }
      model.settle();
      const end = runOut(model);
      const held = new Set(
        end.decisions.filter(({ kind }) => kind === 'hold').map((each) => zoneNamed(each)),
      );
      for (const each of model.unsettled()) assert.ok(held.has(each), `${each} says nothing`);
      assert.equal(model.apply(model.plan()), 0);
    }),
    { numRuns: 400 },
  );
});

test('one set at a time shrinks, whatever happens: none while another is still on its way (EXCL-1)', () => {
  assertProperty(
    property(array(step, { maxLength: 40 }), (steps) => {
      const model = new Model();
      for (const each of steps) {
        model.take(each);
        const plan = model.plan();
        const down = plan.decisions.find((each) => each.kind === 'scale' && each.takes > 0);
        const others = down === undefined ? [] : model.leavingBut(zoneNamed(down));
        assert.deepEqual(others, []);
        model.apply(plan);
      }
    }),
    { numRuns: 400 },
  );
});

test('planCoordination() says the same of the same plain data, and changes none of it', () => {
  assertProperty(
    property(array(step, { maxLength: 40 }), (steps) => {
      const model = new Model();
      for (const each of steps) {
        model.take(each);
        const snapshot = model.snapshot();
        assertPlain(snapshot, 'snapshot');
        const frozen = deepFreeze(snapshot);
        const first = planCoordination(frozen, model.now);
        assert.deepEqual(planCoordination(frozen, model.now), first);
        assertPlain(first, 'plan');
        model.apply(first);
      }
    }),
    { numRuns: 100 },
  );
});
