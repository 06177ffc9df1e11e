/** Updates of a set over three zones, told again with a fault at each request of the program in turn (SWEEP-1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import type { FaultAction } from '#cluster/faults.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { gateShare } from '#support/extent.ts';
import { budgetedUpdate, ledgerOf, reservations } from './budgeted-update.ts';
import { type Death, deletionFaults, deletionsBySlot } from './zone-update-faults.ts';
import { unreservedFaults } from './zone-update-judge.ts';
import type { ZoneUpdateStage } from './zone-update-stage.ts';

const first = 'operator-1';
const replicas = 6;
const cap = 2;

/** One request of the program, by what it is about and its number among its like. */
interface Point {
  readonly verb: string;
  readonly resource: string;
  readonly subresource: string;
  readonly nth: number;
}

/** Of a late kill, the write and all else that was on its way arrive once the successor is at work. */
type Kill = 'killed before' | 'killed after' | 'killed late';

type Strike = Kill | 'refused' | 'answer lost' | 'slow';

/** What the judge has to know of a strike. */
interface Struck {
  /** Of each deletion that was struck, the revision of the store when it left. */
  readonly late: Map<string, number>;
  death?: Death;
}

/** What happens once the first pods are up again. */
interface Story {
  readonly happens: (stage: ZoneUpdateStage) => void;
  /** What the pods run in the end. */
  readonly image: string;
}

const stories: Readonly<Record<string, Story>> = {
  'while an alarm rings for a minute': {
    happens: (stage) => {
      stage.source.state = 'ALARM';
      stage.env.clock.timer(seconds(60), () => {
        stage.source.state = 'OK';
      });
    },
    image: 'db:2',
  },
  'while the last zone is lost for a minute': {
    happens: (stage) => {
      const lost = stage.env.kubelet.behaviours.add({
        match: { node: 'node-2' },
        behave: 'neverReady',
      });
      stage.env.clock.timer(seconds(60), () => lost.remove());
    },
    image: 'db:2',
  },
  'that is taken back': {
    happens: (stage) => void stage.change('db:1'),
    image: 'db:1',
  },
};

/** A set is settled under a budget of two, and its template changes; then the story takes its way. */
async function tell(
  story: Story,
  disturb: (stage: ZoneUpdateStage) => void,
): Promise<ZoneUpdateStage> {
  const update = { maxUnavailable: 4, exponentialFactor: '0', pauseRolloutAlarm: 'latency' };
  const stage = await budgetedUpdate({ maxUnavailable: cap }, update, { replicas });
  // The judge of this sweep looks at what was sent, and not at what the world takes away.
  stage.isDisturbed = true;
  disturb(stage);
  await stage.change('db:2');
  await stage.until('two pods are new', () => readyOn(stage, 'db:2') >= 2, minutes(30));
  story.happens(stage);
  await stage.completed(story.image);
  await stage.until('all is given back', () => reservations(stage) === '[]');
  return stage;
}

function readyOn({ env }: ZoneUpdateStage, image: string): number {
  const names = [...env.stored('pods').keys()].filter((name) => name.startsWith('db-'));
  return names.filter((name) => env.imageOf(name) === image && env.isReady(name)).length;
}

function faultsOf(
  stage: ZoneUpdateStage,
  { late, death }: Struck = { late: new Map() },
): readonly string[] {
  const { commits, calls } = stage.env.cluster.eventLog;
  const alarms = stage.source.answers;
  const mostTakes = [...deletionsBySlot(commits)].filter(([, count]) => count > 2);
  return [
    ...deletionFaults({ commits, calls, late, death, alarms, cap }),
    ...unreservedFaults(commits, [ledgerOf()]),
    ...mostTakes.map(([slot, count]) => `${slot} was taken ${count} times`),
  ];
}

const writes: readonly string[] = ['create', 'update', 'patch', 'delete'];

/** Of what is written again and again, how many are struck. */
const mostOf: Readonly<Record<string, number>> = {
  leases: 3,
  events: 2,
  zonedisruptionbudgets: 4,
};

/** Every request that the story takes once its template changes. */
async function pointsOf(story: Story): Promise<readonly Point[]> {
  const from = { call: 0 };
  const stage = await tell(story, ({ env }) => {
    from.call = env.cluster.eventLog.calls.length;
  });
  assert.deepEqual(faultsOf(stage), []);
  const counts = new Map<string, number>();
  const points = stage.env.cluster.eventLog.calls
    .slice(from.call)
    .filter(({ user, verb }) => user === first && verb !== 'watch')
    .map(({ verb, resource, subresource }): Point => {
      const [plural = ''] = resource.split('.');
      const key = `${verb} ${plural}/${subresource}`;
      const nth = (counts.get(key) ?? 0) + 1;
      counts.set(key, nth);
      return { verb, resource: plural, subresource, nth };
    });
  await stage.close();
  return points.filter(({ resource, nth }) => nth <= (mostOf[resource] ?? nth));
}

const actions: Readonly<Record<Exclude<Strike, Kill>, FaultAction>> = {
  refused: { kind: 'error', code: 500, when: 'before' },
  'answer lost': { kind: 'drop', when: 'after' },
  slow: { kind: 'delay', delay: seconds(20) },
};

const kills: Readonly<
  Record<Kill, { readonly when: 'beforeWrite' | 'afterWrite'; readonly late?: Millis }>
> = {
  'killed before': { when: 'beforeWrite' },
  'killed after': { when: 'afterWrite' },
  'killed late': { when: 'beforeWrite', late: seconds(20) },
};

function arm(stage: ZoneUpdateStage, { nth, ...point }: Point, strike: Strike): Struck {
  const { cluster, clock } = stage.env;
  const match = { ...point, user: first };
  const struck: Struck = { late: new Map() };
  if (!isKill(strike)) {
    cluster.faults.add({ match, nth, action: actions[strike] });
    return struck;
  }
  const { when, late } = kills[strike];
  cluster.faults[when](match, nth, () => {
    const revision = cluster.eventLog.commits.at(-1)?.revision ?? 0;
    struck.death = { user: first, at: clock.now(), revision };
    stage.running[0]?.die(late);
    clock.timer(seconds(1), () => void stage.start());
  });
  return struck;
}

function isKill(strike: Strike): strike is Kill {
  return strike in kills;
}

/** Notes of each deletion that is struck what the store was when it left. */
function noteLate({ env: { cluster } }: ZoneUpdateStage, late: Map<string, number>): void {
  cluster.faults.onHit.add(({ verb, resource, name }) => {
    if (verb !== 'delete' || resource !== 'pods') return;
    late.set(name, cluster.eventLog.commits.at(-1)?.revision ?? 0);
  });
}

test('the judge of this sweep finds a pod of a second zone, one too many, a new one, and one that goes while the alarm rings', async () => {
  const update = { maxUnavailable: 4, pauseRolloutAlarm: 'latency' };
  const stage = await budgetedUpdate({ maxUnavailable: cap }, update, { replicas });
  stage.isDisturbed = true;
  await stage.change('db:2');
  await stage.until('the first pod is new', () => readyOn(stage, 'db:2') === 1);
  stage.running[0]?.die();
  const transport = stage.env.cluster.transport({ user: 'operator-9' });
  const client = createClient({
    transport,
    clock: stage.env.clock,
    timeout: millis(0),
    userAgent: 'test',
  });
  const before = new Set(faultsOf(stage));
  assert.deepEqual([...before], []);
  stage.source.answers.push({ at: stage.env.clock.now(), state: 'ALARM' });
  for (const name of ['db-3', 'db-0', 'db-2']) {
    const key = { namespace: 'demo', name };
    await stage.finish(client.delete(resourceTypes.pods, key, { preconditions: {} }));
  }
  const faults = faultsOf(stage).map((fault) => fault.replace(/ at \d+/u, ''));
  assert.deepEqual(
    faults.filter((fault) => fault.startsWith('db-2')),
    [
      'db-2 was sent away while db-0 of zone-a was away',
      'db-2 was sent away while db-3 of zone-a was away',
      'db-2 was sent away as number 3 of 2',
      'db-2 was sent away although the alarm was ALARM',
    ],
  );
  assert.ok(
    faults.includes('db-3 was sent away although it ran what it should'),
    faults.join('; '),
  );
  assert.ok(
    faults.some((fault) => fault.includes('did not say so')),
    faults.join('; '),
  );
  await stage.close();
});

/** Tells the story with `strike` at `point`. @returns what was wrong then, one sentence each */
async function struck(story: Story, point: Point, strike: Strike): Promise<readonly string[]> {
  let noted: Struck | undefined;
  try {
    const stage = await tell(story, (each) => {
      noted = arm(each, point, strike);
      noteLate(each, noted.late);
    });
    const faults = faultsOf(stage, noted);
    await stage.close();
    return faults;
  } catch (error) {
    return [String(error).slice(0, 400)];
  }
}

function strikesAt({ verb }: Point): readonly Strike[] {
  if (!writes.includes(verb)) return ['refused', 'slow'];
  return ['killed before', 'killed after', 'killed late', 'refused', 'answer lost', 'slow'];
}

/** What the gate tells: each kind of strike at each kind of request, the stories by turns. */
const share = {
  oneIn: 60,
  classOf: ({ point, strike }: { readonly point: Point; readonly strike: Strike }): string =>
    `${strike}: ${point.verb} ${point.resource}`,
};

for (const [at, [what, story]] of Object.entries(stories).entries()) {
  const turn = { at, of: Object.keys(stories).length };
  test(`whatever becomes of any request, an update ${what} ends, and no pod goes that should stay [EXCL-1, MAXU-1, REV-1, GATE-1, BUDG-1, SWEEP-1]`, async () => {
    const points = await pointsOf(story);
    assert.ok(points.length > 30, `${points.length} requests`);
    const strikes = points.flatMap((point) =>
      strikesAt(point).map((strike) => ({ point, strike })),
    );
    const told: string[] = [];
    for (const { point, strike } of gateShare(strikes, { ...share, turn })) {
      const { verb, resource, subresource, nth } = point;
      const faults = await struck(story, point, strike);
      told.push(
        ...faults.map((fault) => `${strike}: ${verb} ${resource}/${subresource} ${nth}: ${fault}`),
      );
    }
    assert.deepEqual(told, []);
  });
}
