/** Stories of StatefulsetRollouts, told again with the operator killed before and after every write, and every call to the outside. */
import assert from 'node:assert/strict';
import { errorOf } from '#base/error-of.ts';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { numberAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import type { CallFate } from '#support/external-services/call-fate.ts';
import { FakeConsul } from '#support/external-services/fake-consul.ts';
import { percentFaults } from './percent-judge.ts';
import { PercentStage } from './percent-stage.ts';
import { loweringFaults, pinFaults } from './pin-judge.ts';

const first = 'operator-1';
const replicas = 4;
/** Of its pods that may be away at a time. */
const budget = 2;

/** Whom the operator calls besides the API server. */
const outsiders = ['Slack', 'receiver', 'Consul'] as const;
type Outsider = (typeof outsiders)[number];

/** One write, or call, of the operator: its number among its like, from 1. */
export type Point =
  | {
      readonly kind: 'write';
      readonly verb: string;
      readonly resource: string;
      readonly subresource: string;
      readonly nth: number;
    }
  | { readonly kind: 'call'; readonly to: Outsider; readonly nth: number };

/** A point, and how the operator dies there. */
export interface Death {
  readonly point: Point;
  readonly when: 'before' | 'after';
  /** Whether what had left and not arrived arrives 20 s later, or never. */
  readonly isLate: boolean;
}

/** What happens to a set of four ready pods on `db:1`. */
interface Story {
  readonly happens: (stage: PercentStage) => Promise<void>;
  /** What the pods run in the end; undefined: none is left. */
  readonly image: string | undefined;
  readonly spec?: JsonObject;
  /** How often the message of one version is posted, as that is wanted once more. @default 1 */
  readonly posts?: number;
}

function carried(stage: PercentStage, image: string, stageId: string): JsonObject {
  const bapi = { bapiUrl: 'https://deploys.example', stageId };
  return { bapi, statefulset: stage.carried(image) };
}

/** Others write into the set what is theirs. */
async function meddle({ env }: PercentStage): Promise<void> {
  const metadata = { annotations: { 'example.com/theirs': 'kept' } };
  await env.patchSet({ metadata, spec: { revisionHistoryLimit: 7 } });
}

async function inTwoSteps(stage: PercentStage): Promise<void> {
  await stage.edit({ percent: 50, ...carried(stage, 'db:2', 'stage-50') });
  await stage.ended();
  await meddle(stage);
  await stage.edit({ percent: 100, pauseRequested: true, ...carried(stage, 'db:2', 'stage-100') });
  await stage.until('it is paused', () => stage.phase() === 'Paused');
  await stage.env.clock.advance(minutes(1));
  await stage.edit({ pauseRequested: false });
  await stage.ended();
}

async function takenBack(stage: PercentStage): Promise<void> {
  stage.env.kubelet.behaviours.add({ match: { image: '*:2' }, behave: 'crashLoop' });
  await stage.edit({ percent: 50, ...carried(stage, 'db:2', 'stage-50') });
  await stage.until(
    'two are new',
    () => stage.images().filter((each) => each === 'db:2').length === 2,
  );
  await stage.env.clock.advance(minutes(2));
  await meddle(stage);
  await stage.edit({ percent: 100, ...carried(stage, 'db:1', 'stage-back') });
  await stage.ended();
}

async function deletedHalfWay(stage: PercentStage): Promise<void> {
  await stage.edit(carried(stage, 'db:2', 'stage-gone'));
  await stage.until('one has gone', () => stage.evictions().length > 0);
  await stage.remove();
  await stage.until(
    'all is gone',
    () => stage.rollout() === undefined && stage.set() === undefined,
  );
}

/** The stories, by name. */
export const percentStories: Readonly<Record<string, Story>> = {
  'percent-rollout': { happens: inTwoSteps, image: 'db:2' },
  'percent-pinned': {
    happens: inTwoSteps,
    image: 'db:2',
    spec: { versionLeak: { policy: 'Pin' } },
  },
  'percent-rollback': { happens: takenBack, image: 'db:1', posts: 2 },
  'percent-deletion': { happens: deletedHalfWay, image: undefined },
};

/** A set that has been made, with all who are asked and told. */
async function settled({ spec = {} }: Story): Promise<{ stage: PercentStage; consul: FakeConsul }> {
  const stage = await PercentStage.open(replicas);
  const consul = new FakeConsul(stage.env.clock);
  stage.consul = consul.opened;
  registerWhenReady(stage, consul);
  stage.start();
  const discovery = { serviceDiscovery: { serviceNames: ['web'] } };
  await stage.create('db:1', { channel: '#deploys', ...discovery, ...spec });
  await stage.ended();
  await stage.env.clock.advance(seconds(30));
  return { stage, consul };
}

function registerWhenReady({ env }: PercentStage, consul: FakeConsul): void {
  env.cluster.eventLog.onCommit(({ resource, name, after }) => {
    if (resource !== 'pods' || after === undefined) return;
    const isReady = objectsAt(after, 'status', 'conditions').some(
      (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
    );
    if (isReady) consul.register('web', name, { address: textAt(after, 'status', 'podIP') });
  });
}

type Bed = Awaited<ReturnType<typeof settled>>;

/** Has `decide` say what becomes of each call from now on, by its number from 1. */
function intercept({ stage, consul }: Bed, to: Outsider, decide: (nth: number) => CallFate): void {
  const called = { Slack: stage.slack, receiver: stage.receiver, Consul: consul }[to];
  let nth = 0;
  called.intercept = () => {
    nth += 1;
    return decide(nth);
  };
}

const writes: readonly string[] = ['create', 'update', 'patch', 'delete'];
/** Of what is written again and again, how many are struck. */
const mostOf: Readonly<Record<string, number>> = { leases: 3, events: 2 };

/** Returns every death that the story `name` knows: the operator is killed there, and another one comes. */
export async function percentDeaths(name: string): Promise<readonly Death[]> {
  const story = storyOf(name);
  const bed = await settled(story);
  const { stage } = bed;
  const points: Point[] = [];
  for (const to of outsiders) {
    intercept(bed, to, (nth) => {
      points.push({ kind: 'call', to, nth });
      return undefined;
    });
  }
  const from = stage.env.cluster.eventLog.calls.length;
  await story.happens(stage);
  await stage.env.clock.advance(minutes(1));
  assert.deepEqual(faultsOf(story, stage), []);
  points.push(...writesIn(stage, from));
  await stage.close();
  return points.flatMap((point) =>
    (['before', 'after'] as const).flatMap((when) =>
      [false, true].map((isLate) => ({ point, when, isLate })),
    ),
  );
}

function writesIn({ env }: PercentStage, from: number): readonly Point[] {
  const counts = new Map<string, number>();
  const points = env.cluster.eventLog.calls
    .slice(from)
    .filter(({ user, verb }) => user === first && writes.includes(verb))
    .map(({ verb, resource, subresource }) => {
      const [plural = ''] = resource.split('.');
      const key = `${verb} ${plural}/${subresource}`;
      const nth = (counts.get(key) ?? 0) + 1;
      counts.set(key, nth);
      return { kind: 'write', verb, resource: plural, subresource, nth } as const;
    });
  return points.filter(({ resource, nth }) => nth <= (mostOf[resource] ?? nth));
}

/** Returns the name of a death, such as `before patch statefulsets/ 1, late`. */
export function deathName({ point, when, isLate }: Death): string {
  const what =
    point.kind === 'call'
      ? `call to ${point.to}`
      : `${point.verb} ${point.resource}/${point.subresource}`;
  return `${when} ${what} ${point.nth}, ${isLate ? 'late' : 'lost'}`;
}

/** Tells the story `name` with a death in it. @returns what was wrong, one sentence each */
export async function percentTold(name: string, death: Death): Promise<readonly string[]> {
  const story = storyOf(name);
  try {
    const bed = await settled(story);
    const { stage } = bed;
    arm(bed, death);
    await story.happens(stage);
    await stage.env.clock.advance(minutes(3));
    const faults = faultsOf(story, stage);
    await stage.close();
    return faults;
  } catch (error) {
    return [errorOf(error).message.slice(0, 600)];
  }
}

function storyOf(name: string): Story {
  const story = percentStories[name];
  if (story === undefined) throw new Error(`There is no story "${name}"`);
  return story;
}

function arm(bed: Bed, { point, when, isLate }: Death): void {
  const { stage } = bed;
  const { clock, cluster } = stage.env;
  const kill = (): void => {
    stage.running[0]?.die(isLate ? seconds(20) : undefined);
    clock.timer(seconds(1), () => void stage.start());
  };
  if (point.kind === 'call') {
    intercept(bed, point.to, (nth) => {
      if (nth !== point.nth) return undefined;
      kill();
      return when === 'before' ? 'not-sent' : 'not-answered';
    });
    return;
  }
  const { verb, resource, subresource, nth } = point;
  const match = { verb, resource, subresource, user: first };
  if (when === 'before') cluster.faults.beforeWrite(match, nth, kill);
  else cluster.faults.afterWrite(match, nth, kill);
}

/** What was wrong with a history that has ended. */
function faultsOf({ image, spec, posts = 1 }: Story, stage: PercentStage): readonly string[] {
  const { eventLog } = stage.env.cluster;
  const isPinned = spec?.['versionLeak'] !== undefined;
  const away = image === undefined ? 0 : stage.mostDown();
  const pods = stage.images().filter((each) => each !== '');
  const wanted = image === undefined ? [] : Array.from({ length: replicas }, () => image);
  return [
    ...percentFaults(eventLog),
    ...(isPinned
      ? [...pinFaults(eventLog.commits), ...loweringFaults(eventLog.commits, budget)]
      : []),
    ...(away > budget ? [`${away} pods were away, and ${budget} may be`] : []),
    ...(pods.join(' ') === wanted.join(' ') ? [] : [`the pods run ${pods.join(' ')}`]),
    ...(image === undefined ? [] : theirsLost(stage)),
    ...outsideFaults(stage, posts),
  ];
}

/** Whether others find in the set what they have written into it. */
function theirsLost(stage: PercentStage): readonly string[] {
  const note = textAt(stage.set(), 'metadata', 'annotations', 'example.com/theirs');
  const limit = numberAt(stage.set(), 'spec', 'revisionHistoryLimit');
  return note === 'kept' && limit === 7 ? [] : ['what others wrote into the set was lost'];
}

/** Whether each stage heard one outcome under one key, and one message of Slack at most was posted once more (C-18, E-14). */
function outsideFaults({ receiver, slack }: PercentStage, posts: number): readonly string[] {
  const stages = Map.groupBy(receiver.calls, ({ told }) => textAt(told, 'stageId'));
  const unlike = [...stages].filter(
    ([, calls]) => new Set(calls.map(({ idempotencyKey }) => idempotencyKey)).size > 1,
  );
  const often = [...stages].filter(([, calls]) => calls.length > 2);
  const messages = Map.groupBy(slack.posts(), ({ call }) => `${call.thread} ${call.page}`);
  const again = [...messages.values()].map((calls) => Math.max(0, calls.length - posts));
  const more = again.reduce((sum, each) => sum + each, 0);
  return [
    ...unlike.map(([stageId]) => `${stageId} was told two outcomes`),
    ...often.map(([stageId, calls]) => `${stageId} was told ${calls.length} times`),
    ...(more > 1 ? [`${more} messages were posted once more`] : []),
  ];
}
