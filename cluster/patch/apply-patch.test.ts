import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '#base/json.ts';
import { StatusError } from '../errors/status-error.ts';
import { podRow } from '../resource/pod-row.ts';
import { applyPatch } from './apply-patch.ts';

const object = Object.freeze({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-0', namespace: 'a', labels: { app: 'web' } },
});
const jsonPatch = 'application/json-patch+json';
const mergePatch = 'application/merge-patch+json';
const strategicPatch = 'application/strategic-merge-patch+json';

function patched(contentType: string, body: JsonValue): unknown {
  return applyPatch({ contentType, body, object, row: podRow });
}

const labelled = { ...object, metadata: { ...object.metadata, labels: { app: 'x' } } };

test('applyPatch() reads each patch type, and ignores its parameters', () => {
  const body = { metadata: { labels: { app: 'x' } } };
  assert.deepEqual(patched(`${mergePatch}; charset=utf-8`, body), labelled);
  assert.deepEqual(patched(strategicPatch, body), labelled);
  const operations = [{ op: 'replace', path: '/metadata/labels/app', value: 'x' }];
  assert.deepEqual(patched(jsonPatch, operations), labelled);
});

const refused: Record<string, { type: string; body: JsonValue; code: number }> = {
  'server-side apply': { type: 'application/apply-patch+yaml', body: {}, code: 415 },
  'an unknown type': { type: 'application/json', body: {}, code: 415 },
  'a merge patch that is no object': { type: mergePatch, body: [], code: 400 },
  'a strategic patch that is null': { type: strategicPatch, body: null, code: 400 },
  'a new name': { type: mergePatch, body: { metadata: { name: 'web-1' } }, code: 400 },
  'a new namespace': { type: mergePatch, body: { metadata: { namespace: 'b' } }, code: 400 },
  'a removed name': {
    type: jsonPatch,
    body: [{ op: 'remove', path: '/metadata/name' }],
    code: 400,
  },
  'a new kind': { type: mergePatch, body: { kind: 'Node' }, code: 400 },
  'a new apiVersion': { type: mergePatch, body: { apiVersion: 'v2' }, code: 400 },
  'a document that is no object any more': {
    type: jsonPatch,
    body: [{ op: 'replace', path: '', value: 1 }],
    code: 400,
  },
};
for (const [fact, { type, body, code }] of Object.entries(refused)) {
  test(`applyPatch() refuses ${fact} with ${code}`, () => {
    assert.throws(
      () => patched(type, body),
      (error) => error instanceof StatusError && error.code === code,
    );
  });
}

test('applyPatch() lists the accepted types when it refuses one', () => {
  assert.throws(() => patched('text/plain', {}), {
    message:
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json',
  });
});

test('applyPatch() refuses a strategic merge patch for a kind without merge rules', () => {
  const row = { ...podRow, listMerge: undefined };
  assert.throws(() => applyPatch({ contentType: strategicPatch, body: {}, object, row }), {
    code: 415,
  });
});
