import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { instant } from '#base/units.ts';
import { ascribe } from '../../real-cluster/audit/ascription.ts';
import type { AuditEntry } from '../../real-cluster/audit/audit.ts';
import type { StoredCommit } from '../../real-cluster/audit/commit-log.ts';

const START = Date.parse('2026-01-01T00:00:00Z');

function time(seconds: number): string {
  return new Date(START + seconds * 1_000).toISOString();
}

/** The log's line of a DELETE of pod `a` that `user` sent; as one that was never answered unless `rest` says more. */
function deletion(id: string, user: string, rest: Partial<AuditEntry> = {}): AuditEntry {
  return {
    auditID: id,
    stage: 'RequestReceived',
    verb: 'delete',
    user: { username: user },
    objectRef: { resource: 'pods', namespace: 'n', name: 'a' },
    requestURI: '/api/v1/namespaces/n/pods/a',
    requestReceivedTimestamp: time(0),
    stageTimestamp: time(0),
    ...rest,
  };
}

/** The commit that begins the deletion of pod `a`. */
function marked(revision: number, at: number, uid = 'u1'): StoredCommit {
  const pod = (metadata: JsonObject): JsonObject => ({ metadata: { name: 'a', uid, ...metadata } });
  return {
    at: instant(START + at * 1_000),
    revision,
    verb: 'update',
    resource: 'pods',
    namespace: 'n',
    name: 'a',
    uid,
    before: pod({}),
    after: pod({ deletionTimestamp: time(at + 30), deletionGracePeriodSeconds: 30 }),
  };
}

const answered = (revision: number): Partial<AuditEntry> => ({
  stage: 'ResponseComplete',
  responseStatus: { code: 200 },
  responseObject: { kind: 'Pod', metadata: { resourceVersion: `${revision}` } },
});

const asking = (uid: string): Partial<AuditEntry> => ({
  requestObject: { preconditions: { uid, resourceVersion: '1' } },
});

describe('ascribe()', () => {
  test('knows an answered write by its revision', () => {
    const entries = [deletion('1', 'us'), deletion('1', 'us', { ...answered(7), ...asking('u1') })];
    const { commits, calls, unread } = ascribe([marked(7, 1)], entries);
    assert.equal(commits[0]?.user, 'us');
    assert.deepEqual(calls[0]?.preconditions, { uid: 'u1', resourceVersion: '1' });
    assert.deepEqual(unread, []);
  });

  test('takes a request that was never answered for the deletion after it, whose body nobody read', () => {
    const { commits, calls, unread } = ascribe([marked(7, 1)], [deletion('1', 'us')]);
    assert.deepEqual(
      [commits[0]?.user, commits[0]?.callId, calls[0]?.outcome],
      ['us', 1, 'dropped'],
    );
    assert.deepEqual(unread, commits);
  });

  test('takes a request that the server failed to answer with what it asked for', () => {
    const failed = { stage: 'ResponseComplete', responseStatus: { code: 504 }, ...asking('u1') };
    const entries = [deletion('1', 'us'), deletion('1', 'us', failed)];
    const { commits, calls, unread } = ascribe([marked(7, 1)], entries);
    assert.deepEqual([commits[0]?.user, calls.length, unread], ['us', 1, []]);
  });

  const unexplained: Readonly<Record<string, readonly [StoredCommit[], AuditEntry[]]>> = {
    'a second deletion by one request': [[marked(7, 1), marked(9, 2, 'u2')], [deletion('1', 'us')]],
    'a deletion before the request': [[marked(9, -1)], [deletion('1', 'us')]],
    'a deletion more than a minute later': [[marked(9, 66)], [deletion('1', 'us')]],
    'the deletion of another pod of that name': [
      [marked(9, 1, 'u2')],
      [deletion('1', 'us', { ...asking('u1'), stage: 'Panic' })],
    ],
    'a deletion after a request that was refused': [
      [marked(9, 1)],
      [deletion('1', 'us', { stage: 'ResponseComplete', responseStatus: { code: 409 } })],
    ],
  };
  for (const [fact, [stored, entries]] of Object.entries(unexplained)) {
    test(`does not explain ${fact}`, () => {
      const { commits, unread } = ascribe(stored, entries);
      const last = commits.at(-1);
      assert.deepEqual([last?.revision, last?.user, last?.callId], [9, '', 0]);
      assert.ok(!unread.some(({ revision }) => revision === 9));
    });
  }
});
