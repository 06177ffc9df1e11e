/** Kinds at rest, and what others may do to the set of one. */
import type { JsonObject } from '#base/json.ts';
import { minutes } from '#base/units.ts';
import { objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#support/world/world.ts';
import { NAMESPACE } from '#support/world/world-group.ts';
import type { OperatorRun } from '#support/world/world-operator.ts';
import { createCarrier, installCarriers } from './all-rollouts-stage.ts';
import { createDb, createRollout, installRollouts, partitionOf, patchAny } from './all-stage.ts';
import {
  createUpdate,
  createWeb,
  createZoneBudget,
  installZones,
  openZoned,
} from './all-zones-stage.ts';

/** A kind, one resource of it, and its set. */
interface RestingKind {
  readonly set: string;
  /** The resource, as stored; undefined for a group, which has none. */
  readonly stored?: readonly [resource: string, name: string];
  open(world: World): Promise<void>;
  /** What its status says, in short; empty for a group. */
  says(stored: JsonObject | undefined, world: World): string;
}

function condition(stored: JsonObject | undefined, type: string): string {
  const found = objectsAt(stored, 'status', 'conditions').find(
    (each) => textAt(each, 'type') === type,
  );
  return `${type} ${textAt(found, 'status')} ${textAt(found, 'reason')}: ${textAt(found, 'message')}`;
}

/** By name. */
export const restingKinds = {
  group: { set: 'ingester-zone-b', open: async () => undefined, says: () => '' },
  ZoneAwareUpdate: {
    set: 'web',
    stored: ['zoneawareupdates.zonecontrol.k8s.aws', 'zau'],
    open: async (world) => {
      await installZones(world);
      await createWeb(world);
      await createUpdate(world, 'web');
    },
    // The name of a revision is a hash.
    says: (stored) => condition(stored, 'Progressing').replace(/web-[a-z0-9]{8,}/, 'web-hash'),
  },
  PhasedRollout: {
    set: 'db',
    stored: ['phasedrollouts.sts.plus', 'pr1'],
    open: async (world) => {
      await installRollouts(world);
      await createDb(world);
      await createRollout(world, 'db');
    },
    says: (stored, world) => {
      const [, ...message] = condition(stored, 'Updated').split(': ');
      const phase = textAt(stored, 'status', 'phase');
      return `${phase}: ${message.join(': ')} (partition ${partitionOf(world)})`;
    },
  },
  StatefulsetRollout: {
    set: 'carried',
    stored: ['statefulsetrollouts.bedrock.operator.slack.com', 'sr'],
    open: async (world) => {
      await installCarriers(world);
      await createCarrier(world, 'carried');
    },
    says: (stored) => `${textAt(stored, 'status', 'phase')} ${condition(stored, 'Ready')}`,
  },
  ZoneDisruptionBudget: {
    set: 'web',
    stored: ['zonedisruptionbudgets.zonecontrol.k8s.aws', 'zdb'],
    open: async (world) => {
      await installZones(world);
      await createWeb(world);
      await createZoneBudget(world, { maxUnavailable: 1 });
    },
    says: (stored) => {
      const zones = (member: string): string =>
        Object.values(objectAt(objectAt(stored, 'status'), member))
          .map(Number)
          .join();
      return `allowed ${zones('disruptionsAllowed')} healthy ${zones('currentHealthy')} of ${zones('expectedPods')}`;
    },
  },
} satisfies Readonly<Record<string, RestingKind>>;

/** The name of a kind. */
export type RestingName = keyof typeof restingKinds;

const sets = resourceTypes.statefulSets;

function deleted(propagationPolicy: 'Background' | 'Orphan') {
  return async (world: World, name: string): Promise<void> => {
    const options = { preconditions: {}, propagationPolicy };
    await world.run(world.admin.delete(sets, { namespace: NAMESPACE, name }, options));
  };
}

function patched(document: JsonObject) {
  return (world: World, set: string): Promise<void> => patchAny(world, set, document);
}

/** What others do, by what it is called. */
export const changesOfOthers = {
  'is deleted with its pods': deleted('Background'),
  'is deleted without its pods': deleted('Orphan'),
  'is scaled to nothing': patched({ spec: { replicas: 0 } }),
  'is scaled to four': patched({ spec: { replicas: 4 } }),
  'gets another strategy': async (world, set) => {
    const type = set === 'db' ? 'OnDelete' : 'RollingUpdate';
    await patchAny(world, set, { spec: { updateStrategy: { type, rollingUpdate: null } } });
  },
  'gets another partition': patched({
    spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } },
  }),
  'loses its labels': patched({
    metadata: { labels: { 'rollout-group': null, app: null, name: null } },
  }),
  'loses a pod that is not made again': async (world, set) => {
    const action = { kind: 'error', code: 403 } as const;
    world.cluster.faults.add({ match: { verb: 'create', resource: 'pods' }, action });
    await world.deletePod(`${set}-1`);
  },
} satisfies Readonly<Record<string, (world: World, set: string) => Promise<void>>>;

/** The name of a change. */
export type ChangeName = keyof typeof changesOfOthers;

/** A kind that is at rest: what was to be done has been done minutes ago. */
export interface Resting {
  readonly world: World;
  readonly operator: OperatorRun;
  /** What its status says now. */
  says(): string;
  /** Reasons of Events about its resource, or its set where it has none, since it came to rest; each once. */
  told(): readonly string[];
}

/** Returns a kind at rest. */
export async function atRest(name: RestingName): Promise<Resting> {
  const kind: RestingKind = restingKinds[name];
  const world = await openZoned();
  await kind.open(world);
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(8));
  const about = kind.stored?.[1] ?? kind.set;
  const since = world.clock.now();
  const told = (): readonly string[] => {
    const reasons = world.cluster.eventLog.commits
      .filter(({ resource, at }) => resource === 'events' && at >= since)
      .flatMap(({ after }) => (textAt(after, 'involvedObject', 'name') === about ? [after] : []))
      .map((event) => `${textAt(event, 'type')} ${textAt(event, 'reason')}`);
    // What the StatefulSet controller says of the set, and what passes at once.
    const others = /Successful|FailedCreate|RevisionUnknown/;
    return [...new Set(reasons)].filter((each) => !others.test(each)).toSorted();
  };
  const says = (): string =>
    kind.says(kind.stored === undefined ? undefined : world.stored(...kind.stored), world);
  return { world, operator, says, told };
}

/** Has `change` happen to the set of a kind at rest, and lets a minute pass. */
export async function afterAMinute(
  { world }: Resting,
  name: RestingName,
  change: ChangeName,
): Promise<void> {
  await changesOfOthers[change](world, restingKinds[name].set);
  await world.clock.advance(minutes(1));
}
