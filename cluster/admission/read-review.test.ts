import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { CallFailure } from './call-failure.ts';
import { readReview } from './read-review.ts';

const type = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

function read(response: JsonObject, isMutating = true): unknown {
  const body = JSON.stringify({ ...type, response: { uid: 'u', ...response } });
  return readReview({ status: 200, body }, { uid: 'u', isMutating });
}

test('readReview() reads what is allowed, its warnings and its patch', () => {
  const operations = [{ op: 'remove', path: '/a' }];
  const patch = { patch: encoded(operations), patchType: 'JSONPatch' };
  assert.deepEqual(read({ allowed: true, warnings: ['w'], ...patch }), {
    isAllowed: true,
    status: undefined,
    warnings: ['w'],
    patch: operations,
  });
});

test('readReview() does not look at the patch of a denial', () => {
  const status = { message: 'no' };
  const patch = { patch: 'garbage', patchType: 'JSONPatch' };
  assert.deepEqual(read({ allowed: false, status, ...patch }), {
    isAllowed: false,
    status,
    warnings: [],
    patch: [],
  });
});

const wrong: Record<string, { readonly response: JsonObject; readonly want: string }> = {
  'another uid': {
    response: { uid: 'x' },
    want: 'received invalid webhook response: expected response.uid="u", got "x"',
  },
  'a patch without a type': {
    response: { patch: encoded([]) },
    want: 'received invalid webhook response: webhook returned response.patch but not response.patchType',
  },
  'a type without a patch': {
    response: { patchType: 'JSONPatch' },
    want: 'received invalid webhook response: webhook returned response.patchType but not response.patch',
  },
  'an empty type': {
    response: { patch: encoded([]), patchType: '' },
    want: 'received invalid webhook response: webhook returned invalid response.patchType of ""',
  },
  'another type of patch': {
    response: { allowed: true, patch: encoded([{}]), patchType: 'Merge' },
    want: 'unsupported patch type "Merge"',
  },
  'a patch that is no list': {
    response: { allowed: true, patch: encoded({}), patchType: 'JSONPatch' },
    want: 'received undecodable patch in webhook response: it is no list of operations',
  },
};
for (const [fact, { response, want }] of Object.entries(wrong)) {
  test(`readReview() refuses ${fact}`, () => {
    assert.throws(() => read(response), new CallFailure(want));
  });
}

test('readReview() lets no validating webhook patch', () => {
  const refused = 'received invalid webhook response: validating webhook may not return response';
  assert.throws(() => read({ patch: encoded([]) }, false), new CallFailure(`${refused}.patch`));
  assert.throws(
    () => read({ patchType: 'JSONPatch' }, false),
    new CallFailure(`${refused}.patchType`),
  );
});

const answers: Record<string, readonly [status: number, type: string, body: string, want: string]> =
  {
    'text of a server error': [
      500,
      'text/plain',
      'no luck\n',
      'failed to call webhook: an error on the server ("no luck") has prevented the request from succeeding',
    ],
    'an error without text': [
      500,
      'application/json',
      '{}',
      'failed to call webhook: an error on the server ("unknown") has prevented the request from succeeding',
    ],
    'a missing path': [
      404,
      'text/plain',
      '',
      'failed to call webhook: the server could not find the requested resource',
    ],
    'a redirect': [
      302,
      'text/plain',
      '',
      'failed to call webhook: the server responded with the status code 302 but did not return more information',
    ],
    'an answer without a response': [
      200,
      'application/json',
      JSON.stringify(type),
      'received invalid webhook response: webhook response was absent',
    ],
    'an answer without a type': [
      200,
      'application/json',
      '{"response":{"uid":"u"}}',
      'received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=',
    ],
  };
for (const [fact, [status, contentType, body, want]] of Object.entries(answers)) {
  test(`readReview() reports ${fact} as the real server does`, () => {
    const reply = { status, contentType, body };
    assert.throws(() => readReview(reply, { uid: 'u', isMutating: false }), new CallFailure(want));
  });
}
