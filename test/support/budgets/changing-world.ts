import { assertNever } from '#base/assert-never.ts';
import { seconds } from '#base/units.ts';
import { T0 } from '../objects/views.ts';
import type { ModelRequest, World, WorldPod, WorldSet } from '../oracles/disruption-model.ts';
import type { Asked, Beginning, Place, Step } from './disruption-history.ts';

/** A world that steps change. */
export class ChangingWorld {
  world: World;
  /** Which term leads, and whether all before it is over. */
  leader = { term: 'term-0', arePredecessorsOver: false };
  #terms = 0;
  #uids = 0;

  constructor({ replicas, minReady }: Beginning) {
    const sets = replicas.map((wanted, index): WorldSet => {
      const name = `ingester-zone-${'abc'.charAt(index)}`;
      const pods = Array.from({ length: wanted }, (_, ordinal): [number, WorldPod] => [
        ordinal,
        this.#pod('ready', T0 - 3_600_000),
      ]);
      return {
        name,
        wanted,
        counted: wanted,
        minReady,
        pods: new Map(pods),
        arePodsReadable: true,
      };
    });
    this.world = { now: T0, sets };
  }

  /** Does what `step` says; nothing for those that ask. */
  take(step: Step): void {
    switch (step.do) {
      case 'ask':
      case 'take-back':
        return;
      case 'pass':
        this.world = { ...this.world, now: this.world.now + seconds(step.seconds) };
        return;
      case 'new-term':
        this.#terms += 1;
        this.leader = { term: `term-${this.#terms}`, arePredecessorsOver: step.isOver };
        return;
      case 'heal':
        for (const letter of 'abc') this.#change(letter, (set) => this.#healed(set));
        return;
      case 'scale':
      case 'observe':
      case 'read':
        return this.#change(step.zone, (set) => setChange(step, set));
      default:
        return this.#changePod(step, (pod) => this.#podAfter(step, pod));
    }
  }

  /** Returns the pod that is where `pod` was. */
  #podAfter(
    step: Extract<Step, { do: 'set-state' | 'remove' | 'replace' }>,
    pod: WorldPod | undefined,
  ): WorldPod | undefined {
    const { now } = this.world;
    switch (step.do) {
      case 'remove':
        return undefined;
      case 'replace':
        return { ...this.#pod(step.state, now), notedAt: step.isNoted ? now + 5_000 : undefined };
      case 'set-state': {
        // A pod that is going does not come back.
        if (pod === undefined || pod.state === 'terminating') return pod;
        const isBack = step.state === 'ready' && pod.state !== 'ready';
        return { ...pod, state: step.state, readyAt: isBack ? now : pod.readyAt };
      }
      default:
        return assertNever(step);
    }
  }

  /** Returns the request that `asked` makes of this world. */
  request({ zone, ordinal, by, override, isDryRun, isStale }: Asked): ModelRequest {
    const set = `ingester-zone-${zone}`;
    const pod = this.world.sets.find(({ name }) => name === set)?.pods.get(ordinal);
    const uid = isStale || pod === undefined ? `no-uid-of-${zone}-${ordinal}` : pod.uid;
    return { set, ordinal, uid, by, term: this.leader.term, override, isDryRun };
  }

  #healed({ wanted, pods }: WorldSet): Partial<WorldSet> {
    const { now } = this.world;
    const healthy = Array.from({ length: wanted }, (_, ordinal): [number, WorldPod] => {
      const pod = pods.get(ordinal);
      return [ordinal, pod?.state === 'ready' ? pod : this.#pod('ready', now)];
    });
    return { pods: new Map(healthy), counted: wanted, arePodsReadable: true };
  }

  #pod(state: WorldPod['state'], readyAt: number): WorldPod {
    this.#uids += 1;
    return { uid: `uid-${this.#uids}`, state, readyAt, notedAt: undefined };
  }

  #change(zone: string, change: (set: WorldSet) => Partial<WorldSet>): void {
    const sets = this.world.sets.map((set) =>
      set.name === `ingester-zone-${zone}` ? { ...set, ...change(set) } : set,
    );
    this.world = { ...this.world, sets };
  }

  #changePod(
    { zone, ordinal }: Place,
    change: (pod: WorldPod | undefined) => WorldPod | undefined,
  ): void {
    this.#change(zone, ({ pods }) => {
      const next = new Map(pods);
      const pod = change(pods.get(ordinal));
      next.delete(ordinal);
      if (pod !== undefined) next.set(ordinal, pod);
      return { pods: next };
    });
  }
}

function setChange(
  step: Extract<Step, { do: 'scale' | 'observe' | 'read' }>,
  { pods, arePodsReadable }: WorldSet,
): Partial<WorldSet> {
  switch (step.do) {
    case 'scale':
      return { wanted: step.to };
    case 'observe':
      return { counted: pods.size };
    case 'read':
      return { arePodsReadable: !arePodsReadable };
    default:
      return assertNever(step);
  }
}
