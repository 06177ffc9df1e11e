import { instant, minutes, seconds } from '#base/units.ts';
import { LeaseLostError } from '#kubernetes/leader-election/leader-election.ts';
import type { Violation } from '#support/invariants/invariant.ts';
import { type OperatorPodCall, World } from '#support/world/world.ts';
import { GROUP, NAMESPACE } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { worldReasons } from '#support/world/world-reasons.ts';
import { arm } from './arm.ts';
import type { ArmedFault } from './arm-hostile.ts';
import {
  differences,
  failureText,
  type Reference,
  type Run,
  replayLine,
  title,
} from './compare-runs.ts';
import { endState } from './end-state.ts';
import { isClaimed } from './exemptions.ts';
import { awayFor, type CallPoint, type Fault } from './fault.ts';
import { faultEnd } from './fault-end.ts';
import {
  callFaults,
  callPoints,
  changeFaults,
  eventFaults,
  hostileFaults,
  pauseFaults,
  podCallFaults,
  podCallPoints,
} from './faults-at.ts';
import type { Scenario } from './scenario.ts';

/** How long nothing may be written once a story is over (QUIE-1). */
const quietFor = minutes(10);
/** What an operator may still be busy with when the last pod is ready. */
const settleFor = seconds(5);

const watched: readonly string[] = ['pods', 'statefulsets.apps'];

/** Tells the story of `scenario` without faults and numbers what could go wrong (SWEEP-1). */
export async function tellReference(scenario: Scenario): Promise<Reference> {
  const stage = await newStage(scenario, undefined);
  const podCalls: (OperatorPodCall & { readonly at: number })[] = [];
  stage.world.onPodCall.add((call, moment) => {
    if (moment === 'before') podCalls.push({ ...call, at: stage.world.clock.now() });
  });
  const run = await tell(stage);
  const { calls, commits } = stage.world.cluster.eventLog;
  const own = calls.filter(
    ({ user, startedAt, resource }) =>
      user === OPERATOR_USER && startedAt <= endOf(stage.completeAt, resource),
  );
  const events = (resource: string): number =>
    commits.filter(
      (commit) =>
        commit.resource === resource &&
        commit.namespace === NAMESPACE &&
        commit.revision > stage.readyRevision &&
        commit.at <= stage.completeAt,
    ).length;
  const deeds = callPoints(own).filter((point) => !isLaterRenewal(point));
  const ownPodCalls = podCalls.filter(({ at }) => at <= stage.completeAt + settleFor);
  const faults = [
    ...podCallPoints(ownPodCalls).flatMap(podCallFaults),
    ...deeds.flatMap(callFaults),
    ...hostile(stage, deeds, run.removals.size),
    ...watched.flatMap((resource) => eventFaults(resource, events(resource))),
  ];
  return { run, faults };
}

/** What a hostile world may do; what it changes and takes back only to a story that is nothing but a rollout. */
function hostile(
  { scenario, world, readyAt }: Stage,
  points: readonly CallPoint[],
  deletions: number,
): readonly Fault[] {
  const { isPlainRollout = false } = scenario;
  const own = world.cluster.eventLog.calls.filter(({ user }) => user === OPERATOR_USER);
  const early = new Set(
    callPoints(own.filter(({ startedAt }) => startedAt < readyAt)).map((point) => keyOf(point)),
  );
  const calls = points
    .filter((point) => isPlainRollout || !isRead(point))
    .filter((point) => !isRead(point) || !early.has(keyOf(point)));
  return [
    ...calls.flatMap(hostileFaults),
    ...((scenario.world.operators ?? 1) > 1 ? calls.flatMap(pauseFaults) : []),
    ...(isPlainRollout ? changeFaults(deletions) : []),
  ];
}

/** Until when calls belong to a story; renewals of the Lease go on for ever. */
function endOf(completeAt: number, resource: string): number {
  return resource.startsWith('leases.') ? completeAt : completeAt + settleFor;
}

/** Renewals of the Lease are all alike: what can go wrong with one can with the first. */
function isLaterRenewal({ resource, nth }: CallPoint): boolean {
  return resource === 'leases' && nth > 4;
}

function isRead({ verb }: CallPoint): boolean {
  return verb === 'get' || verb === 'list';
}

function keyOf(point: CallPoint): string {
  return Object.values(point).join(' ');
}

/** Tells the story again, with `fault`, and holds it against the reference. */
export async function tellWith(fault: Fault, reference: Reference): Promise<Run> {
  const stage = await newStage(reference.run.scenario, fault);
  return tell(stage, reference);
}

/** How the runs of one class went. */
export interface Tally {
  /** Such as `cluster 53`. */
  readonly test: string;
  runs: number;
  /** Texts for people, each with the command that tells the story again. */
  readonly failures: string[];
}

/** Tells the story with each of `faults`, one after the other. */
export async function sweep(
  faults: readonly Fault[],
  reference: Reference,
  watcher: { readonly onRun?: (run: Run) => void } = {},
): Promise<readonly Tally[]> {
  const tallies = new Map<string, Tally>();
  for (const fault of faults) {
    const tally = tallies.get(fault.test) ?? { test: fault.test, runs: 0, failures: [] };
    tallies.set(fault.test, tally);
    tally.runs += 1;
    const failure = await failureOf(fault, reference, watcher.onRun);
    if (failure !== undefined) tally.failures.push(failure);
  }
  return [...tallies.values()];
}

async function failureOf(
  fault: Fault,
  reference: Reference,
  onRun: ((run: Run) => void) | undefined,
): Promise<string | undefined> {
  try {
    const run = await tellWith(fault, reference);
    onRun?.(run);
    return run.problems.length === 0 ? undefined : failureText(run);
  } catch (error) {
    const { scenario } = reference.run;
    const stack = error instanceof Error ? String(error.stack) : 'something that is no Error';
    return [`${title(scenario, fault)}:`, `  ${stack}`, replayLine(scenario, fault)].join('\n');
  }
}

interface Stage {
  readonly scenario: Scenario;
  readonly fault: Fault | undefined;
  readonly world: World;
  readonly armed: ArmedFault | undefined;
  readonly readyRevision: number;
  readonly readyAt: number;
  completeAt: number;
}

async function newStage(scenario: Scenario, fault: Fault | undefined): Promise<Stage> {
  const world = await World.create(scenario.world);
  await scenario.prepare?.(world);
  const early = fault === undefined || fault.kind === 'event' ? undefined : arm(world, fault);
  world.onEnded.add(() => world.replaceOperator(awayFor));
  await begin(world);
  const late = fault?.kind === 'event' ? arm(world, fault) : undefined;
  const readyRevision = world.cluster.eventLog.commits.at(-1)?.revision ?? 0;
  return {
    scenario,
    fault,
    world,
    armed: early ?? late,
    readyRevision,
    readyAt: world.clock.now(),
    completeAt: 0,
  };
}

/** Starts the operators; returns when all are ready and one has looked at the group, or much goes wrong. */
async function begin(world: World): Promise<void> {
  const wanted = world.options.operators ?? 1;
  while (world.operators.length < wanted) world.startOperator();
  const isBegun = (): boolean =>
    world.operators.filter(({ readiness }) => readiness.isReady()).length >= wanted &&
    world.operators.some(({ plans }) => plans.length > 0);
  const end = world.clock.now() + minutes(5);
  await world.clock.runUntil(() => isBegun() || world.clock.now() > end);
}

async function tell(stage: Stage, reference?: Reference): Promise<Run> {
  const { scenario, fault, world, armed } = stage;
  await scenario.play(world);
  const playedAt = world.clock.now();
  const isOver = (): boolean => world.clock.now() > deadlineOf(stage, playedAt);
  const isEachComplete = (): boolean =>
    (scenario.groups ?? [GROUP]).every((group) => world.isComplete(scenario.image, group));
  // What a fault holds back, such as a deletion that arrives late, belongs to the story.
  const isDone = (): boolean => world.clock.now() > faultEndOf(stage) && isEachComplete();
  await world.clock.runUntil(() => isDone() || isOver());
  stage.completeAt = world.clock.now();
  const isComplete = isEachComplete();
  await world.clock.advance(settleFor);
  const quietFrom = world.clock.now();
  await world.freezeEnvironment();
  await world.clock.advance(quietFor);
  const judgement = world.judge({
    completion: { by: instant(stage.completeAt) },
    quiet: { from: quietFrom },
    stalls: {
      said: world.record.stalls,
      predicates: worldReasons,
      retold: { logged: world.record.tellings },
    },
  });
  const removals = removalsOf(world);
  const run = { scenario, fault, world, judgement, removals, endState: endState(world) };
  const hasStruck = fault === undefined || armed?.struckAt() !== undefined;
  const problems = [
    ...(hasStruck ? [] : ['the fault did not strike']),
    ...(isComplete ? [] : [`not complete ${scenario.bound} ms after the last deed or fault`]),
    ...judgement.violations.filter((each) => isClaimed(each, fault)).map(violationText),
    ...(reference === undefined ? [] : differences(run, reference)),
    ...world.operators.flatMap(crashOf),
  ];
  await world.close();
  return { ...run, hasStruck, problems };
}

function deadlineOf(stage: Stage, playedAt: number): number {
  return Math.max(playedAt, faultEndOf(stage)) + stage.scenario.bound;
}

function faultEndOf({ fault, armed }: Stage): number {
  const struckAt = armed?.struckAt();
  return fault === undefined || struckAt === undefined ? 0 : faultEnd(fault, struckAt);
}

function violationText({ id, message }: Violation): string {
  return `${id}: ${message}`;
}

function crashOf({ client, ended }: World['operators'][number]): readonly string[] {
  // A process whose Lease is lost ends by design, and a kubelet starts it again.
  if (ended?.error === undefined || ended.error instanceof LeaseLostError) return [];
  const why = ended.error instanceof Error ? ended.error.message : 'something that is no Error';
  return [`CRASH-1: ${client} ended: ${why}`];
}

function removalsOf(world: World): ReadonlyMap<string, number> {
  const removals = new Map<string, number>();
  const taken = new Set<string>();
  for (const { resource, user, uid, name, verb, after } of world.cluster.eventLog.commits) {
    if (resource !== 'pods' || user !== OPERATOR_USER || taken.has(uid)) continue;
    const metadata = after?.['metadata'] as { readonly deletionTimestamp?: string } | undefined;
    if (verb !== 'delete' && metadata?.deletionTimestamp === undefined) continue;
    taken.add(uid);
    removals.set(name, (removals.get(name) ?? 0) + 1);
  }
  return removals;
}
