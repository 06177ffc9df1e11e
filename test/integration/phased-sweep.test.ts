/** One rollout, told again with a fault at each request of the program in turn (SWEEP-1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import type { FaultAction } from '#embedded-cluster/faults.ts';
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

/** The story: a set is taken over, rolled out, and blocked again. */
async function tell(disturb: (stage: PhasedStage) => void): Promise<PhasedStage> {
  const stage = await PhasedStage.open();
  disturb(stage);
  stage.start();
  await stage.create({ check });
  await stage.until('it is settled', () => stage.phase() === 'Updated' && stage.partition() === 3);
  await stage.env.clock.advance(seconds(1));
  await stage.change('db:2');
  await stage.until(
    'the rollout is complete',
    () =>
      ['db-0', 'db-1', 'db-2'].every((pod) => stage.env.imageOf(pod) === 'db:2') &&
      stage.phase() === 'Updated' &&
      stage.partition() === 3,
    minutes(30),
  );
  return stage;
}

const writes: readonly string[] = ['create', 'update', 'patch', 'delete'];

/** Every request that the story takes; what is asked again and again counts a few times. */
async function pointsOf(): Promise<readonly Point[]> {
  const stage = await tell(() => undefined);
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

test('whatever becomes of any request, the rollout ends, and no pod goes without its checks [GATE-1, SWEEP-1]', async () => {
  const points = await pointsOf();
  assert.ok(points.length > 30, `${points.length} requests`);
  const told: string[] = [];
  for (const point of points) {
    const isWrite = writes.includes(point.verb);
    const strikes: readonly Strike[] = isWrite
      ? ['killed before', 'killed after', 'refused', 'answer lost', 'slow']
      : ['refused', 'slow'];
    for (const strike of strikes) {
      const name = `${strike}: ${point.verb} ${point.resource}/${point.subresource} ${point.nth}`;
      try {
        const stage = await tell((each) => arm(each, point, strike));
        assert.deepEqual(stage.partitions(), [0, 3, 2, 1, 0, 3]);
        await stage.close();
      } catch (error) {
        told.push(`${name}: ${String(error).slice(0, 400)}`);
      }
    }
  }
  assert.deepEqual(told, []);
});
