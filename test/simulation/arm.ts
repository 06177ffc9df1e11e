import { millis } from '#base/units.ts';
import type { WatchSession } from '#cluster/watch/watch-session.ts';
import type { World } from '#support/world/world.ts';
import { NAMESPACE } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { type ArmedFault, armHostile, killAndReplace } from './arm-hostile.ts';
import {
  awayFor,
  type EventEffect,
  type Fault,
  isHostile,
  lostFor,
  matchOf,
  type PlainFault,
  staleFor,
} from './fault.ts';

/**
 * Lets `fault` strike in `world`, once. Faults of calls are armed before the first operator starts, those of events
 * when it is ready: that is where their numbers begin.
 */
export function arm(world: World, fault: Fault): ArmedFault {
  return isHostile(fault) ? armHostile(world, fault) : armPlain(world, fault);
}

function armPlain(world: World, fault: PlainFault): ArmedFault {
  switch (fault.kind) {
    case 'answer':
      return armAnswer(world, fault);
    case 'kill':
      return armKill(world, fault);
    case 'pod-kill':
      return armPodKill(world, fault);
    case 'stale':
      return armStale(world, fault);
    case 'event':
      return armEvent(world, fault);
    default:
      return fault satisfies never;
  }
}

function armAnswer(world: World, fault: Extract<Fault, { kind: 'answer' }>): ArmedFault {
  const { faults } = world.cluster;
  const { at, action } = fault;
  faults.add({ match: matchOf(at), nth: at.nth, action });
  return {
    struckAt: () => {
      const [hit] = faults.hits;
      if (hit === undefined) return undefined;
      const { calls } = world.cluster.eventLog;
      return calls.find(({ callId }) => callId === hit.callId)?.startedAt ?? world.clock.now();
    },
  };
}

function armKill(world: World, fault: Extract<Fault, { kind: 'kill' }>): ArmedFault {
  const { faults } = world.cluster;
  const { at, moment } = fault;
  const state: { struckAt?: number } = {};
  const strike = (): void => {
    state.struckAt = world.clock.now();
    killAndReplace(world, at.client);
  };
  if (moment === 'before') faults.beforeWrite(matchOf(at), at.nth, strike);
  else faults.afterWrite(matchOf(at), at.nth, strike);
  return { struckAt: () => state.struckAt };
}

function armPodKill(world: World, fault: Extract<Fault, { kind: 'pod-kill' }>): ArmedFault {
  const { at } = fault;
  const state: { struckAt?: number; seen: number } = { seen: 0 };
  world.onPodCall.add(({ client, method, pod }, moment) => {
    if (moment !== fault.moment || client !== at.client) return;
    if (method !== at.method || pod !== at.pod) return;
    state.seen += 1;
    if (state.seen !== at.nth) return;
    state.struckAt = world.clock.now();
    killAndReplace(world, client);
  });
  return { struckAt: () => state.struckAt };
}

function armStale(world: World, fault: Extract<Fault, { kind: 'stale' }>): ArmedFault {
  const { faults, eventLog } = world.cluster;
  const { at } = fault;
  const state: { struckAt?: number; revision: number } = { revision: 0 };
  faults.beforeWrite(matchOf(at), at.nth, () => {
    state.revision = eventLog.commits.at(-1)?.revision ?? 0;
  });
  faults.afterWrite(matchOf(at), at.nth, () => {
    state.struckAt = world.clock.now();
    const successor = `operator-${world.operators.length + 1}`;
    const release = faults.rewind(successor, state.revision);
    world.clock.timer(millis(awayFor + staleFor), release, { owner: 'end of the past' });
    killAndReplace(world, at.client);
  });
  return { struckAt: () => state.struckAt };
}

// A commit is heard of when watches have its event already: so each event is struck right after the one before it.
function armEvent(world: World, fault: Extract<Fault, { kind: 'event' }>): ArmedFault {
  const { faults, eventLog } = world.cluster;
  const { resource, nth } = fault.at;
  const state: { struckAt?: number; seen: number; sessions: readonly WatchSession[] } = {
    seen: 0,
    sessions: [],
  };
  const relist = (): void => {
    for (const session of faults.watches({ user: OPERATOR_USER, resource })) session.expire();
  };
  const strike = (): void => {
    state.struckAt = world.clock.now();
    state.sessions = faults.watches({ user: OPERATOR_USER, resource });
    for (const session of state.sessions) strikeWatch(session, fault.effect, world);
    if (fault.effect === 'skip') world.clock.timer(lostFor, relist, { owner: 'end of the loss' });
  };
  if (nth === 1) strike();
  eventLog.onCommit((commit) => {
    if (commit.resource !== resource || commit.namespace !== NAMESPACE) return;
    state.seen += 1;
    if (state.seen === nth - 1) strike();
    // A watch that missed an event has shown the next one: it resumes behind both, and never learns of the first.
    if (fault.effect !== 'skip' || state.seen !== nth + 1) return;
    for (const session of state.sessions) {
      world.clock.timer(millis(1), () => session.end(), { owner: 'end of the watch' });
    }
  });
  return { struckAt: () => state.struckAt };
}

function strikeWatch(session: WatchSession, effect: EventEffect, world: World): void {
  switch (effect) {
    case 'break':
      session.break();
      return;
    case 'expire':
      session.expire();
      return;
    case 'garbage':
      session.garbage();
      return;
    case 'split':
      Object.assign(session, { splitter: world.cluster.random.derive('event split') });
      return;
    case 'skip':
      session.skip();
      return;
    default:
      effect satisfies never;
  }
}
