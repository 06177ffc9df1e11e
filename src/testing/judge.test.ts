import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, instant, millis, minutes, seconds } from '#base/units.ts';
import type { Commit } from '#embedded-cluster/event-log.ts';
import { setFacts } from './facts.ts';
import { completionBound, waves } from './invariants/completion.ts';
import type { Violation } from './invariants/invariant.ts';
import { follow, Judge, type JudgeOptions, judge } from './judge.ts';
import { type GroupOptions, ingesterGroup, rawPod } from './objects.ts';
import type { StallStatement } from './reasons.ts';
import { operatorUser, Story } from './story.ts';
import { T0 } from './views.ts';

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
  'EXCL-1 takes no removal by somebody else for ours': {
    story: outdatedGroup().remove(a0, { user: 'kubectl' }).remove(b0, { user: 'kubectl' }),
    want: [],
  },
  'EXCL-2 flags a removal while another zone has an unready pod': {
    story: outdatedGroup().ready(a0, false).remove(b0),
    want: ['EXCL-2'],
  },
  'EXCL-2 flags a removal while another zone lacks a pod (R1)': {
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
      return story.ready(a0, false).wait(seconds(10)).remove(b0, { seen });
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
  'MAXU-1 passes what only the view showed as available': {
    story: (() => {
      const story = outdatedGroup({ maxUnavailable: '1' }).remove(a0);
      const seen = story.revision;
      return story.ready(a1, false).remove(a1, { seen });
    })(),
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
  'MAXU-2 counts a slot once, though the view shows it and we took it since': {
    story: (() => {
      const story = outdatedGroup().ready(a0, false);
      const seen = story.revision;
      return story.ready(a0).remove(a0).remove(a1, { seen });
    })(),
    want: [],
  },
  'MAXU-2 passes the replacement of unavailable, outdated pods in two zones (D-11)': {
    story: outdatedGroup({ maxUnavailable: '1' })
      .ready(a0, false)
      .ready(a1, false)
      .ready(b0, false)
      .remove(a0)
      .remove(a1)
      .remove(b0),
    want: [],
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
  'REV-1 flags a removal whose call nobody recorded': {
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
      const story = outdatedGroup().ready(a0, false);
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
};

function calm(extra: Story): Story {
  return extra.wait(minutes(5));
}
const complete = (by: number): Partial<JudgeOptions> => ({ completion: { by: instant(by) } });
const stalled = (): Story => outdatedGroup().ready(a0, false).ready(b0, false);
const says = (said: Partial<StallStatement>): Partial<JudgeOptions> => ({
  stalls: { said: [{ at: T0, namespace: 'test', group: 'ingester', reason: '', ...said }] },
  end: after(T0, seconds(61)),
});

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
  'LIVE-2 flags a reason that nobody can check': {
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
  assert.match(text, /Not judged: EXCL-2, MAXU-2, D-7 \(no statements\), LIVE-1 and LIVE-3/);
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
