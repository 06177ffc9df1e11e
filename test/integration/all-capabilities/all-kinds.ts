/** All kinds of resources by which a set may be named, beside the label of a group: one line a kind (D-63). */
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#support/world/world.ts';
import { createCarrier, deleteCarrier, installCarriers } from './all-rollouts-stage.ts';
import {
  createRollout,
  deleteRollout,
  installRollouts,
  messagesOf,
  phaseOf,
  readyMessage,
} from './all-stage.ts';
import { createUpdate, deleteUpdate, installZones, updateCondition } from './all-zones-stage.ts';

/** A kind, and one resource of it. */
export interface NamingKind {
  /** As conflicts call the resource. */
  readonly named: string;
  readonly plural: string;
  /** Lets such resources be made. */
  install(world: World): Promise<void>;
  /** Makes the resource, which names `set`. */
  create(world: World, set: string): Promise<void>;
  remove(world: World): Promise<void>;
  /** What it says of those that name its set, too; empty where it says nothing. */
  contest(world: World): string;
}

const { phasedRollouts, zoneAwareUpdates, statefulsetRollouts } = resourceTypes;

/** See the head of the file. */
export const namingKinds = {
  PhasedRollout: {
    named: 'PhasedRollout pr1',
    plural: phasedRollouts.plural,
    install: installRollouts,
    create: (world, set) => createRollout(world, set),
    remove: (world) => deleteRollout(world),
    contest: (world) => {
      const isContested = phaseOf(world) === 'ErrorCannotManage';
      return isContested && readyMessage(world).includes(' is left alone')
        ? readyMessage(world)
        : '';
    },
  },
  ZoneAwareUpdate: {
    named: 'ZoneAwareUpdate zau',
    plural: zoneAwareUpdates.plural,
    install: installZones,
    create: (world, set) => createUpdate(world, set),
    remove: deleteUpdate,
    contest: (world) => {
      const [, message = ''] = updateCondition(world).split('ConflictingOwners: ');
      return message;
    },
  },
  StatefulsetRollout: {
    named: 'StatefulsetRollout sr',
    plural: statefulsetRollouts.plural,
    install: installCarriers,
    create: (world, set) => createCarrier(world, set),
    remove: deleteCarrier,
    contest: (world) => messagesOf(world, 'sr', 'ConflictingOwners').at(-1) ?? '',
  },
} satisfies Readonly<Record<string, NamingKind>>;

/** What each says of a set that `others` name, too. */
export function movedByNobody(set: string, others: string): string {
  return `${set} is left alone, as ${others} would move it, too`;
}
