import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { handlersOf, type PostedAnswer } from '../review/review-handler.ts';
import { webhookPaths } from '../webhook-configuration/webhook-paths.ts';
import { zpdbValidation } from './zpdb-validation.ts';

const clock = new FakeClock();
const options = { clock, log: silentLogger, requestTimeout: seconds(10) };
const handler = handlersOf([zpdbValidation()], options).get(webhookPaths.zpdbValidation);

/** The answer to a review whose request has these members besides its uid, as text. */
function post(members: string): Promise<PostedAnswer> | PostedAnswer {
  const request = ['"uid":"U"', members].filter(Boolean).join(',');
  const body = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{${request}}}`;
  const caller = { query: '', begun: clock.monotonic(), onLeave: () => undefined };
  assert.ok(handler);
  return handler({ contentType: 'application/json', body: Buffer.from(body), caller });
}

async function responseTo(members: string): Promise<string> {
  const { status, body } = await post(members);
  assert.equal(status, 200, body);
  const head = '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":';
  assert.ok(body.startsWith(head), body);
  return body.slice(head.length, -1);
}

function denied(message: string): string {
  return `{"uid":"U","allowed":false,"status":{"metadata":{},"message":${JSON.stringify(message)},"code":400}}`;
}

const allowed = '{"uid":"U","allowed":true}';
const kind = '"kind":"ZoneAwarePodDisruptionBudget"';
const selector = '"selector":{"matchLabels":{"rollout-group":"ingester"}}';
const valid = `{${kind},"apiVersion":"rollout-operator.grafana.com/v1","metadata":{"name":"b"},"spec":{${selector}}}`;
const wide = `{${kind},"spec":{"selector":{"matchLabels":{}}}}`;

/** What is posted, and the response, byte for byte. */
const cases: Readonly<Record<string, readonly [members: string, response: string]>> = {
  'allows a valid object and echoes the uid [zpdb 28]': [`"object":${valid}`, allowed],
  'allows an update, whatever the old object is': [
    `"operation":"UPDATE","object":${valid},"oldObject":{"kind":"${'x'.repeat(1_000)}"}`,
    allowed,
  ],
  'allows in a dry run as it does otherwise': [`"dryRun":true,"object":${valid}`, allowed],
  'looks at no operation': [`"operation":"DELETE","object":${valid}`, allowed],
  'allows an object that overlaps another budget [zpdb 32]': [`"object":${wide}`, allowed],
  'takes the last of members that are there twice, as Go does': [
    `"object":{${kind},"spec":{"maxUnavailable":-1,"maxUnavailable":2,${selector}}}`,
    allowed,
  ],
  'denies an invalid object with 400 [zpdb 29]': [
    `"object":{${kind},"spec":{"maxUnavailable":-1,${selector}}}`,
    denied('invalid value: max unavailable must be 0 <= val, got -1'),
  ],
  'tells 1.0 from 1 [zpdb 9]': [
    `"object":{${kind},"spec":{"maxUnavailable":1.0,${selector}}}`,
    denied('failed to extract value from config field maxUnavailable'),
  ],
  'denies a review without an object [zpdb 30]': ['', denied('unexpected end of JSON input')],
  'denies an object that is null [zpdb 30]': [
    '"object": null ',
    denied('unexpected end of JSON input'),
  ],
  'denies an object without kind, and quotes it [zpdb 31]': [
    '"object":{"spec": {"a":1.0}}',
    denied(`Object 'Kind' is missing in '{"spec": {"a":1.0}}'`),
  ],
  'denies an object whose kind is empty [zpdb 31]': [
    '"object":{"kind":""}',
    denied(`Object 'Kind' is missing in '{"kind":""}'`),
  ],
  'denies a text in place of an object': [
    '"object":"null"',
    denied('json: cannot unmarshal string into Go value of type map[string]interface {}'),
  ],
  'denies an object of another kind': [
    '"object":{"kind":"StatefulSet","spec":{"replicas":3}}',
    denied('unexpected object kind - expecting ZoneAwarePodDisruptionBudget'),
  ],
};

for (const [fact, [members, response]] of Object.entries(cases)) {
  test(`zpdbValidation() ${fact}`, async () => {
    assert.equal(await responseTo(members), response);
  });
}

test('zpdbValidation() quotes of a long object the begin', async () => {
  const response = await responseTo(`"object":{"a":"${'x'.repeat(100_000)}"}`);
  const begin = `Object 'Kind' is missing in '{"a":"`;
  assert.equal(
    response,
    denied(`${begin}${'x'.repeat(4_096 - begin.length)}… (100038 characters)`),
  );
});

test('zpdbValidation() reads an object of 256 KiB, and refuses to read a longer one (D-58)', async () => {
  const before = `{${kind},"metadata":{"annotations":{"a":"`;
  const behind = `"}},"spec":{${selector}}}`;
  const most = 256 * 1_024 - before.length - behind.length;
  assert.equal(await responseTo(`"object":${before}${'x'.repeat(most)}${behind}`), allowed);
  const { status, body } = await post(`"object":${before}${'x'.repeat(most + 1)}${behind}`);
  assert.deepEqual(
    [status, body],
    [
      400,
      'Request could not be decoded: it has a member request that has a member object that has more than 262144 bytes\n',
    ],
  );
});

for (const [what, members] of [
  ['that nests too deep', `"object":${'['.repeat(999)}${']'.repeat(999)}`],
  ['that appears twice', `"object":${valid},"object":${valid}`],
  ['that is no JSON', '"object":{"kind":}'],
  ['that ends too early', '"object":'],
] as const) {
  test(`zpdbValidation() is not asked about an object ${what}`, async () => {
    assert.equal((await post(members)).status, 400);
  });
}
