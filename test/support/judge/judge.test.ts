import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, instant, type Millis, millis, minutes, seconds } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { ledgerName } from '#disruption-budget/api.ts';
import { setFacts } from '../history/facts.ts';
import type { Violation } from '../invariants/invariant.ts';
import { completionBound, waves } from '../invariants/liveness/completion.ts';
import type { StallStatement } from '../invariants/liveness/reasons.ts';
import type { Telling } from '../invariants/liveness/retold.ts';
import {
  type GroupOptions,
  ingesterGroup,
  type RawPodOptions,
  rawPod,
} from '../objects/objects.ts';
import { T0 } from '../objects/views.ts';
import type { JudgeOptions } from './chosen-invariants.ts';
import { follow, Judge, judge } from './judge.ts';
import { Story } from './story.ts';
import { operatorUser, type RemovalOptions } from './story-operator.ts';

/** Two zones, `last-hash` wanted, all pods still on `prev-hash`. */
function outdatedGroup(options: GroupOptions = {}): Story {
  return new Story(ingesterGroup({ zones: ['a', 'b'], currentRevision: 'prev-hash', ...options }));
}

/** Rolls one zone of three with max unavailable 2, as the operator should. */
function rollZone(story: Story, zone: string): Story {
  const set = `ingester-zone-${zone}`;
  return story
    .remove(`${set}-0`)
    .remove(`${set}-1`)
    .wait(seconds(5))
    .replaced(`${set}-0`)
    .replaced(`${set}-1`)
    .wait(seconds(5))
    .remove(`${set}-2`)
    .wait(seconds(5))
    .replaced(`${set}-2`)
    .changeSet(set, { status: { currentRevision: 'last-hash' } }, operatorUser);
}

/** SCAL-1 is left to its own tests: the sets of these stories are scaled for no reason at all. */
function broken(story: Story, options: Partial<JudgeOptions> = {}): readonly string[] {
  const all = { ours: isOurs, statements: story.statements, ...options };
  return ids(judge(story, all).violations).filter((id) => id !== 'SCAL-1');
}

function isOurs(user: string): boolean {
  return user === operatorUser;
}

function ids(violations: readonly Violation[]): readonly string[] {
  return [...new Set(violations.map((each) => each.id))].sort();
}

/** The containers of `pods`, which were ready, fail for a minute. */
function brokenFor(story: Story, pods: readonly string[], span = seconds(60)): Story {
  for (const pod of pods) story.fails(pod);
  return story.wait(span);
}

interface Case {
  readonly story: Story;
  readonly options?: Partial<JudgeOptions>;
  readonly want: readonly string[];
}

const [a0, a1, a2, b0] = [
  'ingester-zone-a-0',
  'ingester-zone-a-1',
  'ingester-zone-a-2',
  'ingester-zone-b-0',
];
const zoneA = 'ingester-zone-a';
const zoneB = 'ingester-zone-b';

/** A view that is a list of each zone, all at `revision`. */
function listsAt(revision: number): Readonly<Record<string, number>> {
  return { [zoneA]: revision, [zoneB]: revision, 'ingester-zone-c': revision };
}

/** Leaves a commit after `seen`, so that a view of `seen` is outdated from then on. */
function outdatedView(story: Story): number {
  const seen = story.revision;
  story.changeSet(zoneB, { metadata: { annotations: { 'rollout-max-unavailable': '1' } } }, 'user');
  return seen;
}

const paused = { metadata: { annotations: { 'grafana.com/rollout-paused': 'true' } } };

const exclusion: Record<string, Case> = {
  'EXCL-1 passes a rollout zone by zone': {
    story: rollZone(rollZone(outdatedGroup(), 'a'), 'b'),
    want: [],
  },
  'EXCL-1 flags a removal in a second zone while one is open': {
    story: outdatedGroup().remove(a0).remove(b0, { seen: 8 }),
    want: ['EXCL-1', 'EXCL-2'],
  },
  'EXCL-1 flags it although the pod of the first zone is back and not ready': {
    story: outdatedGroup().remove(a0).gone(a0).create(a0).remove(b0),
    want: ['EXCL-1', 'EXCL-2'],
  },
  'EXCL-1 passes a removal elsewhere once the slot was whole, even if it broke again': {
    story: (() => {
      const story = outdatedGroup().remove(a0).replaced(a0);
      const seen = story.revision;
      return story.ready(a0, false).remove(b0, { seen });
    })(),
    want: [],
  },
  'EXCL-1 flags a scale-down of a second zone while a removal is open (D-17)': {
    story: outdatedGroup()
      .remove(a0)
      .changeSet(zoneB, { spec: { replicas: 2 } }, operatorUser),
    want: ['EXCL-1'],
  },
  'EXCL-1 flags a removal while a scale-down of ours is open': {
    story: outdatedGroup()
      .changeSet(zoneB, { spec: { replicas: 2 } }, operatorUser)
      .remove(a0),
    want: ['EXCL-1'],
  },
  'EXCL-1 passes a removal after a scale-down that the status shows as done': {
    story: outdatedGroup()
      .changeSet(zoneB, { spec: { replicas: 2 } }, operatorUser)
      .gone('ingester-zone-b-2')
      .changeSet(zoneB, { status: { replicas: 2, readyReplicas: 2 } })
      .remove(a0),
    want: [],
  },
  'EXCL-1 passes a removal after the disrupted set was deleted': {
    story: outdatedGroup().remove(a0).setGone(zoneA).remove(b0),
    want: [],
  },
  'EXCL-1 takes no removal by another client for ours': {
    story: outdatedGroup().remove(a0, { user: 'kubectl' }).remove(b0, { user: 'kubectl' }),
    want: [],
  },
  'EXCL-2 flags a removal while another zone has an unready pod': {
    story: outdatedGroup().ready(a0, false).remove(b0),
    want: ['EXCL-2'],
  },
  'EXCL-2 flags a removal while another zone lacks a pod': {
    story: outdatedGroup().gone(a0).remove(b0),
    want: ['EXCL-2'],
  },
  'EXCL-2 flags it although that zone is paused': {
    story: outdatedGroup().changeSet(zoneA, paused, 'user').ready(a0, false).remove(b0),
    want: ['EXCL-2'],
  },
  'EXCL-2 passes what happened after the view': {
    story: (() => {
      const story = outdatedGroup();
      const seen = story.revision;
      return story.ready(a0, false).wait(millis(999)).remove(b0, { seen });
    })(),
    want: [],
  },
  'EXCL-2 flags a view that was outdated for more than 10 s': {
    story: (() => {
      const story = outdatedGroup();
      const seen = outdatedView(story);
      return story.wait(millis(10_001)).remove(a0, { seen });
    })(),
    want: ['EXCL-2'],
  },
  'EXCL-2 counts the age up to the sending of the request (D-7)': {
    story: (() => {
      const story = outdatedGroup();
      const seen = outdatedView(story);
      return story.wait(seconds(30)).remove(a0, { seen, sentBefore: seconds(20) });
    })(),
    want: [],
  },
  'EXCL-2 passes an old revision after which nothing happened': {
    story: outdatedGroup().wait(minutes(60)).remove(a0),
    want: [],
  },
  'EXCL-2 flags a view without our own earlier removal elsewhere': {
    story: (() => {
      const story = outdatedGroup();
      const seen = story.revision;
      return story.remove(a0).replaced(a0).remove(b0, { seen });
    })(),
    want: ['EXCL-2'],
  },
};

const maxUnavailable: Record<string, Case> = {
  'MAXU-1 passes two removals at a limit of two': {
    story: outdatedGroup().remove(a0).remove(a1),
    want: [],
  },
  'MAXU-1 flags three': {
    story: outdatedGroup().remove(a0).remove(a1).remove(a2, { seen: 8 }),
    want: ['MAXU-1', 'MAXU-2'],
  },
  'MAXU-1 does not count a scale-down of the same set (D-17)': {
    story: outdatedGroup({ maxUnavailable: '1' })
      .changeSet(zoneA, { spec: { replicas: 1 } }, operatorUser)
      .gone(a1)
      .gone(a2)
      .changeSet(zoneA, { status: { replicas: 1 } })
      .remove(a0),
    want: [],
  },
  'MAXU-1 does not count a scale-down that is under way either': {
    story: outdatedGroup({ maxUnavailable: '1' })
      .changeSet(zoneA, { spec: { replicas: 2 } }, operatorUser)
      .remove(a0),
    want: [],
  },
  'MAXU-1 flags a pod that was available less than a minute ago (D-57)': {
    story: (() => {
      const story = outdatedGroup({ maxUnavailable: '1' }).remove(a0);
      const seen = story.revision;
      return story.ready(a1, false).remove(a1, { seen });
    })(),
    want: ['MAXU-1', 'MAXU-2'],
  },
  'MAXU-1 passes one that has not been available for a minute': {
    story: outdatedGroup({ maxUnavailable: '1' })
      .ready(a1, false)
      .wait(seconds(60))
      .remove(a0)
      .remove(a1),
    want: ['MAXU-2'],
  },
  'MAXU-2 flags the removal of a pod that the view did not contain': {
    story: (() => {
      const story = outdatedGroup({ maxUnavailable: '1' }).ready(a1, false);
      const seen = story.revision;
      return story.replaced(a0, 'prev-hash').remove(a0, { seen });
    })(),
    want: ['MAXU-2', 'REV-1'],
  },
  'MAXU-1 and MAXU-2 forbid new ones after the limit was lowered, and do not undo open ones': {
    story: outdatedGroup()
      .remove(a0)
      .remove(a1)
      .changeSet(zoneA, { metadata: { annotations: { 'rollout-max-unavailable': '1' } } }, 'user'),
    want: [],
  },
  'MAXU-2 flags a removal that an unready pod leaves no room for': {
    story: outdatedGroup().ready(a0, false).remove(a1).remove(a2),
    want: ['MAXU-2'],
  },
  'MAXU-2 counts what we took since the view': {
    story: (() => {
      const story = outdatedGroup({ maxUnavailable: '1' });
      const seen = story.revision;
      return story.remove(a0).replaced(a0).remove(a1, { seen });
    })(),
    want: ['MAXU-2'],
  },
  'MAXU-2 lets no slot that is whole again make room in a view of one revision': {
    story: (() => {
      const story = outdatedGroup({ maxUnavailable: '1' }).ready(a2, false);
      const seen = story.revision;
      return story.ready(a2).remove(a0, { seen });
    })(),
    want: ['MAXU-2'],
  },
  'MAXU-2 lets none make room in a view of lists either': {
    story: (() => {
      const story = outdatedGroup({ maxUnavailable: '1' }).ready(a2, false);
      const seen = listsAt(story.revision);
      return story.ready(a2).remove(a0, { seen });
    })(),
    want: ['MAXU-2'],
  },
  'MAXU-2 lets a pod make room that is whole in what is stated as laid over the lists': {
    story: (() => {
      const story = outdatedGroup({ maxUnavailable: '1' }).ready(a2, false);
      const seen = listsAt(story.revision);
      story.ready(a2);
      return story.remove(a0, { seen, newer: { [a2]: story.revision } });
    })(),
    want: [],
  },
  'MAXU-2 lets no other pod make room by it': {
    story: (() => {
      const story = outdatedGroup({ maxUnavailable: '2' }).ready(a1, false).ready(a2, false);
      const seen = listsAt(story.revision);
      const { revision } = story.ready(a2, false).ready(a2).ready(a1);
      return story.remove(a0, { seen, newer: { [a1]: revision } }).remove(a2, { seen });
    })(),
    want: ['MAXU-2'],
  },
  'MAXU-2 counts a pod that is not ready in what is stated as laid over the lists': {
    story: (() => {
      const story = outdatedGroup({ maxUnavailable: '1' });
      const seen = listsAt(story.revision);
      story.ready(a2, false);
      return story.remove(a0, { seen, newer: { [a2]: story.revision } });
    })(),
    want: ['MAXU-2'],
  },
  'MAXU-2 holds nothing against a request that a later one, which counted it, overtook': {
    story: (() => {
      const story = outdatedGroup().ready(a2, false);
      const seen = story.revision;
      story.ready(a2).wait(seconds(3)).remove(a1);
      return story.remove(a0, { seen, sentBefore: seconds(3) });
    })(),
    want: [],
  },
  'MAXU-2 flags a request that overtook an earlier one and did not count it': {
    story: (() => {
      const story = outdatedGroup({ maxUnavailable: '1' });
      const seen = story.revision;
      story.wait(seconds(3)).remove(a1).replaced(a1);
      return story.remove(a0, { seen, sentBefore: seconds(3) });
    })(),
    want: ['MAXU-2'],
  },
  'MAXU-2 counts a slot once, though the view shows it and we took it since': {
    story: (() => {
      const story = outdatedGroup().ready(a0, false);
      const seen = story.revision;
      return story.ready(a0).remove(a0).remove(a1, { seen });
    })(),
    want: [],
  },
  'MAXU-2 flags the replacement of outdated pods in two zones that are not ready just now (D-48)': {
    story: outdatedGroup({ maxUnavailable: '1' })
      .ready(a0, false)
      .ready(a1, false)
      .ready(b0, false)
      .remove(a0)
      .remove(a1)
      .remove(b0),
    want: ['EXCL-1', 'EXCL-2', 'MAXU-1', 'MAXU-2'],
  },
  'MAXU-2 flags a replacement as costly when its view did not show the pod as unavailable': {
    story: (() => {
      const story = outdatedGroup({ maxUnavailable: '1' }).ready(a1, false);
      const seen = story.revision;
      return story.ready(a0, false).remove(a0, { seen });
    })(),
    want: ['MAXU-2'],
  },
  'MAXU-2 counts a ready pod as unavailable for minReadySeconds': {
    story: outdatedGroup({ maxUnavailable: '1', minReadySeconds: 30 })
      .remove(a0)
      .replaced(a0)
      .wait(seconds(29))
      .remove(a1),
    want: ['MAXU-1', 'MAXU-2'],
  },
  'MAXU-2 counts it as available after minReadySeconds': {
    story: outdatedGroup({ maxUnavailable: '1', minReadySeconds: 30 })
      .remove(a0)
      .replaced(a0)
      .wait(seconds(30))
      .remove(a1),
    want: [],
  },
};

const revisions: Record<string, Case> = {
  'REV-1 flags a delete without a uid': {
    story: outdatedGroup().remove(a0, { uid: undefined }),
    want: ['REV-1'],
  },
  'REV-1 flags a delete without a resourceVersion': {
    story: outdatedGroup().remove(a0, { resourceVersion: undefined }),
    want: ['REV-1'],
  },
  'REV-1 takes the touch of a terminating pod for no removal (D-8)': {
    story: outdatedGroup().remove(a0).touch(a0),
    want: [],
  },
  'REV-1 flags a commit on another uid': {
    story: outdatedGroup().remove(a0, { uid: 'another' }),
    want: ['REV-1'],
  },
  'REV-1 flags a refused delete without a uid': {
    story: outdatedGroup().call({
      verb: 'delete',
      name: a0,
      preconditions: { resourceVersion: '1' },
      outcome: 409,
    }),
    want: ['REV-1'],
  },
  'REV-1 passes a delete that was refused unread': {
    story: outdatedGroup().call({ verb: 'delete', name: a0, outcome: 503 }),
    want: [],
  },
  'REV-1 flags a delete without preconditions that is answered': {
    story: outdatedGroup().call({ verb: 'delete', name: a0 }),
    want: ['REV-1'],
  },
  'REV-1 flags a removal without preconditions whose answer was lost': {
    story: outdatedGroup().remove(a0, {
      uid: undefined,
      resourceVersion: undefined,
      outcome: 'dropped',
    }),
    want: ['REV-1'],
  },
  'REV-1 flags a delete of the collection': {
    story: outdatedGroup().call({ verb: 'deletecollection' }),
    want: ['REV-1'],
  },
  'REV-1 flags a uid that the view did not show': {
    story: (() => {
      const story = outdatedGroup();
      const seen = story.revision;
      return story.replaced(a0, 'prev-hash').remove(a0, { seen });
    })(),
    want: ['REV-1'],
  },
  'REV-1 flags a removal whose calls were not recorded': {
    story: outdatedGroup().gone(a0, operatorUser),
    want: ['REV-1'],
  },
  'REV-1 asks no resourceVersion of an eviction, nor REV-2 an outdated pod': {
    story: new Story(ingesterGroup()).remove(a0, { isEviction: true, resourceVersion: undefined }),
    want: [],
  },
  'REV-2 flags a delete of a pod on the target revision': {
    story: new Story(ingesterGroup()).remove(a0),
    want: ['REV-2'],
  },
  'REV-2 flags a delete while the target is unknown': {
    story: outdatedGroup()
      .changeSet(zoneA, { metadata: { generation: 2 } }, 'user')
      .remove(a0),
    want: ['REV-2'],
  },
  'REV-2 judges by the target in the view': {
    story: (() => {
      const story = outdatedGroup();
      const seen = story.revision;
      return story
        .changeSet(zoneA, { status: { updateRevision: 'prev-hash' } })
        .remove(a0, { seen });
    })(),
    want: [],
  },
  'REV-2 flags a delete of a pod that no set owns': {
    story: new Story({
      sets: ingesterGroup().sets,
      pods: [rawPod({ setUid: 'foreign-uid', revision: 'prev-hash' })],
    }).remove(a0),
    want: ['REV-2'],
  },
  'REV-2 flags a free replacement on a view that was outdated for too long': {
    story: (() => {
      const story = brokenFor(outdatedGroup(), [a0]);
      const seen = outdatedView(story);
      return story.wait(seconds(11)).remove(a0, { seen });
    })(),
    want: ['REV-2'],
  },
  'REV-3 flags a second deletion of the same pod': {
    story: outdatedGroup().remove(a0).wait(seconds(1)).remove(a0, { isFinal: true }),
    want: ['REV-3'],
  },
  'REV-3 takes a change of the dying pod for no arrival': {
    story: outdatedGroup()
      .remove(a0)
      .wait(seconds(1))
      .touch(a0, 'kubelet')
      .remove(a0, { isFinal: true }),
    want: ['REV-3'],
  },
  'REV-3 passes a second deletion after the slot got an outdated pod again': {
    story: outdatedGroup().remove(a0).replaced(a0, 'prev-hash').remove(a0),
    want: [],
  },
  'REV-3 flags a second deletion after the slot got a pod on the target': {
    story: outdatedGroup().remove(a0).replaced(a0, 'last-hash').remove(a0),
    want: ['REV-2', 'REV-3'],
  },
};

const holds: Record<string, Case> = {
  'RC-40 flags a deletion in a paused set': {
    story: outdatedGroup().changeSet(zoneA, paused, 'user').remove(a0),
    want: ['RC-40'],
  },
  'RC-40 passes a deletion beside a paused set': {
    story: outdatedGroup().changeSet(zoneB, paused, 'user').remove(a0),
    want: [],
  },
  'RC-40 judges by the pause in the view': {
    story: (() => {
      const story = outdatedGroup();
      const seen = story.revision;
      return story.changeSet(zoneA, paused, 'user').remove(a0, { seen });
    })(),
    want: [],
  },
  'RC-23 flags a deletion beside a set with another strategy': {
    story: outdatedGroup()
      .changeSet(zoneB, { spec: { updateStrategy: { type: 'RollingUpdate' } } }, 'user')
      .remove(a0),
    want: ['RC-23'],
  },
};

const proofs: Record<string, Case> = {
  'D-7 flags a removal without a statement': {
    story: outdatedGroup().remove(a0, { isSilent: true }),
    want: ['D-7'],
  },
  'D-7 flags a view that is older than its proof': {
    story: outdatedGroup().ready(a2).remove(a0, { seen: 8, proof: 9 }),
    want: ['D-7'],
  },
  'D-7 passes a view that is newer than its proof, and judges by the view': {
    story: (() => {
      const story = outdatedGroup({ maxUnavailable: '1' }).remove(a0);
      const proof = story.revision;
      return story.replaced(a0).remove(a1, { proof });
    })(),
    want: [],
  },
  'D-7 flags a revision that the client got after it had sent': {
    story: outdatedGroup()
      .wait(seconds(2))
      .ready(a2)
      .remove(a0, { sentBefore: seconds(1) }),
    want: ['D-7'],
  },
  'D-7 flags a revision that the client had not been given': {
    story: outdatedGroup().remove(a0, { seen: 99 }),
    want: ['D-7'],
  },
  'D-7 flags a pod that is stated newer than its list, and is older': {
    story: (() => {
      const story = outdatedGroup({ maxUnavailable: '1' }).ready(a2);
      const whole = story.revision;
      story.ready(a2, false);
      return story.remove(a0, { seen: listsAt(story.revision), newer: { [a2]: whole } });
    })(),
    want: ['D-7'],
  },
  'D-7 flags a pod that is stated at a revision that it never had': {
    story: (() => {
      const story = outdatedGroup();
      const seen = listsAt(story.revision);
      story.ready(a1);
      return story.remove(a0, { seen, newer: { [a2]: story.revision } });
    })(),
    want: ['D-7'],
  },
  'D-7 flags a pod that is stated as seen and was never there': {
    story: (() => {
      const story = outdatedGroup();
      const seen = listsAt(story.revision);
      story.ready(a1);
      return story.remove(a0, { seen, newer: { 'ingester-zone-a-9': story.revision } });
    })(),
    want: ['D-7'],
  },
  'D-7 flags a set that is stated newer than the list of sets, and is older': {
    story: (() => {
      const story = outdatedGroup();
      const wide = story.changeSet(zoneA, {}).revision;
      story.changeSet(zoneA, { metadata: { annotations: { 'rollout-max-unavailable': '1' } } });
      return story.remove(a0, { newerSets: { [zoneA]: wide } });
    })(),
    want: ['D-7'],
  },
  'D-7 passes a set that is stated newer than the list of sets, and is': {
    story: (() => {
      const story = outdatedGroup();
      const seen = story.revision;
      const annotations = { 'rollout-max-unavailable': '1' };
      const { revision } = story.changeSet(zoneA, { metadata: { annotations } });
      return story.remove(a0, { seen, newerSets: { [zoneA]: revision } });
    })(),
    want: [],
  },
  'D-7 flags a list that is stated as it became only later, also where deliveries are unknown': {
    story: (() => {
      const story = outdatedGroup({ maxUnavailable: '1' }).ready(a2, false);
      return story.remove(a0, { seen: listsAt(story.revision + 2) }).ready(a2);
    })(),
    options: { areDeliveriesKnown: false },
    want: ['D-7'],
  },
};

/** Pods, and sets, that were seen newer than the lists of a view (D-49). */
const laidOver: Record<string, Case> = {
  'D-7 flags a pod that is stated newer before its client had been given it': {
    story: (() => {
      const story = outdatedGroup();
      const seen = listsAt(story.revision);
      const { revision } = story.wait(seconds(2)).ready(a2);
      return story.remove(a0, { seen, newer: { [a2]: revision }, sentBefore: seconds(1) });
    })(),
    want: ['D-7'],
  },
  'D-7 flags a set that is stated newer before its client had been given it': {
    story: (() => {
      const story = outdatedGroup();
      const seen = story.revision;
      const { revision } = story.wait(seconds(2)).changeSet(zoneB, {});
      return story.remove(a0, { seen, newerSets: { [zoneB]: revision }, sentBefore: seconds(1) });
    })(),
    want: ['D-7'],
  },
  'REV-1 passes the uid of a pod that was stated as made anew since its list': {
    story: (() => {
      const { story, seen, newer } = madeAnew();
      return story.remove(a0, { seen, newer });
    })(),
    want: [],
  },
  'SHOWN passes it too, also where it was refused': {
    story: (() => {
      const { story, seen, newer } = madeAnew();
      return story.remove(a0, { seen, newer, outcome: 409 });
    })(),
    want: [],
  },
  'MAXU-2 counts no pod of ours that was stated as whole again since its list': {
    story: (() => {
      const story = outdatedGroup({ maxUnavailable: '1' });
      const seen = listsAt(story.revision);
      const { revision } = story.remove(a1, { seen }).replaced(a1);
      return story.remove(a0, { seen, newer: { [a1]: revision } });
    })(),
    want: [],
  },
  'EXCL-2 passes a scale-down of another zone that was stated as over since the list of sets': {
    story: (() => {
      const story = outdatedGroup();
      const seen = listsAt(story.revision);
      const scaled = story.changeSet(zoneB, { spec: { replicas: 2 } }, operatorUser);
      scaled.gone('ingester-zone-b-2');
      const { revision } = scaled.changeSet(zoneB, { status: { replicas: 2, readyReplicas: 2 } });
      return story.remove(a0, { seen, newerSets: { [zoneB]: revision } });
    })(),
    want: [],
  },
  'a pod that was stated as stuck since its list need not wait for the other zones (D-48)': {
    story: (() => {
      const { story, seen, newer } = stuckSince();
      return story.remove(a2, { seen, newer });
    })(),
    want: [],
  },
  'MAXU-2 counts a replacement that was stated as under way since its list (D-48)': {
    story: (() => {
      const { story, seen, newer } = stuckSince();
      const { revision } = story.remove(a1, { user: 'kubectl' });
      return story.remove(a2, { seen, newer: { ...newer, [a1]: revision } });
    })(),
    want: ['MAXU-2'],
  },
  'a pod that was stated as ready since its list is not stuck at once (D-48)': {
    story: (() => {
      const { story } = stuckSince();
      const seen = listsAt(story.revision);
      const { revision } = story.wait(seconds(2)).ready(a2).wait(seconds(2)).fails(a2);
      return story.remove(a2, { seen, newer: { [a2]: revision } });
    })(),
    want: ['EXCL-2'],
  },
};

/** What happened since the lists that a removal says it rests on, and what it says it saw of that. */
type Since = Required<Pick<RemovalOptions, 'seen' | 'newer'>> & { readonly story: Story };

/** A pod that another client deleted, and that was recreated as it was, since the lists. */
function madeAnew(): Since {
  const story = outdatedGroup();
  const seen = listsAt(story.revision);
  const { revision } = story.gone(a0).create(a0, { revision: 'prev-hash' }).ready(a0);
  return { story, seen, newer: { [a0]: revision } };
}

/** The same of another one, which cannot start, while the other zone lacks a pod. */
function stuckSince(): Since {
  const story = outdatedGroup({ maxUnavailable: '1' }).ready(b0, false);
  const seen = listsAt(story.revision);
  story.gone(a2).create(a2, { revision: 'prev-hash' });
  const { revision } = story.fails(a2, 'ImagePullBackOff');
  return { story, seen, newer: { [a2]: revision } };
}

const allOfA = [a0, a1, a2];
const allOfB = [b0, 'ingester-zone-b-1', 'ingester-zone-b-2'];
const all = [...allOfA, ...allOfB];
const one = { maxUnavailable: '1' } as const;

/** Zone a waits for its pods, which were never ready, to get their image. */
function neverReady(story: Story, pods: readonly string[], reason = 'ImagePullBackOff'): Story {
  for (const pod of pods) story.gone(pod).create(pod, { revision: 'prev-hash' }).fails(pod, reason);
  return story;
}

/** Pods of all zones whose status `options` describe, for `span`, and then one of each of two zones goes. */
function bothZones(options: RawPodOptions, span: Millis): Story {
  const story = outdatedGroup(one);
  for (const pod of all) story.turn(pod, { ready: false, unreadySince: T0, ...options });
  return story.wait(span).remove(a0).remove(b0);
}

const stuck: Record<string, Case> = {
  'D-48 flags a hiccup: all probes fail for 2 s, and what is not ready goes (demonstration 1)': {
    story: (() => {
      const story = outdatedGroup(one)
        .remove(a0)
        .allReady([a1, a2, ...allOfB], false);
      for (const pod of [a1, a2, ...allOfB]) story.remove(pod);
      return story;
    })(),
    want: ['EXCL-1', 'EXCL-2', 'MAXU-1', 'MAXU-2'],
  },
  'D-48 flags a store that replays its log for 20 minutes and is restarted in each zone (demonstration 1)':
    { story: bothZones({ isStartingUp: true }, minutes(20)), want: ['EXCL-2', 'MAXU-2'] },
  'D-48 flags it after an hour, while the start-up probe runs': {
    story: bothZones({ isStartingUp: true }, minutes(60)),
    want: ['EXCL-2', 'MAXU-2'],
  },
  'D-48 flags pods of nodes that do not report, however long (demonstration 1)': {
    story: bothZones({ isUnknown: true }, minutes(60)),
    want: ['EXCL-2', 'MAXU-2'],
  },
  'D-48 flags serving pods whose Ready condition says no time (demonstration 1)': {
    story: (() => {
      const story = outdatedGroup(one);
      for (const pod of all) story.turn(pod, { isTimeless: true });
      return story.remove(a0).remove(a1).remove(b0);
    })(),
    want: ['EXCL-1', 'EXCL-2', 'MAXU-1', 'MAXU-2'],
  },
  'D-48 flags pods with minReadySeconds whose Ready condition says no time': {
    story: (() => {
      const story = outdatedGroup({ ...one, minReadySeconds: 30 });
      for (const pod of all) story.turn(pod, { isTimeless: true });
      return story.remove(a0).remove(b0);
    })(),
    want: ['EXCL-1', 'EXCL-2', 'MAXU-2'],
  },
  'D-48 flags a broken pod whose unready condition says no time': {
    story: outdatedGroup()
      .turn(a0, { ready: false, isTimeless: true, waiting: 'CrashLoopBackOff' })
      .ready(b0, false)
      .wait(minutes(60))
      .remove(a0),
    want: ['EXCL-2'],
  },
  'D-48 passes a pod that was never ready and whose image cannot be pulled, whatever other zones lack':
    { story: neverReady(outdatedGroup(one), [a0]).ready(b0, false).remove(a0), want: [] },
  'D-48 passes one that crashes and has not been ready for 60 s': {
    story: brokenFor(outdatedGroup(one), [a0]).ready(b0, false).remove(a0),
    want: [],
  },
  'D-48 flags one that crashes and was ready 58 s ago': {
    story: brokenFor(outdatedGroup(one), [a0], seconds(58)).ready(b0, false).remove(a0),
    want: ['EXCL-2'],
  },
  'D-48 flags one that waits for a reason that the kubelet does not repeat': {
    story: neverReady(outdatedGroup(one), [a0], 'ContainerCreating').ready(b0, false).remove(a0),
    want: ['EXCL-2'],
  },
  'D-48 passes one that is Pending': {
    story: outdatedGroup(one)
      .gone(a0)
      .create(a0, { revision: 'prev-hash', phase: 'Pending' })
      .ready(b0, false)
      .remove(a0),
    want: [],
  },
  'D-48 passes one that has not been ready for 30 minutes': {
    story: outdatedGroup(one).ready(a0, false).ready(b0, false).wait(minutes(30)).remove(a0),
    want: [],
  },
  'D-48 flags one that has not been ready for 29 minutes': {
    story: outdatedGroup(one).ready(a0, false).ready(b0, false).wait(minutes(29)).remove(a0),
    want: ['EXCL-2'],
  },
  'D-48 flags it after any time where stuck-after is 0': {
    story: outdatedGroup(one).ready(a0, false).ready(b0, false).wait(minutes(60)).remove(a0),
    options: { stuckAfter: millis(0) },
    want: ['EXCL-2'],
  },
  'D-48 flags it where it was ready for a moment meanwhile': {
    story: outdatedGroup(one)
      .ready(a0, false)
      .wait(minutes(29))
      .ready(a0)
      .ready(a0, false)
      .ready(b0, false)
      .wait(minutes(1))
      .remove(a0),
    want: ['EXCL-2'],
  },
  'D-48 flags stuck pods of two zones at once': {
    story: neverReady(outdatedGroup(one), [a0, b0]).remove(a0).remove(b0),
    want: ['EXCL-1'],
  },
  'D-48 passes the second zone once the first one is whole': {
    story: neverReady(outdatedGroup(one), [a0, b0]).remove(a0).replaced(a0).remove(b0),
    want: [],
  },
  'D-48 passes the second zone once the new pod of the first is stuck itself': {
    story: neverReady(outdatedGroup(one), [a0, b0])
      .remove(a0)
      .gone(a0)
      .create(a0)
      .fails(a0)
      .remove(b0),
    want: [],
  },
  'D-48 passes over a zone that was paused meanwhile': {
    story: neverReady(outdatedGroup(one), [a0, b0])
      .remove(a0)
      .changeSet(zoneA, paused, 'user')
      .remove(b0),
    want: [],
  },
  'D-48 flags more replacements of stuck pods than the limit while a pod of the set is ready': {
    story: neverReady(outdatedGroup(one), [a0, a1]).remove(a0).remove(a1),
    want: ['MAXU-2'],
  },
  'D-48 passes all at once where no pod of the set is ready and all outdated ones are broken': {
    story: neverReady(outdatedGroup(one), allOfA).remove(a0).remove(a1).remove(a2),
    want: [],
  },
  'D-48 flags all at once where one of them was not ready for long, and is not broken': {
    story: brokenFor(outdatedGroup(one).ready(a0, false), [a1, a2], minutes(31))
      .remove(a1)
      .remove(a2),
    want: ['MAXU-2'],
  },
  'D-48 counts a missing pod above a stuck one as under way where all pods are made at once': {
    story: neverReady(outdatedGroup(one), [a1]).gone(a2).remove(a1),
    want: ['MAXU-2'],
  },
  'D-48 does not count it where pods are made in order': {
    story: neverReady(outdatedGroup(one), [a1])
      .changeSet(zoneA, { spec: { podManagementPolicy: 'OrderedReady' } }, 'user')
      .gone(a2)
      .remove(a1),
    want: [],
  },
  'D-48 lets no stuck pod excuse the removal of a ready one': {
    story: neverReady(outdatedGroup(one), [b0]).remove(a0),
    want: ['EXCL-2'],
  },
  'D-55 takes a pod without minReadySeconds that is Ready for available, whatever the clocks say': {
    story: outdatedGroup(one)
      .turn(b0, { ready: after(T0, minutes(60)) })
      .remove(a0),
    want: [],
  },
};

/** The state of a story, after which `change` is shown to the operator for `span` before it goes on as if it were not. */
function unheeded(story: Story, change: (story: Story) => Story, span = seconds(1)): Story {
  const seen = story.revision;
  return change(story).wait(span).remove(a1, { seen });
}

const isRolledBack = (story: Story): Story =>
  story.changeSet(zoneA, { status: { updateRevision: 'prev-hash' } });
const isLowered = (story: Story): Story =>
  story.changeSet(zoneA, { metadata: { annotations: { 'rollout-max-unavailable': '1' } } }, 'user');

const terms: Record<string, Case> = {
  'WRIT-1 passes one term after the other': {
    story: outdatedGroup().remove(a0, { term: 'lease/3/one' }).remove(a1, { term: 'lease/4/two' }),
    want: [],
  },
  'WRIT-1 flags a removal of a term that is over': {
    story: outdatedGroup().remove(a0, { term: 'lease/4/two' }).remove(a1, { term: 'lease/3/one' }),
    want: ['WRIT-1'],
  },
  'WRIT-1 flags two holders of one term': {
    story: outdatedGroup().remove(a0, { term: 'lease/4/two' }).remove(a1, { term: 'lease/4/one' }),
    want: ['WRIT-1'],
  },
  'WRIT-1 flags a term that comes back after the Lease was recreated': {
    story: outdatedGroup({ zones: ['a'], maxUnavailable: '3' })
      .remove(a0, { term: 'lease/4/one' })
      .remove(a1, { term: 'new/0/two' })
      .remove('ingester-zone-a-2', { term: 'lease/4/one' }),
    want: ['WRIT-1'],
  },
  'WRIT-1 flags a down-scale of a term that is over': scaled(
    outdatedGroup().remove(a0, { term: 'lease/4/two' }).scale(zoneA, 2, { term: 'lease/3/one' }),
    ['WRIT-1'],
  ),
};

/**
 * Of a zone that may lack two pods and lacks one, the operator deletes a1, and in the same millisecond a2, since a0 is
 * back where `isRoomMade`. The server ends the later request first.
 */
function overtaken({ isRoomMade }: { readonly isRoomMade: boolean }): Story {
  const story = outdatedGroup({ maxUnavailable: '2' }).remove(a0).gone(a0);
  story.create(a0, { revision: 'last-hash' }).wait(seconds(5));
  const seen = story.revision;
  if (isRoomMade) story.ready(a0);
  const answeredAfter = millis(1);
  story.remove(a2, { answeredAfter }).remove(a1, { seen, answeredAfter });
  const [first, later, earlier] = story.statements.splice(0);
  assert.ok(first && later && earlier);
  story.statements.push(first, earlier, later);
  return story;
}

const shown: Record<string, Case> = {
  'SHOWN flags a deletion a second after its client was shown that another zone lacks a pod (demonstration 2)':
    { story: unheeded(outdatedGroup(), (story) => story.gone(b0), seconds(1)), want: ['SHOWN'] },
  'SHOWN passes it 999 ms after': {
    story: unheeded(outdatedGroup(), (story) => story.gone(b0), millis(999)),
    want: [],
  },
  'SHOWN flags a fresh proof that vouches for an old view (demonstration 2)': {
    story: (() => {
      const story = outdatedGroup();
      const seen = story.revision;
      story.gone(b0).wait(seconds(2));
      return story.remove(a0, { seen, proof: seen });
    })(),
    want: ['SHOWN'],
  },
  'SHOWN flags a deletion after a rollback (demonstration 3)': {
    story: unheeded(outdatedGroup(), isRolledBack),
    want: ['SHOWN'],
  },
  'SHOWN flags a deletion after a pause': {
    story: unheeded(outdatedGroup(), (story) => story.changeSet(zoneA, paused, 'user')),
    want: ['SHOWN'],
  },
  'SHOWN flags a deletion beyond a limit that was lowered (demonstration 3)': {
    story: unheeded(outdatedGroup().remove(a0), isLowered),
    want: ['SHOWN'],
  },
  'SHOWN counts what is under way against a limit that was lowered (demonstration 3)': {
    story: unheeded(outdatedGroup().remove(a0, { isUnheard: true, outcome: 'dropped' }), isLowered),
    want: ['SHOWN'],
  },
  'SHOWN passes a deletion below the lowered limit': {
    story: unheeded(outdatedGroup(), isLowered),
    want: [],
  },
  'SHOWN flags a deletion after the set left the group': {
    story: unheeded(outdatedGroup(), (story) =>
      story.changeSet(zoneA, { metadata: { labels: { 'rollout-group': 'other' } } }, 'user'),
    ),
    want: ['SHOWN'],
  },
  'SHOWN flags a deletion after another set of the group got another strategy': {
    story: unheeded(outdatedGroup(), (story) =>
      story.changeSet(zoneB, { spec: { updateStrategy: { type: 'RollingUpdate' } } }, 'user'),
    ),
    want: ['SHOWN'],
  },
  'SHOWN flags a request for a pod that had changed, although it is refused': {
    story: (() => {
      const story = outdatedGroup();
      const seen = story.revision;
      const resourceVersion = '4';
      story.touch(a1, 'user').wait(seconds(1));
      return story.remove(a1, { seen, resourceVersion, outcome: 409 });
    })(),
    want: ['SHOWN'],
  },
  'SHOWN judges by when a request was sent, not by when it lands': {
    story: (() => {
      const story = outdatedGroup();
      const seen = story.revision;
      return story
        .gone(b0)
        .wait(seconds(3))
        .remove(a1, { seen, sentBefore: seconds(3) });
    })(),
    want: [],
  },
  'SHOWN flags a deletion while a request for another zone has no answer (demonstration 5)': {
    story: outdatedGroup()
      .remove(b0, { isUnheard: true, outcome: 'dropped' })
      .wait(seconds(5))
      .remove(a0),
    want: ['SHOWN'],
  },
  'SHOWN passes it once 120 s are over': {
    story: outdatedGroup()
      .remove(b0, { isUnheard: true, outcome: 'dropped' })
      .wait(millis(120_001))
      .remove(a0),
    want: [],
  },
  'SHOWN passes it once the cache shows a newer revision of that pod (D-52)': {
    story: outdatedGroup()
      .remove(b0, { isUnheard: true, outcome: 'dropped' })
      .touch(b0, 'user')
      .wait(seconds(5))
      .remove(a0),
    want: [],
  },
  'SHOWN flags it where the cache shows an older revision of that pod (D-52, demonstration 5)': {
    story: (() => {
      const story = outdatedGroup();
      const seen = story.revision;
      story.touch(b0, 'user').remove(b0, { isUnheard: true, outcome: 'dropped' });
      return story.wait(millis(500)).remove(a0, { seen });
    })(),
    want: ['SHOWN'],
  },
  'SHOWN passes it where the request was refused': {
    story: outdatedGroup().remove(b0, { outcome: 409 }).wait(seconds(5)).remove(a0),
    want: [],
  },
  'SHOWN counts only what left before, also where the server ended a later request of that millisecond first':
    { story: overtaken({ isRoomMade: true }), want: [] },
  'SHOWN flags the second of two requests of a millisecond for one place, whichever the server ended first':
    { story: overtaken({ isRoomMade: false }), want: ['MAXU-1', 'MAXU-2', 'SHOWN'] },
  'SHOWN passes the replacement of a stuck pod, whatever else was shown': {
    story: (() => {
      const story = neverReady(outdatedGroup(one), [a1]);
      const seen = story.revision;
      return story.ready(b0, false).wait(seconds(2)).remove(a1, { seen });
    })(),
    want: [],
  },
  'SHOWN counts a commit as shown after 3 s where it is unknown what was delivered': {
    story: unheeded(outdatedGroup(), (story) => story.gone(b0), seconds(3)),
    options: { areDeliveriesKnown: false, shownAfter: seconds(3) },
    want: ['SHOWN'],
  },
  'SHOWN counts none as shown before': {
    story: unheeded(outdatedGroup(), (story) => story.gone(b0), millis(2_999)),
    options: { areDeliveriesKnown: false, shownAfter: seconds(3) },
    want: [],
  },
  'SHOWN is not judged where that is unknown, unless somebody asks for it': {
    story: unheeded(outdatedGroup(), (story) => story.gone(b0), seconds(3)),
    options: { areDeliveriesKnown: false },
    want: [],
  },
};

/** Judges statements of down-scales, too. */
function scaled(story: Story, want: readonly string[]): Case {
  return { story, options: { scaleStatements: story.scaleStatements }, want };
}

const scalings: Record<string, Case> = {
  'D-7 passes a down-scale that says what it rests on': scaled(outdatedGroup().scale(zoneB, 2), []),
  'D-7 flags one that does not': scaled(outdatedGroup().scale(zoneB, 2, { isSilent: true }), [
    'D-7',
  ]),
  'D-7 passes one that takes no available pod': scaled(
    outdatedGroup().gone('ingester-zone-b-2').wait(minutes(2)).scale(zoneB, 2, { isSilent: true }),
    [],
  ),
  'D-7 flags a down-scale on a view that its client had not been given': scaled(
    outdatedGroup().scale(zoneB, 2, { seen: 99 }),
    ['D-7', 'SHOWN'],
  ),
  'D-7 flags a down-scale on a view that is older than its proof': scaled(
    outdatedGroup().ready(a2).scale(zoneB, 2, { seen: 8, proof: 9 }),
    ['D-7'],
  ),
  'EXCL-2 flags a down-scale on a view that was outdated for more than 10 s': scaled(
    (() => {
      const story = outdatedGroup();
      const seen = outdatedView(story);
      return story.wait(millis(10_001)).scale(zoneB, 2, { seen });
    })(),
    ['EXCL-2'],
  ),
  'EXCL-2 flags a down-scale on a view without our removal elsewhere': scaled(
    (() => {
      const story = outdatedGroup();
      const seen = story.revision;
      return story.remove(a0).replaced(a0).scale(zoneB, 2, { seen });
    })(),
    ['EXCL-2'],
  ),
  'SHOWN flags a down-scale a second after its client was shown that its count had changed': scaled(
    (() => {
      const story = outdatedGroup().changeSet(zoneB, { spec: { replicas: 4 } }, 'user');
      const [statement] = new Story(ingesterGroup()).scale(zoneB, 2).scaleStatements;
      assert.ok(statement);
      story.wait(seconds(2));
      story.scaleStatements.push({ ...statement, sentAt: story.now });
      return story;
    })(),
    ['SHOWN'],
  ),
  'SHOWN flags a down-scale while our removal elsewhere is open, as its client had been shown':
    scaled(
      (() => {
        const story = outdatedGroup();
        const seen = story.revision;
        return story.remove(a0).wait(seconds(2)).scale(zoneB, 2, { seen });
      })(),
      ['EXCL-1', 'EXCL-2', 'SHOWN'],
    ),
  'EXCL-1 counts slots that were available within the last minute as taken by a down-scale (D-57)':
    scaled(outdatedGroup().remove(a0).ready('ingester-zone-b-2', false).scale(zoneB, 2), [
      'EXCL-1',
      'SHOWN',
    ]),
};

const economy: Record<string, Case> = {
  'QUIE-2 flags 61 writes on one object within a minute (demonstration 7)': {
    story: writes(61, 500),
    want: ['QUIE-2'],
  },
  'QUIE-2 passes 60': { story: writes(60, 500), want: [] },
  'QUIE-2 passes a write a second': { story: writes(200, 1_000), want: [] },
  'QUIE-2 passes a write of a ledger for each pod that a user evicts': {
    story: ledgerWrites(100, true),
    want: [],
  },
  'QUIE-2 flags 61 writes of a ledger within a minute in which no pod goes': {
    story: ledgerWrites(61, false),
    want: ['QUIE-2'],
  },
};

/** Writes of the status of one resource, one every `every` milliseconds. */
function writes(count: number, every: number): Story {
  const story = new Story(ingesterGroup());
  const resource = 'replicatemplates.rollout-operator.grafana.com';
  for (let index = 0; index < count; index += 1) {
    story.wait(millis(every)).call({ verb: 'patch', resource, name: 'ingester' });
  }
  return story;
}

/** Writes of a ledger, two a second. @param isEvicting whether a user evicts a pod after each */
function ledgerWrites(count: number, isEvicting: boolean): Story {
  const story = new Story(ingesterGroup());
  const evict = {
    user: 'drainer',
    verb: 'create',
    resource: 'pods',
    subresource: 'eviction',
    name: a0,
  };
  for (let index = 0; index < count; index += 1) {
    story
      .wait(millis(500))
      .call({ verb: 'update', resource: 'configmaps', name: ledgerName('ingester') });
    if (isEvicting) story.call(evict);
  }
  return story;
}

const complete = (by: number): Partial<JudgeOptions> => ({ completion: { by: instant(by) } });
const stalled = (): Story => outdatedGroup().ready(a0, false).ready(b0, false);
const says = (said: Partial<StallStatement>): Partial<JudgeOptions> => ({
  stalls: { said: [{ at: T0, namespace: 'test', group: 'ingester', reason: '', ...said }] },
  end: after(T0, seconds(61)),
});

const twoHours = minutes(120);

/** Two zones are broken for two hours, and the operator reports it at the given minutes. */
function toldAt(times: readonly number[], options: { readonly reason?: string } = {}): Case {
  const story = stalled();
  const said = [
    {
      at: T0,
      namespace: 'test',
      group: 'ingester',
      reason: 'MultipleZonesUnavailable',
      ...options,
    },
  ];
  const logged: Telling[] = [];
  for (const time of times) {
    story.wait(millis(after(T0, minutes(time)) - story.now)).event(zoneA);
    logged.push({ at: story.now, namespace: 'test', set: zoneA });
  }
  return {
    story,
    options: { stalls: { said, retold: { logged } }, end: after(T0, twoHours) },
    want: [],
  };
}

const everyTenMinutes = Array.from({ length: 12 }, (_, index) => index * 10);

const retold: Record<string, Case> = {
  'LIVE-2 passes a stall of two hours that is reported every 10 minutes (D-54)':
    toldAt(everyTenMinutes),
  'LIVE-2 flags a stall of two hours that is reported once (demonstration 6)': {
    ...toldAt([0]),
    want: ['LIVE-2'],
  },
  'LIVE-2 flags it where one telling is left out': {
    ...toldAt(everyTenMinutes.filter((minute) => minute !== 50)),
    want: ['LIVE-2'],
  },
  'LIVE-2 flags it where only Events are reported again, and no log line': (() => {
    const { story, options, want } = toldAt(everyTenMinutes);
    const stalls = { said: options?.stalls?.said ?? [], retold: { logged: [] } };
    return { story, options: { ...options, stalls }, want: [...want, 'LIVE-2'] };
  })(),
  'LIVE-2 flags it where only log lines are reported again, and no Event': (() => {
    const { options } = toldAt(everyTenMinutes);
    return { story: stalled(), options: options ?? {}, want: ['LIVE-2'] };
  })(),
  'LIVE-2 passes that where the Role allows no Events': (() => {
    const { options } = toldAt(everyTenMinutes);
    const { said = [], retold: told } = options?.stalls ?? {};
    const stalls = { said, retold: { ...told, areEventsJudged: false } };
    return { story: stalled(), options: { ...options, stalls }, want: [] };
  })(),
  'LIVE-2 passes a hold that a user asked for and that is reported once': {
    ...toldAt([0], { reason: 'Paused' }),
    options: {
      ...toldAt([0], { reason: 'Paused' }).options,
      stalls: {
        said: [{ at: T0, namespace: 'test', group: 'ingester', reason: 'Paused' }],
        predicates: { Paused: () => true },
        retold: { logged: [{ at: T0, namespace: 'test', set: zoneA }] },
      },
    },
  },
  'LIVE-2 flags a reason that stops being true after the first minute': {
    story: stalled(),
    options: {
      stalls: {
        said: [{ at: T0, namespace: 'test', group: 'ingester', reason: 'Mysterious' }],
        predicates: { Mysterious: isEarly() },
      },
      end: after(T0, minutes(30)),
    },
    want: ['LIVE-2'],
  },
  'LIVE-2 flags ZoneSettling without minReadySeconds, whatever a clock says (D-55, demonstration 9)':
    {
      story: outdatedGroup()
        .turn(a0, { ready: after(T0, minutes(60)) })
        .ready(b0, false),
      options: says({ reason: 'ZoneSettling' }),
      want: ['LIVE-2'],
    },
  'LIVE-1 flags a scaling that a clock holds up for an hour (demonstration 9)': {
    story: new Story(ingesterGroup()).changeSet(zoneA, { spec: { replicas: 2 } }, 'user'),
    options: complete(T0 + 60_000),
    want: ['LIVE-1'],
  },
};

/** True at the first look only. */
function isEarly(): () => boolean {
  let looks = 0;
  return () => {
    looks += 1;
    return looks === 1;
  };
}

function calm(extra: Story): Story {
  return extra.wait(minutes(5));
}
const ends: Record<string, Case> = {
  'LIVE-1 passes a group that is complete in time': {
    story: rollZone(rollZone(outdatedGroup(), 'a'), 'b'),
    options: complete(T0 + 30_000),
    want: [],
  },
  'LIVE-1 flags a group that is complete too late': {
    story: rollZone(rollZone(outdatedGroup(), 'a'), 'b'),
    options: complete(T0 + 20_000),
    want: ['LIVE-1'],
  },
  'LIVE-1 flags a group that does not stay complete': {
    story: rollZone(rollZone(outdatedGroup(), 'a'), 'b').wait(seconds(9)).ready(a0, false),
    options: complete(T0 + 30_000),
    want: ['LIVE-1'],
  },
  'LIVE-1 flags a status that does not say complete': {
    story: outdatedGroup({ podRevision: 'last-hash' }),
    options: complete(T0),
    want: ['LIVE-1'],
  },
  'LIVE-1 passes a paused set with outdated pods': {
    story: outdatedGroup({ annotations: { 'grafana.com/rollout-paused': 'true' } }),
    options: complete(T0),
    want: [],
  },
  'LIVE-3 flags a group that a corrected spec does not bring to its end': {
    story: stalled(),
    options: { completion: { by: T0, id: 'LIVE-3' } },
    want: ['LIVE-3'],
  },
  'LIVE-2 flags a stall without a reason': {
    story: stalled(),
    options: { stalls: { said: [] }, end: after(T0, seconds(61)) },
    want: ['LIVE-2'],
  },
  'LIVE-2 passes a reason that is given before the minute is over': {
    story: stalled(),
    options: says({ reason: 'MultipleZonesUnavailable', at: after(T0, seconds(60)) }),
    want: [],
  },
  'LIVE-2 flags a reason that is given later': {
    story: stalled(),
    options: says({ reason: 'MultipleZonesUnavailable', at: after(T0, seconds(61)) }),
    want: ['LIVE-2'],
  },
  'LIVE-2 passes a stall of less than a minute': {
    story: stalled(),
    options: { stalls: { said: [] }, end: after(T0, seconds(59)) },
    want: [],
  },
  'LIVE-2 passes a complete group that says nothing': {
    story: new Story(ingesterGroup()),
    options: { stalls: { said: [] }, end: after(T0, minutes(60)) },
    want: [],
  },
  'LIVE-2 passes MultipleZonesUnavailable when two zones are': {
    story: stalled(),
    options: says({ reason: 'MultipleZonesUnavailable' }),
    want: [],
  },
  'LIVE-2 flags MultipleZonesUnavailable when one zone is': {
    story: outdatedGroup().ready(a0, false),
    options: says({ reason: 'MultipleZonesUnavailable' }),
    want: ['LIVE-2'],
  },
  'LIVE-2 passes ZoneNotReady for the zone that it names': {
    story: outdatedGroup().ready(a0, false),
    options: says({ reason: 'ZoneNotReady', set: zoneA }),
    want: [],
  },
  'LIVE-2 flags ZoneNotReady for another zone': {
    story: outdatedGroup().ready(a0, false),
    options: says({ reason: 'ZoneNotReady', set: zoneB }),
    want: ['LIVE-2'],
  },
  'LIVE-2 passes MaxUnavailableReached at the limit': {
    story: outdatedGroup({ maxUnavailable: '1' }).ready(a0, false),
    options: says({ reason: 'MaxUnavailableReached' }),
    want: [],
  },
  'LIVE-2 flags MaxUnavailableReached below the limit': {
    story: outdatedGroup().ready(a0, false),
    options: says({ reason: 'MaxUnavailableReached' }),
    want: ['LIVE-2'],
  },
  'LIVE-2 flags Paused when nothing is': {
    story: stalled(),
    options: says({ reason: 'Paused' }),
    want: ['LIVE-2'],
  },
  'LIVE-2 passes MinReadySecondsPending while a ready pod ripens': {
    story: outdatedGroup({ minReadySeconds: 120 }).remove(a0).replaced(a0),
    options: says({ reason: 'MinReadySecondsPending' }),
    want: [],
  },
  'LIVE-2 flags a reason that cannot be checked': {
    story: stalled(),
    options: says({ reason: 'Mysterious' }),
    want: ['LIVE-2'],
  },
  'QUIE-1 passes reads, Events and Lease renewals': {
    story: calm(new Story(ingesterGroup()))
      .call({ verb: 'list' })
      .call({ verb: 'create', resource: 'events' })
      .call({ verb: 'update', resource: 'leases.coordination.k8s.io' }),
    options: { quiet: { from: T0 } },
    want: [],
  },
  'QUIE-1 flags a write that changes nothing': {
    story: calm(new Story(ingesterGroup())).call({ verb: 'patch', resource: 'statefulsets.apps' }),
    options: { quiet: { from: T0 } },
    want: ['QUIE-1'],
  },
  'QUIE-1 passes a write before the quiet time': {
    story: new Story(ingesterGroup()).call({ verb: 'patch', resource: 'statefulsets.apps' }),
    options: { quiet: { from: after(T0, seconds(1)) } },
    want: [],
  },
  'WRITES passes one delete a pod and one write a zone': {
    story: rollZone(rollZone(outdatedGroup(), 'a'), 'b'),
    options: { effort: { perSet: 1 } },
    want: [],
  },
  'WRITES flags a second write on a zone': {
    story: rollZone(outdatedGroup(), 'a').call({
      verb: 'update',
      resource: 'statefulsets.apps',
      name: zoneA,
    }),
    options: { effort: { perSet: 1 } },
    want: ['WRITES'],
  },
  'WRITES flags a delete that removes nothing': {
    story: rollZone(outdatedGroup(), 'a').call({
      verb: 'delete',
      name: a0,
      preconditions: { uid: 'x', resourceVersion: '1' },
      outcome: 404,
    }),
    options: { effort: { perSet: 1 } },
    want: ['WRITES'],
  },
};

for (const [fact, { story, options, want }] of Object.entries({
  ...exclusion,
  ...maxUnavailable,
  ...revisions,
  ...holds,
  ...proofs,
  ...laidOver,
  ...stuck,
  ...shown,
  ...terms,
  ...scalings,
  ...economy,
  ...retold,
  ...ends,
})) {
  test(`judge() ${fact}`, () => {
    assert.deepEqual(broken(story, options), want);
  });
}

test('judge() finds the same in a history told call by call, answers last', () => {
  const story = outdatedGroup().remove(a0).remove(b0).remove(a1, { uid: undefined });
  const live = new Judge({ ours: isOurs, statements: story.statements });
  for (const delivery of story.deliveries) live.delivered(delivery);
  for (const commit of story.commits) live.committed(commit);
  for (const call of story.calls) live.called(call);
  live.ended(story.now, story.revision);
  assert.deepEqual(ids(live.violations), broken(story));
});

test('judge() takes an answered list for a delivery (D-4)', () => {
  const story = outdatedGroup();
  const lists = ['pods', 'statefulsets.apps'].map((resource) => ({ verb: 'list', resource }));
  for (const list of lists) story.call(list);
  story.remove(a0);
  const { commits, calls, statements } = story;
  const judgement = judge({ commits, calls, deliveries: [] }, { ours: isOurs, statements });
  assert.deepEqual(ids(judgement.violations), []);
});

test('judge() takes no list for a delivery of what came after it', () => {
  const story = outdatedGroup();
  const lists = ['pods', 'statefulsets.apps'].map((resource) => ({ verb: 'list', resource }));
  for (const list of lists) story.call(list);
  story.wait(seconds(1)).ready(a1, false).remove(a0);
  const { commits, calls, statements } = story;
  const judgement = judge({ commits, calls, deliveries: [] }, { ours: isOurs, statements });
  assert.deepEqual(ids(judgement.violations), ['D-7']);
});

test('judge() reads each set of pods at the revision that its list had (D-4)', () => {
  const story = outdatedGroup().ready(b0, false);
  const early = story.revision;
  story.ready(b0).remove(a0, { isSilent: true });
  const statefulsets = story.revision - 1;
  const told = (pods: Readonly<Record<string, number>>): readonly string[] => {
    const proofs = { pods, statefulsets };
    const statements = [{ podUid: `${a0}-uid`, sentAt: T0, proofs }];
    return ids(judge(story, { ours: isOurs, statements }).violations);
  };
  assert.deepEqual(told({ [zoneA]: early, [zoneB]: early + 1 }), []);
  assert.deepEqual(told({ [zoneA]: early + 1, [zoneB]: early }), ['EXCL-2']);
});

test('follow() judges an event log as it grows', () => {
  const story = outdatedGroup().remove(a0).remove(b0);
  const listeners: ((commit: Commit) => void)[] = [];
  const onCommit = (listener: (commit: Commit) => void): (() => void) => {
    listeners.push(listener);
    return () => listeners.pop();
  };
  const { calls, deliveries } = story;
  const log = { commits: [], calls, deliveries, onCommit, stopRecording: () => {} };
  const following = follow(log, { ours: isOurs, statements: story.statements });
  for (const commit of story.commits) listeners[0]?.(commit);
  assert.deepEqual(ids(following.judge.violations), ['EXCL-1']);
  assert.deepEqual(ids(following.finish(story.now).violations), ['EXCL-1', 'EXCL-2']);
  assert.equal(listeners.length, 0);
});

test('report() shows the commits around a violation and what was not judged', () => {
  const story = outdatedGroup().wait(seconds(2)).remove(a0).wait(seconds(1)).remove(b0);
  const text = judge(story, { ours: isOurs }).report();
  const lines = text.split('\n');
  assert.equal(lines[0], '1 violations in 10 commits and 2 calls.');
  assert.match(
    text,
    /Not judged: EXCL-2, MAXU-2, SHOWN, D-7 \(no statements\), .*, LIVE-1 and LIVE-3/,
  );
  assert.match(text, /EXCL-1 at t\+3\.000s: We took pod ingester-zone-b-0/);
  assert.match(
    text,
    /^> t\+3\.000s rev 10 rollout-operator \(ours\): update pods test\/ingester-zone-b-0/m,
  );
});

test('judge() refuses commits that are not in order of revision', () => {
  const story = outdatedGroup();
  assert.throws(
    () =>
      judge({ calls: [], deliveries: [], commits: story.commits.toReversed() }, { ours: isOurs }),
    /Cannot apply the commit of revision 7 as revision 8 came before it/,
  );
});

test('completionBound() is B of LIVE-1', () => {
  const bound = { waves: 6, podReady: seconds(10), controller: seconds(1), recovery: seconds(60) };
  assert.equal(completionBound(bound), 252_000);
});

test('waves() rounds each set up', () => {
  const { sets } = ingesterGroup({ replicas: 3, maxUnavailable: '2' });
  assert.equal(waves(sets.map(setFacts)), 6);
});
