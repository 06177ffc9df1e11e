import type { GroupBudgets } from '../budget/group-budgets.ts';
import type { ConsistentReads } from '../consistent-read/consistent-reads.ts';
import { because } from '../decision/refs.ts';
import { groupScope } from '../watch/group-sets.ts';
import {
  isUnderWay,
  nextProbeOf,
  probe,
  stalenessOf,
  type WatchedViews,
} from '../watch/watched-views.ts';
import type { Need } from './group-capability.ts';
import type { Look } from './look.ts';
import { lackingIn } from './plan-permissions.ts';
import { type DemandPorts, disrupts, type Unproven, unprovenFor } from './proof-demand.ts';

/** What seeing to the needs of a plan goes through. */
export interface SecurePorts extends WatchedViews, DemandPorts {
  readonly reads: ConsistentReads;
  readonly budgets: GroupBudgets;
}

type Question = Look;

const wholeGroup = { pods: true, statefulSets: true };

/** Names what every disruption needs: a view that is proven. No capability is called like this. */
export const view = 'the view';

/** Names what a disruption under a budget needs besides: its reservation. No capability is called like this. */
export const ledger = 'the ledger';

/** A need, and what it is of: a capability, by its name, the {@link view} or the {@link ledger}. */
export interface Missing {
  readonly need: Need;
  readonly of: string;
}

/**
 * Returns what has to be read or settled before the plan may be acted on; undefined when nothing is missing. One is seen to,
 * and then all is looked at again; the needs of capabilities that are passed over, and may not disrupt, are none.
 */
export function needsOf(
  question: Question,
  ports: SecurePorts,
  isPassedOver: (name: string) => boolean,
): Missing | undefined {
  const { moment, planned } = question;
  for (const { capability, plan } of planned.parts) {
    if (isPassedOver(capability.name)) continue;
    const need = capability.needs?.(moment, plan);
    if (need !== undefined) return { need, of: capability.name };
  }
  const need = ofProof(question, ports);
  if (need !== undefined) return { need, of: view };
  const reservation = ofReservation(question, ports);
  return reservation === undefined ? undefined : { need: reservation, of: ledger };
}

/** All that the plan lacks is asked for at once, so that it shares one write a budget. */
function ofReservation(
  { plan, unpermitted }: Question,
  { budgets }: SecurePorts,
): Need | undefined {
  const lacking = lackingIn(plan, unpermitted);
  if (lacking.length === 0) return undefined;
  return {
    what: 'the reservation of pods in the ledger of their disruption budget',
    unmet: because(
      'BudgetUnclear',
      'the ledger of the disruption budget over the pods has changed each time that it was asked',
    ),
    fulfil: (signal) => budgets.ask(lacking, signal),
  };
}

/** A plan that disrupts rests on a view that is proven; what is not is read (D-3, D-4, D-51). */
function ofProof({ moment, plan }: Question, ports: SecurePorts): Need | undefined {
  if (!disrupts(plan)) return undefined;
  const unproven = unprovenFor(plan, moment, ports);
  if (unproven === undefined) return undefined;
  return {
    what: `the list of ${named(unproven)}`,
    unmet: because(
      'ViewNotFresh',
      `the list of ${named(unproven)} took so long that what it shows is older than 10 s`,
    ),
    fulfil: async (signal) => {
      const cached = moment.sets.map(({ set }) => set);
      await Promise.all([
        ports.reads.read(groupScope(moment.key), { wish: unproven, cached }, signal),
        unproven.budgets ? ports.budgets.look(moment.key, signal) : undefined,
      ]);
    },
  };
}

/**
 * Returns what a group asks for that is under way, and of which nothing was heard for long: does the server still answer
 * (D-54)? Where the caches are known not to be kept up to date, the group itself is read: it does not wait for watches that are silent
 * while reads are answered. Once a pass at most, before it looks: what disrupts rests on a proof of its own.
 */
export function signOfLife(
  { moment, plan }: Pick<Question, 'moment' | 'plan'>,
  ports: WatchedViews & Pick<SecurePorts, 'reads'>,
): Need | undefined {
  if (disrupts(plan) || !isUnderWay(plan)) return undefined;
  if (moment.monotonic < nextProbeOf(ports)) return undefined;
  return {
    what: 'a sign of life from the API server, which has shown nothing for 20 s',
    fulfil: async (signal) => {
      const isStale = stalenessOf(ports) !== undefined;
      await probe(ports, signal);
      if (!isStale || stalenessOf(ports) === undefined) return;
      const cached = moment.sets.map(({ set }) => set);
      await ports.reads.read(groupScope(moment.key), { wish: wholeGroup, cached }, signal);
    },
  };
}

function named({ pods, statefulSets, budgets }: Unproven): string {
  const names = [
    ...(statefulSets ? ['its StatefulSets'] : []),
    ...(pods ? ['their pods'] : []),
    ...(budgets ? ['disruption budgets'] : []),
  ];
  return names.join(' and ');
}
