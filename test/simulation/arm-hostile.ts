import { millis } from '#base/units.ts';
import type { World } from '#support/world/world.ts';
import type { KillOptions } from '#support/world/world-operator.ts';
import { strikeChange, strikeHiccup, zoneOf } from './change.ts';
import {
  awayFor,
  type CallPoint,
  changeAfter,
  type Fault,
  type HostileFault,
  lastingBeyondRead,
  lastingChange,
  matchOf,
  slowFor,
} from './fault.ts';

/** A fault that waits in a world. */
export interface ArmedFault {
  /** When it struck; undefined until then. */
  struckAt(): number | undefined;
}

/** Lets `fault` strike in `world`, once. */
export function armHostile(world: World, fault: HostileFault): ArmedFault {
  switch (fault.kind) {
    case 'late-kill':
      return armWrite(world, { at: fault.at, moment: 'beforeWrite' }, () => {
        killAndReplace(world, fault.at.client, { late: fault.late });
      });
    case 'hiccup':
      return armWrite(world, { at: fault.at, moment: 'afterWrite' }, ({ name }) => {
        const zones = fault.where === 'all zones' ? world.zones : [zoneOf(world, name)];
        strikeHiccup(world, zones);
      });
    case 'clock':
      return armWrite(world, { at: fault.at, moment: 'afterWrite' }, () => {
        for (const operator of world.operators) operator.stepWallClock(fault.step);
      });
    case 'pause':
      return armWrite(world, { at: fault.at, moment: 'beforeWrite' }, () => {
        world.operators.find(({ client }) => client === fault.at.client)?.pause(fault.span);
      });
    case 'slow-read':
      return armSlowRead(world, fault);
    case 'change':
      return armChange(world, fault);
    default:
      return fault satisfies never;
  }
}

/** Kills an operator, and starts another one a second later unless the story did. */
export function killAndReplace(world: World, client: string, options?: KillOptions): void {
  world.operators.find((operator) => operator.client === client)?.kill(options);
  world.replaceOperator(awayFor);
}

/** Calls `strike` at the write that `fault` names, and notes when. */
function armWrite(
  world: World,
  { at, moment }: { readonly at: CallPoint; readonly moment: 'beforeWrite' | 'afterWrite' },
  strike: (target: { readonly name: string }) => void,
): ArmedFault {
  const state: { struckAt?: number } = {};
  world.cluster.faults[moment](matchOf(at), at.nth, (target) => {
    state.struckAt = world.clock.now();
    strike(target);
  });
  return { struckAt: () => state.struckAt };
}

function armSlowRead(world: World, fault: Extract<Fault, { kind: 'slow-read' }>): ArmedFault {
  const { faults } = world.cluster;
  const { at, change } = fault;
  const state: { struckAt?: number } = {};
  const action = { kind: 'delay', delay: slowFor } as const;
  faults.add({ match: matchOf(at), nth: at.nth, action });
  faults.onHit.add((hit) => {
    if (hit.rule.action !== action) return;
    state.struckAt = world.clock.now();
    const zone = zoneOf(world, hit.name);
    const strike = (): void => strikeChange(world, { change, zone, lasting: lastingBeyondRead });
    world.clock.timer(changeAfter, strike, { owner: 'change of the world' });
  });
  return { struckAt: () => state.struckAt };
}

// The event of the log leaves right before the request.
function armChange(world: World, fault: Extract<Fault, { kind: 'change' }>): ArmedFault {
  const state: { struckAt?: number; seen: number } = { seen: 0 };
  world.onLog.add(({ message, fields }) => {
    if (message !== 'deleting pod') return;
    state.seen += 1;
    if (state.seen !== fault.nth) return;
    state.struckAt = world.clock.now();
    const zone = zoneOf(world, String(fields['pod']));
    const { change } = fault;
    const strike = (): void => strikeChange(world, { change, zone, lasting: lastingChange });
    world.clock.timer(millis(1), strike, { owner: 'change of the world' });
  });
  return { struckAt: () => state.struckAt };
}
