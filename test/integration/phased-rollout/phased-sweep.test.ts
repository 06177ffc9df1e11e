/** One rollout, told again with a fault at each request of the program in turn (SWEEP-1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import type { QueryReading } from '#check/prometheus/reading.ts';
import type { FaultAction } from '#cluster/faults.ts';
import { gateShare } from '#support/extent.ts';
import { noData, someData } from '#support/external-services/fake-prometheus.ts';
import { mostDown } from './phased-judge.ts';
import { PhasedStage, usualCheck } from './phased-stage.ts';

const check = { ...usualCheck, initialDelaySeconds: 2, periodSeconds: 1, successThreshold: 2 };
const first = 'operator-1';

/** One request of the program, by what it is about and its number among its like. */
interface Point {
  readonly verb: string;
  readonly resource: string;
  readonly subresource: string;
  readonly nth: number;
}

type Strike = 'killed before' | 'killed after' | 'refused' | 'answer lost' | 'slow';

const pods = ['db-0', 'db-1', 'db-2'];

/** What happens once a set was taken over, and its template is about to change. */
interface Story {
  readonly spec: JsonObject;
  /** What the pods run in the end, and when it has come. */
  readonly image: string;
  readonly isOver: (stage: PhasedStage) => boolean;
  readonly partitions: readonly number[];
  readonly answer?: (stage: PhasedStage) => QueryReading;
}

const failureBudget = { totalFailures: 1, onFailure: 'Rollback' };

const stories: Readonly<Record<string, Story>> = {
  rollout: {
    spec: { check },
    image: 'db:2',
    isOver: (stage) => stage.phase() === 'Updated' && stage.partition() === 3,
    partitions: [0, 3, 2, 1, 0, 3],
  },
  'rollout by steps of two': {
    spec: { check, stepSize: 2 },
    image: 'db:2',
    isOver: (stage) => stage.phase() === 'Updated' && stage.partition() === 3,
    partitions: [0, 3, 2, 1, 0, 3],
  },
  rollback: {
    spec: { check: { ...check, failureBudget } },
    image: 'db:1',
    isOver: (stage) => stage.step() === 'RolledBack',
    partitions: [0, 3, 2, 3],
    answer: (stage) => (stage.partition() === 2 ? noData : someData),
  },
};

/** A set is taken over, its template changes, and the story takes its way. */
async function tell(story: Story, disturb: (stage: PhasedStage) => void): Promise<PhasedStage> {
  const stage = await PhasedStage.open();
  disturb(stage);
  stage.prometheus.answer = () => story.answer?.(stage) ?? someData;
  stage.start();
  await stage.create(story.spec);
  await stage.until('it is settled', () => stage.phase() === 'Updated' && stage.partition() === 3);
  await stage.env.clock.advance(seconds(1));
  await stage.change('db:2');
  const stored = stage.env.stored('pods');
  const isDone = (): boolean =>
    story.isOver(stage) &&
    pods.every((pod) => stored.has(pod) && stage.env.imageOf(pod) === story.image);
  await stage.until('it is over', isDone, minutes(30));
  return stage;
}

const writes: readonly string[] = ['create', 'update', 'patch', 'delete'];

/** Every request that the story takes; what is asked again and again counts a few times. */
async function pointsOf(story: Story): Promise<readonly Point[]> {
  const stage = await tell(story, () => undefined);
  const counts = new Map<string, number>();
  const points = stage.env.cluster.eventLog.calls
    .filter(({ user, verb }) => user === first && verb !== 'watch')
    .map(({ verb, resource, subresource }): Point => {
      const [plural = ''] = resource.split('.');
      const key = `${verb} ${plural}/${subresource}`;
      const nth = (counts.get(key) ?? 0) + 1;
      counts.set(key, nth);
      return { verb, resource: plural, subresource, nth };
    });
  await stage.close();
  return points.filter(({ resource, nth }) => resource !== 'leases' || nth <= 3);
}

const actions: Readonly<Record<Exclude<Strike, 'killed before' | 'killed after'>, FaultAction>> = {
  refused: { kind: 'error', code: 500, when: 'before' },
  'answer lost': { kind: 'drop', when: 'after' },
  slow: { kind: 'delay', delay: seconds(20) },
};

function arm(stage: PhasedStage, { nth, ...point }: Point, strike: Strike): void {
  const { faults } = stage.env.cluster;
  const match = { ...point, user: first };
  if (strike !== 'killed before' && strike !== 'killed after') {
    faults.add({ match, nth, action: actions[strike] });
    return;
  }
  const kill = (): void => {
    stage.running[0]?.die();
    stage.env.clock.timer(seconds(1), () => void stage.start());
  };
  if (strike === 'killed before') faults.beforeWrite(match, nth, kill);
  else faults.afterWrite(match, nth, kill);
}

/** What is told: a strike at a request. */
interface Struck {
  readonly point: Point;
  readonly strike: Strike;
}

function strikesAt(point: Point): readonly Struck[] {
  const strikes: readonly Strike[] = writes.includes(point.verb)
    ? ['killed before', 'killed after', 'refused', 'answer lost', 'slow']
    : ['refused', 'slow'];
  return strikes.map((strike) => ({ point, strike }));
}

/** What the gate tells: each kind of strike at each kind of request, the stories by turns. */
const share = {
  oneIn: 30,
  classOf: ({ point, strike }: Struck): string => `${strike}: ${point.verb} ${point.resource}`,
};

for (const [at, [what, story]] of Object.entries(stories).entries()) {
  const turn = { at, of: Object.keys(stories).length };
  test(`whatever becomes of any request, a ${what} ends, and no pod goes without its checks [GATE-1, SWEEP-1]`, async () => {
    const points = await pointsOf(story);
    assert.ok(points.length > 30, `${points.length} requests`);
    const told: string[] = [];
    for (const { point, strike } of gateShare(points.flatMap(strikesAt), { ...share, turn })) {
      const name = `${strike}: ${point.verb} ${point.resource}/${point.subresource} ${point.nth}`;
      try {
        const stage = await tell(story, (each) => arm(each, point, strike));
        assert.deepEqual(stage.partitions(), story.partitions);
        assert.equal(mostDown(stage.env.cluster.eventLog.commits, pods), 1);
        await stage.close();
      } catch (error) {
        told.push(`${name}: ${String(error).slice(0, 400)}`);
      }
    }
    assert.deepEqual(told, []);
  });
}
