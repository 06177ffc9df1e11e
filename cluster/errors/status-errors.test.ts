import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { StatusError } from './status-error.ts';
import * as errors from './status-errors.ts';

const pods = { type: resourceTypes.pods };
const sets = { type: resourceTypes.statefulSets };
const cause = { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.selector' };

interface Want {
  readonly error: StatusError;
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: object;
}

const cases: Record<string, Want> = {
  'notFound() names the resource': {
    error: errors.notFound(sets, 'web'),
    code: 404,
    reason: 'NotFound',
    message: 'statefulsets.apps "web" not found',
    details: { name: 'web', group: 'apps', kind: 'statefulsets' },
  },
  'notFound() leaves out the core group': {
    error: errors.notFound(pods, 'web-0'),
    code: 404,
    reason: 'NotFound',
    message: 'pods "web-0" not found',
    details: { name: 'web-0', kind: 'pods' },
  },
  'alreadyExists() says when the old one is terminating': {
    error: errors.alreadyExists(pods, 'web-0', { isTerminating: true }),
    code: 409,
    reason: 'AlreadyExists',
    message: 'object is being deleted: pods "web-0" already exists',
  },
  'staleResourceVersion() asks for the latest version': {
    error: errors.staleResourceVersion(sets, 'web'),
    code: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on statefulsets.apps "web": the object has been modified; please apply your changes to the latest version and try again',
  },
  'preconditionFailed() names the kind and both values': {
    error: errors.preconditionFailed(sets, 'web', { member: 'UID', wanted: 'a', seen: 'b' }),
    code: 409,
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled on StatefulSet.apps "web": the UID in the precondition (a) does not match the UID in record (b). The object might have been deleted and then recreated',
    details: { name: 'web', group: 'apps', kind: 'StatefulSet' },
  },
  'invalid() of one cause states it plainly': {
    error: errors.invalid(sets, 'web', [cause]),
    code: 422,
    reason: 'Invalid',
    message: 'StatefulSet.apps "web" is invalid: spec.selector: Required value',
    details: { name: 'web', group: 'apps', kind: 'StatefulSet', causes: [cause] },
  },
  'invalid() of two causes lists them': {
    error: errors.invalid(pods, 'a', [cause, { ...cause, field: 'spec.b' }]),
    code: 422,
    reason: 'Invalid',
    message: 'Pod "a" is invalid: [spec.selector: Required value, spec.b: Required value]',
  },
  'resourceVersionRequired() is a validation error': {
    error: errors.resourceVersionRequired({ type: resourceTypes.leases }, 'l'),
    code: 422,
    reason: 'Invalid',
    message:
      'Lease.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  },
  '[cluster 26] strictDecodingError() lists unknown fields': {
    error: errors.strictDecodingError(sets, { unknown: ['spec.foo', 'spec.bar'] }),
    code: 400,
    reason: 'BadRequest',
    message:
      'StatefulSet in version "v1" cannot be handled as a StatefulSet: strict decoding error: unknown field "spec.foo", unknown field "spec.bar"',
  },
  '[cluster 24] patchRejected() has a generic text': {
    error: errors.patchRejected('testing value /a failed'),
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
  },
  'namespaceNotFound() names the namespace': {
    error: errors.namespaceNotFound('x'),
    code: 404,
    reason: 'NotFound',
    message: 'namespaces "x" not found',
    details: { name: 'x', kind: 'namespaces' },
  },
  'namespaceTerminating() has its cause': {
    error: errors.namespaceTerminating(pods, 'web-0', 'x'),
    code: 403,
    reason: 'Forbidden',
    message:
      'pods "web-0" is forbidden: unable to create new content in namespace x because it is being terminated',
    details: {
      name: 'web-0',
      kind: 'pods',
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: 'namespace x is being terminated',
          field: 'metadata.namespace',
        },
      ],
    },
  },
  'tooOldResourceVersion() has both revisions': {
    error: errors.tooOldResourceVersion(5, 9),
    code: 410,
    reason: 'Expired',
    message: 'too old resource version: 5 (9)',
  },
  'tooLargeResourceVersion() asks to retry after 1 s': {
    error: errors.tooLargeResourceVersion(9, 5),
    code: 504,
    reason: 'Timeout',
    message: 'Timeout: Too large resource version: 9, current: 5',
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  },
  'internalError() keeps the reason of the caller': {
    error: errors.internalError('failed calling webhook "n": refused'),
    code: 500,
    reason: 'InternalError',
    message: 'Internal error occurred: failed calling webhook "n": refused',
  },
  'resourceVersionOnCreate() has an empty reason': {
    error: errors.resourceVersionOnCreate(),
    code: 500,
    reason: '',
    message: 'resourceVersion should not be set on objects to be created',
  },
};
for (const [fact, { error, details, ...want }] of Object.entries(cases)) {
  test(fact, () => {
    const { code, reason, message } = error;
    assert.deepEqual({ code, reason, message }, want);
    if (details !== undefined) assert.deepEqual(error.details, details);
  });
}
