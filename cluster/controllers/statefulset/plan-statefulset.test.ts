import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { after, type Instant, instant, seconds } from '#base/units.ts';
import { canonicalJson, objectAt } from '../../json/read-json.ts';
import { parsePod, parseRevision, parseSet } from './parse-views.ts';
import { planStatefulSet, type StatefulSetPlan } from './plan-statefulset.ts';
import { revisionHash } from './revisions.ts';
import type { SetSnapshot } from './views.ts';

const T0 = instant(1_767_225_600_000);
const T0_TEXT = '2026-01-01T00:00:00Z';

interface SetShape {
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
  readonly isDeleting?: boolean;
}

function templateOf(image: string): JsonObject {
  return {
    metadata: { labels: { app: 'db' } },
    spec: { containers: [{ name: 'main', image }] },
  };
}

function setObject(shape: SetShape): JsonObject {
  return {
    spec: {
      replicas: 3,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: templateOf('new'),
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      ...shape.spec,
    },
    status: { currentRevision: 'db-old', updateRevision: 'db-new', ...shape.status },
  };
}

/** `0+` is Ready at the update revision, `0-` Ready at the old one; `!` not ready, `x` terminating, `F` failed. */
function podObject(text: string): JsonObject & {
  readonly metadata: JsonObject & { name: string; uid: string };
} {
  const ordinal = text.replace(/\D/g, '');
  const isReady = !text.includes('!');
  return {
    metadata: {
      name: `db-${ordinal}`,
      uid: `uid-${ordinal}`,
      ...(text.includes('x') ? { deletionTimestamp: T0_TEXT } : {}),
      labels: {
        app: 'db',
        'statefulset.kubernetes.io/pod-name': `db-${ordinal}`,
        'apps.kubernetes.io/pod-index': ordinal,
        'controller-revision-hash': text.includes('-') ? 'db-old' : 'db-new',
      },
      ownerReferences: [{ uid: 'set', kind: 'StatefulSet', name: 'db', controller: true }],
    },
    status: {
      phase: text.includes('F') ? 'Failed' : 'Running',
      conditions: [
        { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: T0_TEXT },
      ],
    },
  };
}

function stored(object: JsonObject, name: string, uid: string): Parameters<typeof parsePod>[0] {
  const metadata = objectAt(object, 'metadata');
  return {
    ...object,
    metadata: { namespace: 'demo', resourceVersion: '1', generation: 1, ...metadata, name, uid },
  };
}

function revisionObject(
  name: string,
  image: string,
  number: number,
): Parameters<typeof parsePod>[0] {
  return stored(
    {
      metadata: {
        labels: { app: 'db' },
        ownerReferences: [{ uid: 'set', kind: 'StatefulSet', name: 'db', controller: true }],
      },
      data: { spec: { template: { ...templateOf(image), $patch: 'replace' } } },
      revision: number,
    },
    name,
    `uid-${name}`,
  );
}

const bothRevisions = [revisionObject('db-old', 'old', 1), revisionObject('db-new', 'new', 2)];

interface Given extends SetShape {
  readonly pods: string;
  readonly revisions?: readonly Parameters<typeof parsePod>[0][];
  readonly now?: Instant;
  readonly hasMaxUnavailable?: boolean;
  readonly replacesUnavailableFirst?: boolean;
  readonly collisionCount?: number;
}

function plan(given: Given): StatefulSetPlan {
  const deletion = given.isDeleting === true ? { deletionTimestamp: T0_TEXT } : {};
  const set = parseSet(stored({ ...setObject(given), metadata: { ...deletion } }, 'db', 'set'));
  const snapshot: SetSnapshot = {
    set,
    pods: given.pods
      .split(' ')
      .filter((text) => text !== '')
      .map((text) => podObject(text))
      .map((pod) => parsePod(stored(pod, pod.metadata.name, pod.metadata.uid))),
    revisions: (given.revisions ?? bothRevisions).map((revision) => parseRevision(revision)),
    hasClaim: () => false,
    collisionCount: given.collisionCount ?? 0,
    switches: {
      maxUnavailable: given.hasMaxUnavailable ?? true,
      replacesUnavailableFirst: given.replacesUnavailableFirst ?? false,
    },
  };
  return planStatefulSet(snapshot, given.now ?? after(T0, seconds(60)));
}

/** `+2@db-new` creates db-2 at that revision, `-2` deletes it; `|` parts groups. */
function writes(given: Given): string {
  return plan(given)
    .groups.map((group) =>
      group
        .flat()
        .map((action) => {
          const ordinal = action.name.replace(/^.*-/, '');
          if (action.kind === 'delete-pod') return `-${ordinal}`;
          if (action.kind === 'create-claim') return `claim:${action.name}`;
          if (action.kind === 'label-pod') return `label:${ordinal}`;
          const labels = JSON.stringify(action.body);
          return `+${ordinal}@${/"controller-revision-hash":"([^"]+)"/.exec(labels)?.[1]}`;
        })
        .join(' '),
    )
    .join(' | ');
}

const ordered = {};
const parallel = { podManagementPolicy: 'Parallel' };
const rolling = (rollingUpdate: JsonObject): JsonObject => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate },
});
const onDelete = { updateStrategy: { type: 'OnDelete' } };

const writeCases: Record<string, { readonly given: Given; readonly want: string }> = {
  '[cluster 30] creates only the lowest missing pod when ordered': {
    given: { pods: '', spec: ordered },
    want: '+0@db-new',
  },
  '[cluster 30] waits for the pod before when ordered': {
    given: { pods: '0+!', spec: ordered },
    want: '',
  },
  '[cluster 30] creates all in batches of 1, 2, 4 when parallel': {
    given: { pods: '', spec: { ...parallel, replicas: 5 } },
    want: '+0@db-new | +1@db-new +2@db-new | +3@db-new +4@db-new',
  },
  '[cluster 31] does nothing when an ordered set is blocked by a broken pod': {
    given: { pods: '0- 1- 2+!', spec: { template: templateOf('old') }, hasMaxUnavailable: false },
    want: '',
  },
  '[cluster 31] replaces the broken pod when parallel': {
    given: {
      pods: '0- 1- 2+!',
      spec: { ...parallel, template: templateOf('old') },
      hasMaxUnavailable: false,
    },
    want: '-2',
  },
  'waits for a terminating pod when ordered': { given: { pods: '0+ 1+x 2-' }, want: '' },
  'deletes a failed pod and ends the ordered pass': { given: { pods: '0+ 1+F! 2-' }, want: '-1' },
  '[cluster 33] takes the highest condemned pod when ordered': {
    given: { pods: '0+ 1+ 2+ 3+ 4+' },
    want: '-4',
  },
  '[cluster 33] waits for a condemned pod that terminates': {
    given: { pods: '0+ 1+ 2+ 3+ 4+x' },
    want: '',
  },
  '[cluster 33] waits while a lower condemned pod is unavailable': {
    given: { pods: '0+ 1+ 2+ 3+! 4+!' },
    want: '',
  },
  '[cluster 33] takes the highest condemned pod when it is the only unavailable one': {
    given: { pods: '0+ 1+ 2+ 3+ 4+!' },
    want: '-4',
  },
  '[cluster 33] scales down before it updates': { given: { pods: '0- 1- 2- 3-' }, want: '-3' },
  '[cluster 33] takes all condemned pods when parallel': {
    given: { pods: '0+ 1+ 2+ 3+ 4+', spec: parallel },
    want: '-4 -3',
  },
  '[cluster 34] deletes nothing for OnDelete': {
    given: { pods: '0- 1- 2-', spec: onDelete },
    want: '',
  },
  '[cluster 34] creates at the update revision for OnDelete': {
    given: { pods: '0- 2-', spec: onDelete },
    want: '+1@db-new',
  },
  '[cluster 35] updates only at and above the partition': {
    given: { pods: '0- 1- 2-', spec: rolling({ partition: 2 }) },
    want: '-2',
  },
  '[cluster 35] returns a pod below the partition at the old revision': {
    given: { pods: '0- 2+', spec: rolling({ partition: 2 }) },
    want: '+1@db-old',
  },
  '[cluster 35] compares the partition with the index, not the ordinal': {
    given: { pods: '5- 6- 7-', spec: { ...rolling({ partition: 2 }), ordinals: { start: 5 } } },
    want: '-7',
  },
  'counts currentReplicas instead of a partition where rollingUpdate is absent': {
    given: {
      pods: '0- 2+',
      spec: { updateStrategy: { type: 'RollingUpdate' } },
      status: { currentReplicas: 2 },
    },
    want: '+1@db-old',
  },
  '[cluster 37] updates one, the highest, without maxUnavailable': {
    given: { pods: '0- 1- 2-', hasMaxUnavailable: false },
    want: '-2',
  },
  '[cluster 37] ignores maxUnavailable where the version lacks it': {
    given: { pods: '0- 1- 2-', spec: rolling({ maxUnavailable: 2 }), hasMaxUnavailable: false },
    want: '-2',
  },
  '[cluster 37] updates two with maxUnavailable 2': {
    given: { pods: '0- 1- 2-', spec: rolling({ maxUnavailable: 2 }) },
    want: '-2 | -1',
  },
  '[cluster 37] rounds 50 % of three pods down to one': {
    given: { pods: '0- 1- 2-', spec: rolling({ maxUnavailable: '50%' }) },
    want: '-2',
  },
  '[cluster 37] counts at least one for a small percentage': {
    given: { pods: '0- 1- 2-', spec: rolling({ maxUnavailable: '10%' }) },
    want: '-2',
  },
  '[cluster 37] counts unavailable pods of all places': {
    given: { pods: '0-! 1- 2-', spec: { ...parallel, ...rolling({ maxUnavailable: 2 }) } },
    want: '-2',
  },
  '[cluster 37] leaves an unavailable old pod alone when the budget is spent': {
    given: { pods: '0- 1-! 2-', spec: parallel },
    want: '',
  },
  'replaces an unavailable old pod beyond the budget with the later fix': {
    given: { pods: '0- 1-! 2-', spec: parallel, replacesUnavailableFirst: true },
    want: '-1',
  },
  'creates claims before the pod': {
    given: {
      pods: '',
      spec: { replicas: 1, volumeClaimTemplates: [{ metadata: { name: 'disk' }, spec: {} }] },
    },
    want: 'claim:disk-db-0 +0@db-new',
  },
  'writes no pod for a set that is being deleted': {
    given: { pods: '0-', isDeleting: true },
    want: '',
  },
};

for (const [fact, { given, want }] of Object.entries(writeCases)) {
  test(`planStatefulSet() ${fact}`, () => {
    assert.equal(writes(given), want);
  });
}

test('planStatefulSet() [cluster 36] counts a terminating ready pod as ready, not as updated', () => {
  const { status } = plan({ pods: '0+ 1+ 2+x' });
  assert.deepEqual(
    [status.replicas, status.readyReplicas, status.availableReplicas, status.updatedReplicas],
    [3, 3, 3, 2],
  );
});

const boundaryCases: Record<string, { readonly now: Instant; readonly available: number }> = {
  'not available exactly at minReadySeconds': { now: after(T0, seconds(10)), available: 0 },
  'available right after minReadySeconds': { now: instant(T0 + 10_001), available: 3 },
};
for (const [fact, { now, available }] of Object.entries(boundaryCases)) {
  test(`planStatefulSet() [cluster 36] counts pods ${fact}`, () => {
    const result = plan({ pods: '0+ 1+ 2+', spec: { minReadySeconds: 10 }, now });
    assert.equal(result.status.availableReplicas, available);
  });
}

test('planStatefulSet() looks again after minReadySeconds while pods are not available', () => {
  const result = plan({ pods: '0+ 1+ 2+', spec: { minReadySeconds: 10 }, now: T0 });
  assert.equal(result.requeueAfter, 10_000);
});

test('planStatefulSet() [cluster 35] promotes when all pods are updated and ready', () => {
  assert.equal(plan({ pods: '0+ 1+ 2+' }).status.currentRevision, 'db-new');
});

test('planStatefulSet() [cluster 35] does not promote while a partition keeps old pods', () => {
  const { status } = plan({ pods: '0- 1- 2+', spec: rolling({ partition: 2 }) });
  assert.equal(status.currentRevision, 'db-old');
});

test('planStatefulSet() [cluster 34] never promotes for OnDelete', () => {
  assert.equal(plan({ pods: '0+ 1+ 2+', spec: onDelete }).status.currentRevision, 'db-old');
});

test('planStatefulSet() takes a deleted pod off currentReplicas', () => {
  assert.equal(plan({ pods: '0- 1- 2-' }).status.currentReplicas, 2);
});

test('planStatefulSet() reuses the newest revision with the same data', () => {
  assert.equal(plan({ pods: '0+ 1+ 2+' }).revision, undefined);
});

test('planStatefulSet() [cluster 37] raises an older revision with the same data, under its name', () => {
  const result = plan({ pods: '0+ 1+ 2+', spec: { template: templateOf('old') } });
  assert.deepEqual(result.revision, { kind: 'raise-revision', name: 'db-old', revision: 3 });
  assert.equal(result.status.updateRevision, 'db-old');
});

test('planStatefulSet() creates a revision numbered one above the newest', () => {
  const result = plan({ pods: '0- 1- 2-', spec: { template: templateOf('third') } });
  assert.equal(result.revision?.kind, 'create-revision');
  const body = result.revision?.kind === 'create-revision' ? result.revision.body : {};
  assert.equal(body['revision'], 3);
  assert.match(result.revision?.name ?? '', /^db-[bcdfghjklmnpqrstvwxz2456789]{10}$/);
});

test('planStatefulSet() names a revision otherwise after a collision', () => {
  const spec = { template: templateOf('third') };
  const first = plan({ pods: '', spec }).revision?.name;
  const second = plan({ pods: '', spec, collisionCount: 1 }).revision?.name;
  assert.notEqual(first, second);
});

test('planStatefulSet() [cluster 37] drops the oldest revisions beyond the limit, never one in use', () => {
  const revisions = [
    revisionObject('db-a', 'a', 1),
    revisionObject('db-old', 'old', 2),
    revisionObject('db-b', 'b', 3),
    revisionObject('db-c', 'c', 4),
    revisionObject('db-new', 'new', 5),
  ];
  const result = plan({ pods: '0- 1- 2-', spec: { revisionHistoryLimit: 1 }, revisions });
  assert.deepEqual(result.expiredRevisions, ['db-a', 'db-b']);
});

test('planStatefulSet() writes no status that says nothing new', () => {
  const first = plan({ pods: '0+ 1+ 2+' }).status;
  assert.equal(plan({ pods: '0+ 1+ 2+', status: { ...first } }).isStatusStale, false);
});

test('revisionHash() depends on nothing but data and collision count', () => {
  assert.equal(revisionHash('{"a":1}', 0), revisionHash('{"a":1}', 0));
});

test('canonicalJson() sorts members at every depth', () => {
  assert.equal(
    canonicalJson({ b: [{ d: 1, c: null }], a: 'x' }),
    '{"a":"x","b":[{"c":null,"d":1}]}',
  );
});
