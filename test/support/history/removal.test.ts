import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { instant } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { rawPod } from '../objects/objects.ts';
import { History } from './history.ts';
import { removalOf } from './removal.ts';
import { StatementBook } from './statement.ts';

function dying(gracePeriodSeconds: number): JsonObject {
  const pod = rawPod({ terminatingSince: instant(1_800_000_000_000) });
  const metadata = pod['metadata'] as JsonObject;
  return { ...pod, metadata: { ...metadata, deletionGracePeriodSeconds: gracePeriodSeconds } };
}

function commit(before: JsonObject, after?: JsonObject): Commit {
  return {
    at: instant(1_800_000_000_000),
    revision: 5,
    verb: after === undefined ? 'delete' : 'update',
    resource: 'pods',
    namespace: 'test',
    name: 'ingester-zone-a-0',
    uid: 'ingester-zone-a-0-uid',
    before,
    ...(after !== undefined && { after }),
    user: 'rollout-operator',
    callId: 1,
  };
}

function isRemoval(of: Commit): boolean {
  const evidence = { history: new History(), statements: new StatementBook(), scaleStatements: [] };
  return removalOf(of, evidence) !== undefined;
}

const commits: Record<string, { readonly commit: Commit; readonly want: boolean }> = {
  'the beginning of a graceful deletion': { commit: commit(rawPod(), dying(30)), want: true },
  'the version without grace of a deletion at once': {
    commit: commit(rawPod(), dying(0)),
    want: true,
  },
  'the end of a deletion at once': { commit: commit(dying(0)), want: false },
  'the loss of grace of a pod that was going': { commit: commit(dying(30), dying(0)), want: true },
  'a pod that vanishes in one commit': { commit: commit(rawPod()), want: true },
  'a change of a pod that is going': { commit: commit(dying(30), dying(30)), want: false },
};

describe('removalOf()', () => {
  for (const [what, { commit, want }] of Object.entries(commits)) {
    test(`${want ? 'counts' : 'does not count'} ${what}`, () => {
      assert.equal(isRemoval(commit), want);
    });
  }
});
