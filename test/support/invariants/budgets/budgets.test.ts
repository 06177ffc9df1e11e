/** What the judge finds in the ledgers of disruption budgets, and what it leaves alone: intents and releases. */
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import {
  assertJudged,
  type BudgetCase,
  BudgetStory,
  rolled,
  underBudget,
} from '../../judge/budget-story.ts';

import { operatorUser } from '../../judge/story-operator.ts';

const [a0, a1, a2] = ['ingester-zone-a-0', 'ingester-zone-a-1', 'ingester-zone-a-2'];
const zoneA = 'ingester-zone-a';
const [eviction, byHand] = [{ by: 'eviction' }, { user: 'user' }] as const;
const drained = { isEviction: true, user: 'kubectl' };
const reviewed = { areEvictionsReviewed: true };
const unreadable = { maxUnavailable: 1, maxUnavailablePercentage: 1 };

const intents: Record<string, BudgetCase> = {
  'BUDG-1 passes what was stored first': {
    story: underBudget().gives([a0]).remove(a0),
    want: [],
  },
  'BUDG-1 flags what was never stored': { story: underBudget().remove(a0), want: ['BUDG-1'] },
  'BUDG-1 flags what was stored at the same instant, and after it': {
    story: underBudget().remove(a0).gives([a0]),
    want: ['BUDG-1'],
  },
  'BUDG-1 flags what was stored while the request was on its way': {
    story: underBudget()
      .gives([a0])
      .remove(a0, { sentBefore: millis(1), seen: 13 }),
    want: ['BUDG-1'],
  },
  'BUDG-1 flags what was stored for a former pod of the slot': {
    story: underBudget().gives([a0]).remove(a0).replaced(a0, 'prev-hash').remove(a0),
    want: ['BUDG-1'],
  },
  'BUDG-1 flags what we had taken out ourselves': {
    story: underBudget().gives([a0]).takesBack([a0]).remove(a0),
    want: ['BUDG-1'],
  },
  'BUDG-1 passes what a user took out 10 s before': {
    story: underBudget().gives([a0]).ledgerGone().wait(seconds(10)).remove(a0),
    want: [],
  },
  'BUDG-1 flags it after that': {
    story: underBudget().gives([a0]).ledgerGone().wait(millis(10_001)).remove(a0),
    want: ['BUDG-1'],
  },
  'BUDG-1 passes a budget that is 10 s old, or selects others': {
    story: new BudgetStory()
      .budget({ selector: { matchLabels: { app: 'other' } } }, 'other')
      .budget({})
      .wait(seconds(10))
      .remove(a0),
    want: [],
  },
  'BUDG-1 flags under a budget whose limit changed a second ago': {
    story: underBudget().budget({ maxUnavailable: 2 }).wait(seconds(1)).remove(a0),
    want: ['BUDG-1'],
  },
  'BUDG-1 passes a stuck pod (D-48)': {
    story: underBudget().fails(a0).wait(minutes(2)).remove(a0),
    want: [],
  },
  'BUDG-1 flags a pod that was ready half a minute ago (D-57)': {
    story: underBudget().ready(a0, false).wait(seconds(30)).remove(a0),
    want: ['BUDG-1'],
  },
  'BUDG-1 flags a down-scale that nothing was stored for': {
    story: underBudget().changeSet(zoneA, { spec: { replicas: 2 } }, operatorUser),
    want: ['BUDG-1', 'SCAL-1'],
  },
  'BUDG-1 passes one with the reservations of its pods': {
    story: underBudget()
      .gives([a2], { by: 'scale-down' })
      .changeSet(zoneA, { spec: { replicas: 2 } }, operatorUser),
    want: ['SCAL-1'],
  },
  'BUDG-1 flags an eviction that nothing was stored for': {
    story: underBudget().remove(a0, drained),
    options: reviewed,
    want: ['BUDG-1'],
  },
  'BUDG-1 passes one with its reservation': {
    story: underBudget().gives([a0], eviction).remove(a0, drained),
    options: reviewed,
    want: [],
  },
  'BUDG-1 passes an eviction of a pod that does not run': {
    story: underBudget().turn(a0, { phase: 'Pending' }).remove(a0, drained),
    options: reviewed,
    want: [],
  },
  'BUDG-1 passes evictions that are not reviewed': {
    story: underBudget().remove(a0, drained),
    want: [],
  },
};

const unclear: Record<string, BudgetCase> = {
  'D-36 flags a deletion under two budgets, whatever is stored': {
    story: underBudget().budget({}, 'other').wait(seconds(11)).gives([a0]).remove(a0),
    want: ['D-36'],
  },
  'D-36 passes it while the second is 10 s old': {
    story: underBudget().budget({}, 'other').wait(seconds(10)).gives([a0]).remove(a0),
    want: [],
  },
  'D-36 passes it once one is gone': {
    story: underBudget()
      .budget({}, 'other')
      .wait(minutes(1))
      .budgetGone('other')
      .gives([a0])
      .remove(a0),
    want: [],
  },
  'D-36 flags an eviction under two budgets': {
    story: underBudget().budget({}, 'other').wait(minutes(1)).remove(a0, drained),
    options: reviewed,
    want: ['D-36'],
  },
  'D-36 flags a deletion under a budget that was never valid': {
    story: underBudget(unreadable).remove(a0),
    want: ['D-36'],
  },
  'D-36 flags it where it is unknown what that selects': {
    story: underBudget({ selector: {} }).remove(a0),
    want: ['D-36'],
  },
  'D-36 passes a stuck pod under it': {
    story: underBudget(unreadable).fails(a0).wait(minutes(2)).remove(a0),
    want: [],
  },
  'BUDG-2 keeps what a budget said before it could not be read any more': {
    story: underBudget({ maxUnavailable: 1 })
      .budget(unreadable)
      .wait(minutes(1))
      .gives([a0, a1])
      .remove(a0),
    want: ['BUDG-2'],
  },
};

const releases: Record<string, BudgetCase> = {
  'BUDG-4 passes what another pod has taken over': {
    story: rolled(underBudget()).takesBack([a0]),
    want: [],
  },
  'BUDG-4 flags a pod that is going': {
    story: underBudget().gives([a0]).remove(a0).wait(minutes(10)).takesBack([a0]),
    want: ['BUDG-4'],
  },
  'BUDG-4 flags a slot that is empty': {
    story: underBudget().gives([a0]).remove(a0).gone(a0).takesBack([a0]),
    want: ['BUDG-4'],
  },
  'BUDG-4 flags a successor that is not ready': {
    story: underBudget()
      .gives([a0])
      .remove(a0)
      .gone(a0)
      .create(a0)
      .wait(minutes(9))
      .takesBack([a0]),
    want: ['BUDG-4'],
  },
  'BUDG-4 passes a successor that was ready, and is not any more': {
    story: rolled(underBudget()).ready(a0, false).wait(seconds(5)).takesBack([a0]),
    want: [],
  },
  'BUDG-4 passes a slot that is gone': {
    story: underBudget()
      .gives([a2])
      .remove(a2)
      .gone(a2)
      .changeSet(zoneA, { spec: { replicas: 2 }, status: { replicas: 2 } })
      .takesBack([a2]),
    want: [],
  },
  'BUDG-4 flags a pod that a down-scale is about to take': {
    story: underBudget()
      .gives([a2], { by: 'scale-down' })
      .changeSet(zoneA, { spec: { replicas: 2 } })
      .wait(minutes(9))
      .takesBack([a2]),
    want: ['BUDG-4'],
  },
  'BUDG-4 passes an intent that was dropped': {
    story: underBudget().gives([a0]).wait(seconds(1)).takesBack([a0]),
    want: [],
  },
  'BUDG-4 flags one whose deletion is on its way, though it arrives a minute later': {
    story: underBudget()
      .gives([a0])
      .wait(seconds(2))
      .takesBack([a0])
      .wait(minutes(1))
      .remove(a0, { sentBefore: seconds(61), seen: 13 }),
    want: ['BUDG-4'],
  },
  'BUDG-4 flags one whose deletion got no answer a minute ago': {
    story: underBudget()
      .gives([a0])
      .remove(a0, { isUnheard: true, outcome: 'dropped' })
      .wait(minutes(1))
      .takesBack([a0]),
    want: ['BUDG-4'],
  },
  'BUDG-4 passes one whose deletion was refused': {
    story: underBudget().gives([a0]).remove(a0, { outcome: 409 }).wait(seconds(1)).takesBack([a0]),
    want: [],
  },
  'BUDG-4 flags an eviction that may still be used': {
    story: underBudget().gives([a0], eviction).wait(millis(119_999)).takesBack([a0]),
    want: ['BUDG-4'],
  },
  'BUDG-4 passes one of two minutes ago whose pod is available': {
    story: underBudget().gives([a0], eviction).wait(seconds(120)).takesBack([a0]),
    want: [],
  },
  'BUDG-4 flags it where the pod is not available': {
    story: underBudget().gives([a0], eviction).ready(a0, false).wait(minutes(5)).takesBack([a0]),
    want: ['BUDG-4'],
  },
  'BUDG-4 counts from the last claim of an eviction': {
    story: underBudget()
      .gives([a0], eviction)
      .wait(seconds(60))
      .gives([a0], eviction)
      .wait(seconds(60))
      .takesBack([a0]),
    want: ['BUDG-4'],
  },
  'BUDG-4 flags an eviction that is forgotten while a rollout has the same pod': {
    story: underBudget()
      .gives([a0], eviction)
      .gives([a0])
      .wait(seconds(10))
      .takesBack([a0], 'eviction'),
    want: ['BUDG-4'],
  },
  'BUDG-4 lets people take back what they like': {
    story: underBudget().gives([a0], eviction).takesBack([a0], undefined, byHand),
    want: [],
  },
  'BUDG-5 flags a pod that is counted twice': {
    story: underBudget().gives([a0]).writesAgain(2),
    want: ['BUDG-5'],
  },
  'BUDG-5 flags a ledger that is written as it was': {
    story: underBudget().gives([a0]).writesAgain(1),
    want: ['BUDG-5'],
  },
  'BUDG-5 flags an intent that is written again in its term': {
    story: underBudget().gives([a0]).wait(seconds(1)).gives([a0]),
    want: ['BUDG-5'],
  },
  'BUDG-5 passes one that the next term takes over': {
    story: underBudget().gives([a0]).wait(minutes(3)).gives([a0], { term: '2' }),
    want: [],
  },
  'QUIE-1 flags a write of a ledger while there is nothing to do': {
    story: underBudget().gives([a0]),
    options: { quiet: { from: underBudget().now } },
    want: ['QUIE-1'],
  },
};

for (const [fact, judged] of Object.entries({ ...intents, ...unclear, ...releases })) {
  test(`judge() ${fact}`, () => assertJudged(judged));
}
