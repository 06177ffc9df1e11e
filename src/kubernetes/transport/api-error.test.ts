import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { instant, seconds } from '#base/units.ts';
import {
  ApiError,
  type Call,
  type ErrorPolicy,
  errorPolicy,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  isOutcomeUnknown,
  isTooManyRequests,
  isUnauthorized,
  MalformedAnswerError,
  parseRetryAfter,
} from './api-error.ts';
import { TransportError } from './transport.ts';

const call: Call = { verb: 'patch', kind: 'Pod', namespace: 'demo', name: 'a' };

function said(status: number, message: string): ApiError {
  return new ApiError(call, { status, reason: 'InternalError', message, details: {} });
}

function answered(status: number, verb: Call['verb'] = 'patch'): ApiError {
  return new ApiError({ ...call, verb }, { status, reason: '', message: 'no', details: {} });
}

const policies: Record<string, { readonly error: unknown; readonly want: ErrorPolicy['kind'] }> = {
  'plans again after a conflict': { error: answered(409), want: 'plan-again' },
  'plans again when the revision is gone': { error: answered(410), want: 'plan-again' },
  'is done when the deleted object does not exist': {
    error: answered(404, 'delete'),
    want: 'done',
  },
  'backs off when a patched object does not exist': { error: answered(404), want: 'backoff' },
  'awaits a change after 400': { error: answered(400), want: 'await-change' },
  'awaits a change after 422': { error: answered(422), want: 'await-change' },
  'backs off after 401': { error: answered(401), want: 'backoff' },
  'backs off after 403': { error: answered(403), want: 'backoff' },
  'backs off after 429': { error: answered(429), want: 'backoff' },
  'backs off after 500': { error: answered(500), want: 'backoff' },
  'backs off after 503': { error: answered(503), want: 'backoff' },
  'backs off after a malformed answer': {
    error: new MalformedAnswerError(call, 200, 'it is empty'),
    want: 'backoff',
  },
  'backs off when there was no answer': {
    error: new TransportError('reset', 'connection'),
    want: 'backoff',
  },
  'takes anything else for a bug': { error: new TypeError('x is undefined'), want: 'bug' },
  'takes a thrown string for a bug': { error: 'x', want: 'bug' },
};

for (const [fact, { error, want }] of Object.entries(policies)) {
  test(`errorPolicy() ${fact}`, () => {
    assert.equal(errorPolicy(error).kind, want);
  });
}

test('errorPolicy() carries how long the server asks to wait', () => {
  const refusal = { status: 429, reason: '', message: '', details: {}, retryAfter: seconds(30) };
  assert.deepEqual(errorPolicy(new ApiError(call, refusal)), {
    kind: 'backoff',
    retryAfter: 30_000,
  });
});

test('errorPolicy() has an answer for every status', () => {
  fc.assert(
    fc.property(fc.integer({ min: 300, max: 599 }), (status) => {
      assert.notEqual(errorPolicy(answered(status)).kind, 'bug');
    }),
  );
});

const predicates = {
  isNotFound: [isNotFound, 404],
  isConflict: [isConflict, 409],
  isGone: [isGone, 410],
  isForbidden: [isForbidden, 403],
  isUnauthorized: [isUnauthorized, 401],
  isTooManyRequests: [isTooManyRequests, 429],
  isInvalid: [isInvalid, 422],
} as const;

for (const [name, [predicate, status]] of Object.entries(predicates)) {
  test(`${name}() is true for ${status} and for nothing else`, () => {
    assert.equal(predicate(answered(status)), true);
    assert.equal(predicate(answered(500)), false);
    assert.equal(predicate(new Error('x')), false);
  });
}

function unmetUid(field: string): ApiError {
  const causes = [{ reason: 'FieldValueInvalid', message: 'field is immutable', field }];
  return new ApiError(call, { status: 422, reason: 'Invalid', message: '', details: { causes } });
}

test('isConflict() is true for a patch that named the uid of another incarnation', () => {
  assert.equal(isConflict(unmetUid('metadata.uid')), true);
  assert.equal(isConflict(unmetUid('spec.replicas')), false);
  assert.equal(errorPolicy(unmetUid('metadata.uid')).kind, 'plan-again');
});

test('isAlreadyExists() tells a taken name from a conflict', () => {
  const refusal = { status: 409, reason: 'AlreadyExists', message: '', details: {} };
  const error = new ApiError(call, refusal);
  assert.equal(isAlreadyExists(error), true);
  assert.equal(isConflict(error), false);
});

const outcomes: Record<string, { readonly error: unknown; readonly want: boolean }> = {
  'a timeout': { error: new TransportError('x', 'timeout'), want: true },
  'a reset': { error: new TransportError('x', 'connection'), want: true },
  'an abort under way': { error: new TransportError('x', 'aborted'), want: true },
  'a request that was not sent': { error: new TransportError('x', 'not-sent'), want: false },
  'a 500': { error: answered(500), want: true },
  'a 409': { error: answered(409), want: false },
  'a 500 of a webhook that cannot be asked [found R-8]': {
    error: said(
      500,
      'Internal error occurred: failed calling webhook "guard.test.example": failed to call webhook: Post "https://127.0.0.1:1/nobody?timeout=1s": dial tcp 127.0.0.1:1: connect: connection refused',
    ),
    want: false,
  },
  'a 504 of a webhook that denies [found R-8]': {
    error: said(504, 'admission webhook "guard.test.example" denied the request: not now'),
    want: false,
  },
  'a 500 that speaks of a webhook elsewhere': {
    error: said(500, 'etcdserver: request timed out after failed calling webhook "guard": x'),
    want: true,
  },
  'a 504 of a request that took too long': {
    error: said(
      504,
      'Timeout: request did not complete within requested timeout - context deadline exceeded',
    ),
    want: true,
  },
  'a 500 of etcd': {
    error: said(500, 'etcdserver: request timed out'),
    want: true,
  },
  'a malformed answer': { error: new MalformedAnswerError(call, 200, 'x'), want: true },
  'a bug': { error: new Error('x'), want: false },
};

for (const [what, { error, want }] of Object.entries(outcomes)) {
  test(`isOutcomeUnknown() is ${want} for ${what}`, () => {
    assert.equal(isOutcomeUnknown(error), want);
  });
}

const NOW = instant(1_000_000_000_000); // Sun, 09 Sep 2001 01:46:40 GMT

const headers: Record<string, { readonly header: string | undefined; readonly want?: number }> = {
  'is undefined without a header': { header: undefined },
  'reads seconds': { header: '30', want: 30_000 },
  'reads zero': { header: '0', want: 0 },
  'reads a date': { header: 'Sun, 09 Sep 2001 01:46:50 GMT', want: 10_000 },
  'counts a date in the past as no wait': { header: 'Sun, 09 Sep 2001 01:00:00 GMT', want: 0 },
  'is undefined for a negative number': { header: '-1' },
  'is undefined for other text': { header: 'soon' },
};

for (const [fact, { header, want }] of Object.entries(headers)) {
  test(`parseRetryAfter() ${fact}`, () => {
    assert.equal(parseRetryAfter(header, NOW), want);
  });
}
