import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { handlersOf, type PostedAnswer } from '../review/review-handler.ts';
import { webhookPaths } from '../webhook-configuration/webhook-paths.ts';
import { phasedRolloutDefaults } from './phased-rollout-defaults.ts';
import { phasedRolloutValidation } from './phased-rollout-validation.ts';

const clock = new FakeClock();
const options = { clock, log: silentLogger, requestTimeout: seconds(10) };
const handlers = handlersOf([phasedRolloutDefaults(), phasedRolloutValidation()], options);
const { phasedRolloutDefaults: mutating, phasedRolloutValidation: validating } = webhookPaths;

/** The members of a request besides its uid. */
type Posted = Readonly<Record<string, unknown>>;

function post(path: string, members: Posted): PostedAnswer | Promise<PostedAnswer> {
  const request = { uid: 'U', operation: 'CREATE', ...members };
  const apiVersion = 'admission.k8s.io/v1';
  const body = Buffer.from(JSON.stringify({ kind: 'AdmissionReview', apiVersion, request }));
  const caller = { query: '', begun: clock.monotonic(), onLeave: () => undefined };
  const handler = handlers.get(path);
  assert.ok(handler);
  return handler({ contentType: 'application/json', body, caller });
}

async function responseTo(path: string, members: Posted): Promise<JsonObject> {
  const { status, body } = await post(path, members);
  assert.equal(status, 200, body);
  const { response } = JSON.parse(body) as { readonly response: JsonObject };
  return response;
}

/** The patch of an answer, decoded; undefined where there is none. */
async function patchFor(members: Posted): Promise<unknown> {
  const { patch, patchType, ...rest } = await responseTo(mutating, members);
  assert.deepEqual(rest, { uid: 'U', allowed: true });
  if (patch === undefined) return undefined;
  assert.equal(patchType, 'JSONPatch');
  assert.ok(typeof patch === 'string');
  return JSON.parse(Buffer.from(patch, 'base64').toString());
}

const query = { expr: 'up', url: 'http://prometheus.monitoring:9090' };

function rollout(check: JsonObject, metadata: JsonObject = { name: 'pr1' }): JsonObject {
  const spec = { targetRef: 'web', check: { query, ...check } };
  return { apiVersion: 'sts.plus/v1alpha1', kind: 'PhasedRollout', metadata, spec };
}

const allDefaults = [
  { op: 'add', path: '/spec/check/initialDelaySeconds', value: 60 },
  { op: 'add', path: '/spec/check/periodSeconds', value: 60 },
  { op: 'add', path: '/spec/check/successThreshold', value: 3 },
];
const complete = { initialDelaySeconds: 10, periodSeconds: 5, successThreshold: 2 };

/** What is posted, and the patch. */
const patches: Readonly<Record<string, readonly [members: Posted, patch: unknown]>> = {
  'puts in what is not written [phased 1]': [{ object: rollout({}) }, allDefaults],
  'puts 60 where 0 is written [phased 2]': [
    { object: rollout({ ...complete, initialDelaySeconds: 0, periodSeconds: 0 }) },
    allDefaults.slice(0, 2),
  ],
  'puts in what is null': [
    { object: rollout({ ...complete, periodSeconds: null }) },
    [allDefaults[1]],
  ],
  'leaves what is written': [{ object: rollout(complete) }, undefined],
  'does so at an update': [
    { operation: 'UPDATE', object: rollout({}), oldObject: rollout(complete) },
    allDefaults,
  ],
  'does so in a dry run': [{ dryRun: true, object: rollout({}) }, allDefaults],
  'leaves a negative delay to the schema': [
    { object: rollout({ ...complete, initialDelaySeconds: -1 }) },
    undefined,
  ],
  'has no place for defaults where there is no check': [
    { object: { ...rollout({}), spec: { targetRef: 'web' } } },
    undefined,
  ],
  'has no place for defaults where there is no spec': [
    { object: { apiVersion: 'sts.plus/v1alpha1', kind: 'PhasedRollout' } },
    undefined,
  ],
  'has nothing to do at a deletion': [{ operation: 'DELETE', oldObject: rollout({}) }, undefined],
};

for (const [fact, [members, patch]] of Object.entries(patches)) {
  test(`phasedRolloutDefaults() ${fact}`, async () => {
    assert.deepEqual(await patchFor(members), patch);
  });
}

function withQuery(expr: string, url: string, metadata: JsonObject = { name: 'pr1' }): JsonObject {
  return rollout({ ...complete, query: { expr, url } }, metadata);
}

const exprMessage = 'must be PromQL: got "up{", and at 1:4: unexpected end';
const urlMessage =
  'must be a URL such as "http://prometheus.monitoring:9090": got "10.0.0.1:9090", and it begins with neither a scheme nor a slash';
const badExpr = {
  reason: 'FieldValueInvalid',
  message: exprMessage,
  field: 'spec.check.query.expr',
};
const badUrl = { reason: 'FieldValueInvalid', message: urlMessage, field: 'spec.check.query.url' };

test('phasedRolloutValidation() lists both fields in one status Invalid [phased 4]', async () => {
  const object = withQuery('up{', '10.0.0.1:9090');
  assert.deepEqual(await responseTo(validating, { name: 'pr1', object }), {
    uid: 'U',
    allowed: false,
    status: {
      metadata: {},
      status: 'Failure',
      message: `PhasedRollout.sts.plus "pr1" is invalid: spec.check.query.expr ${exprMessage}; spec.check.query.url ${urlMessage}`,
      reason: 'Invalid',
      details: { group: 'sts.plus', kind: 'PhasedRollout', name: 'pr1', causes: [badExpr, badUrl] },
      code: 422,
    },
  });
});

/** What is posted, and the fields that are refused. */
const verdicts: Readonly<Record<string, readonly [members: Posted, fields: readonly string[]]>> = {
  'admits an expression and a URL': [{ object: rollout(complete) }, []],
  'admits a URL without a scheme, as the peer does [phased 5]': [
    { object: withQuery('up', 'prom:9000/xx') },
    [],
  ],
  'admits a scalar, as the peer does [phased 6]': [
    { object: withQuery('scalar(up)', 'http://h') },
    [],
  ],
  'admits what no server is reached by, as the peer does': [
    { object: withQuery('up', 'ftp://h') },
    [],
  ],
  'refuses a URL that begins with a blank': [
    { object: withQuery('up', ' http://h') },
    ['spec.check.query.url'],
  ],
  'refuses a word for a URL': [{ object: withQuery('up', 'prom') }, ['spec.check.query.url']],
  'refuses an expression that is no PromQL': [
    { object: withQuery('sum(up', 'http://h') },
    ['spec.check.query.expr'],
  ],
  'refuses at an update, too': [
    {
      operation: 'UPDATE',
      object: withQuery('sum(up', 'http://h'),
      oldObject: withQuery('sum(up', 'http://h'),
    },
    ['spec.check.query.expr'],
  ],
  'refuses in a dry run, too': [
    { dryRun: true, object: withQuery('up', 'prom') },
    ['spec.check.query.url'],
  ],
  'refuses an object without a spec': [
    { object: { apiVersion: 'sts.plus/v1alpha1', kind: 'PhasedRollout' } },
    ['spec.check.query.expr', 'spec.check.query.url'],
  ],
  'admits anything that is being deleted, which must lose its finalizer': [
    {
      operation: 'UPDATE',
      object: withQuery('up{', 'prom', { name: 'a', deletionTimestamp: '2026-01-31T12:00:00Z' }),
    },
    [],
  ],
  'admits a deletion': [{ operation: 'DELETE', oldObject: withQuery('up{', 'prom') }, []],
};

for (const [fact, [members, fields]] of Object.entries(verdicts)) {
  test(`phasedRolloutValidation() ${fact}`, async () => {
    const { allowed, status } = await responseTo(validating, members);
    assert.equal(allowed, fields.length === 0);
    const { details } = (status ?? {}) as { details?: { causes: readonly JsonObject[] } };
    assert.deepEqual(details?.causes.map(({ field }) => field) ?? [], fields);
  });
}

test('phasedRolloutValidation() quotes of a long URL the begin', async () => {
  const { status } = await responseTo(validating, { object: withQuery('up', 'x'.repeat(100_000)) });
  assert.ok(JSON.stringify(status).length < 2_000);
});

const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: {}, spec: { replicas: 3 } };

/** What is posted in place of a PhasedRollout, and how the refusal begins. */
const others: Readonly<Record<string, readonly [members: Posted, begin: string]>> = {
  'a set': [{ object: set }, 'the object is of "apps/v1", kind "StatefulSet"'],
  'a PhasedRollout of another version': [
    { object: { ...rollout({}), apiVersion: 'sts.plus/v2' } },
    'the object is of "sts.plus/v2", kind "PhasedRollout"',
  ],
  'an object without a kind': [{ object: { spec: {} } }, 'the object is of no name, kind no name'],
  'a text': [{ object: 'PhasedRollout' }, 'the review has no object'],
  nothing: [{}, 'the review has no object'],
};

for (const path of [mutating, validating]) {
  for (const [what, [members, begin]] of Object.entries(others)) {
    test(`${path} refuses ${what}`, async () => {
      const { allowed, status, patch } = await responseTo(path, members);
      const { message, code } = status as { message: string; code: number };
      assert.deepEqual([allowed, code, patch], [false, 400, undefined]);
      assert.ok(message.startsWith(begin), message);
    });
  }

  test(`${path} does not read an object of more than 256 KiB (D-58)`, async () => {
    const annotations = { a: 'x'.repeat(256 * 1_024) };
    const { status } = await post(path, { object: rollout(complete, { annotations }) });
    assert.equal(status, 400);
  });
}
