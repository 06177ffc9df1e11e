/** What the judge finds of what ledgers give away, and what it leaves alone: zones, limits and partitions (BUDG-2). */
import { test } from 'node:test';
import { after, millis, minutes, seconds } from '#base/units.ts';
import {
  assertJudged,
  type BudgetCase,
  BudgetStory,
  rolled,
  underBudget,
} from '../../judge/budget-story.ts';
import { formatRfc3339 } from '../../oracles/rfc3339.ts';

const [a0, a1, a2] = ['ingester-zone-a-0', 'ingester-zone-a-1', 'ingester-zone-a-2'];
const [b0, b1] = ['ingester-zone-b-0', 'ingester-zone-b-1'];
const [zoneA, zoneB, zoneC] = ['ingester-zone-a', 'ingester-zone-b', 'ingester-zone-c'];
const [eviction, byHand] = [{ by: 'eviction' }, { user: 'user' }] as const;
const partitions = { podNamePartitionRegex: '[a-z-]+-([0-9]+)' };
const delayed = { ...partitions, crossZoneEvictionDelay: '5m' };

const zones: Record<string, BudgetCase> = {
  'BUDG-2 passes a second zone once the first is whole': {
    story: rolled(underBudget()).gives([b0]).remove(b0),
    want: [],
  },
  'BUDG-2 flags two zones in one write': {
    story: underBudget().gives([a0, b0]),
    want: ['BUDG-2'],
  },
  'BUDG-2 flags a second zone before the first pod has gone': {
    story: underBudget().gives([a0]).wait(minutes(10)).gives([b0]),
    want: ['BUDG-2'],
  },
  'BUDG-2 flags a second zone while the successor in the first is not ready': {
    story: underBudget().gives([a0]).remove(a0).gone(a0).create(a0).gives([b0]),
    want: ['BUDG-2'],
  },
  'BUDG-2 flags it although the ledger has forgotten the first, which went': {
    story: underBudget().gives([a0]).remove(a0).gone(a0).takesBack([a0]).gives([b0]),
    want: ['BUDG-2', 'BUDG-4'],
  },
  'BUDG-2 passes it once the first was taken back while its pod stood': {
    story: underBudget().gives([a0]).takesBack([a0]).gives([b0]).remove(b0),
    want: [],
  },
  'BUDG-2 flags an eviction beside a rollout of another zone': {
    story: underBudget().gives([a0]).gives([b0], eviction),
    want: ['BUDG-2'],
  },
  'BUDG-2 flags what the ledger of an unready zone gives elsewhere a second later': {
    story: underBudget().ready(b0, false).wait(millis(1_001)).gives([a0]),
    want: ['BUDG-2'],
  },
  'BUDG-2 flags a zone that lacks a pod': {
    story: underBudget().gone(b0, 'user').wait(seconds(2)).gives([a0]),
    want: ['BUDG-2'],
  },
  'BUDG-2 passes what its writer could not know yet': {
    story: underBudget().ready(b0, false).wait(millis(900)).gives([a0]),
    want: [],
  },
  'BUDG-2 passes what recovered just before': {
    story: underBudget().ready(b0, false).wait(minutes(5)).ready(b0).gives([a0]),
    want: [],
  },
  'BUDG-2 flags what its writer was not shown for more than 10 s': {
    story: (() => {
      const story = underBudget().wait(minutes(1));
      const seen = story.deliveries.length;
      story.ready(b0, false).wait(millis(10_001)).gives([a0]);
      story.deliveries.splice(seen);
      return story;
    })(),
    want: ['BUDG-2'],
  },
  'BUDG-2 passes it before': {
    story: (() => {
      const story = underBudget().wait(minutes(1));
      const seen = story.deliveries.length;
      story.ready(b0, false).wait(seconds(9)).gives([a0]);
      story.deliveries.splice(seen);
      return story;
    })(),
    want: [],
  },
  'BUDG-2 flags a deletion whose view shows another zone as unready, long after it was permitted': {
    story: underBudget()
      .gives([a0])
      .changeSet(
        zoneB,
        {
          metadata: {
            name: zoneB,
            namespace: 'test',
            uid: `${zoneB}-uid`,
            labels: { app: 'ingester' },
          },
        },
        'user',
      )
      .ready(b0, false)
      .wait(seconds(2))
      .remove(a0),
    want: ['BUDG-2'],
  },
  'BUDG-2 lets people write what they like': {
    story: underBudget().gives([a0, b0], byHand),
    want: [],
  },
  'BUDG-2 flags a zone that the budget selects alone': {
    story: underBudget({ selector: { matchLabels: { name: zoneA } } }).gives([a0]),
    want: ['BUDG-2'],
  },
  'BUDG-2 passes what was under way when the budget came': {
    story: new BudgetStory().remove(a0).remove(a1).budget({}).gives([a0, a1]),
    want: [],
  },
};

const limits: Record<string, BudgetCase> = {
  'BUDG-2 flags a second pod of a zone under a budget of one, as is the default': {
    story: underBudget().gives([a0]).gives([a1]),
    want: ['BUDG-2'],
  },
  'BUDG-2 passes two under a budget of two': {
    story: underBudget({ maxUnavailable: 2 }).gives([a0, a1]),
    want: [],
  },
  'BUDG-2 counts a slot once': {
    story: underBudget().gives([a0]).remove(a0).replaced(a0, 'prev-hash').gives([a0]).remove(a0),
    want: [],
  },
  'BUDG-2 counts what is unavailable in the zone': {
    story: underBudget({ maxUnavailable: 2 }).ready(a2, false).wait(seconds(2)).gives([a0, a1]),
    want: ['BUDG-2'],
  },
  'BUDG-2 passes the pod itself that is unavailable': {
    story: underBudget().ready(a0, false).wait(seconds(2)).gives([a0]),
    want: [],
  },
  'BUDG-2 rounds percent down': {
    story: underBudget({ maxUnavailablePercentage: 66 }).gives([a0, a1]),
    want: ['BUDG-2'],
  },
  'BUDG-2 passes two of three at 67 percent, and one at 1 percent': {
    story: rolled(underBudget({ maxUnavailablePercentage: 1 }))
      .budget({ maxUnavailablePercentage: 67 })
      .wait(seconds(11))
      .gives([a1, a2]),
    want: [],
  },
  'BUDG-2 gives a rollout its own limit under a budget of none': {
    story: underBudget({ maxUnavailable: 0 }).gives([a0, a1]),
    want: [],
  },
  'BUDG-2 flags a third then': {
    story: underBudget({ maxUnavailable: 0 }).gives([a0, a1, a2]),
    want: ['BUDG-2'],
  },
  'BUDG-2 flags an eviction under a budget of none': {
    story: underBudget({ maxUnavailable: 0 }).gives([a0], eviction),
    want: ['BUDG-2'],
  },
  'BUDG-2 counts no down-scale against the limit (D-17)': {
    story: underBudget().gives([a0, a1, a2], { by: 'scale-down' }),
    want: [],
  },
  'BUDG-2 allows by a limit that was lowered 10 s ago': {
    story: underBudget({ maxUnavailable: 2 })
      .budget({ maxUnavailable: 1 })
      .wait(seconds(9))
      .gives([a0, a1]),
    want: [],
  },
  'BUDG-2 flags it later': {
    story: underBudget({ maxUnavailable: 2 })
      .budget({ maxUnavailable: 1 })
      .wait(seconds(11))
      .gives([a0, a1]),
    want: ['BUDG-2'],
  },
};

const inPartitions: Record<string, BudgetCase> = {
  'BUDG-2 passes several partitions of a zone': {
    story: underBudget(partitions).gives([a0, a1, a2]),
    want: [],
  },
  'BUDG-2 flags two replicas of a partition': {
    story: underBudget(partitions).gives([a0]).gives([b0]),
    want: ['BUDG-2'],
  },
  'BUDG-2 passes replicas of two partitions': {
    story: underBudget(partitions).gives([a0]).gives([b1]),
    want: [],
  },
  'BUDG-2 flags a replica elsewhere that is unavailable': {
    story: underBudget(partitions).ready(b0, false).wait(seconds(2)).gives([a0]),
    want: ['BUDG-2'],
  },
  'BUDG-2 passes one of another partition that is': {
    story: underBudget(partitions).ready(b1, false).wait(seconds(2)).gives([a0]),
    want: [],
  },
  'BUDG-2 flags a partition that a zone does not have': {
    story: underBudget(partitions)
      .changeSet(zoneC, { spec: { replicas: 2 }, status: { replicas: 2 } })
      .gives([a2]),
    want: ['BUDG-2'],
  },
  'BUDG-2 flags a replica that is ready for the delay, and no longer': {
    story: underBudget(delayed).ready(b0, false).ready(b0).wait(minutes(5)).gives([a0]),
    want: ['BUDG-2'],
  },
  'BUDG-2 passes one that is for a millisecond more': {
    story: underBudget(delayed).ready(b0, false).ready(b0).wait(millis(300_001)).gives([a0]),
    want: [],
  },
  'BUDG-2 believes a time to come no longer than it saw the pod ready': {
    story: (() => {
      const story = underBudget(delayed).gone(b0);
      const annotations = {
        'grafana.com/ready-time': formatRfc3339(after(story.now, minutes(60))),
      };
      story.create(b0, { annotations }).ready(b0);
      return story.wait(minutes(6)).gives([a0]);
    })(),
    want: [],
  },
  'BUDG-2 lets a partition have its limit': {
    story: underBudget({ ...partitions, maxUnavailable: 2 })
      .gives([a0])
      .gives([b0]),
    want: [],
  },
};

for (const [fact, judged] of Object.entries({ ...zones, ...limits, ...inPartitions })) {
  test(`judge() ${fact}`, () => assertJudged(judged));
}
