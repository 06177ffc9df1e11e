/** What an API server says of PhasedRollouts, with the definition installed and the webhooks behind it. */
import assert from 'node:assert/strict';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { apiVersionOf, resourceTypes } from '#kubernetes/resource-type.ts';
import type { Method } from '#kubernetes/transport/transport.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import type { Answer } from './env.ts';

const type = resourceTypes.phasedRollouts;
const query = { expr: 'up', url: 'http://prometheus.monitoring:9090' };
const complete = { initialDelaySeconds: 10, periodSeconds: 5, successThreshold: 2 };

/** Sends a request to the API server. */
export type Ask = (method: Method, path: string, body?: JsonObject) => Promise<Answer>;

/** What is written of the check, and the fields of it that are stored. */
const defaulted: Readonly<Record<string, readonly [check: JsonObject, stored: JsonObject]>> = {
  'says-nothing': [
    { query },
    { initialDelaySeconds: 60, periodSeconds: 60, successThreshold: 3, query },
  ],
  'says-zero': [
    { query, ...complete, initialDelaySeconds: 0, periodSeconds: 0 },
    { initialDelaySeconds: 60, periodSeconds: 60, successThreshold: 2, query },
  ],
  'says-all': [
    { query, ...complete },
    { ...complete, query },
  ],
  'without-a-scheme': [
    { ...complete, query: { expr: 'scalar(up)', url: 'prom:9000/xx' } },
    { ...complete, query: { expr: 'scalar(up)', url: 'prom:9000/xx' } },
  ],
};

const exprProblem = 'must be PromQL: got "up{", and at 1:4: unexpected end';
const urlProblem =
  'must be a URL such as "http://prometheus.monitoring:9090": got "10.0.0.1:9090", and it begins with neither a scheme nor a slash';
const [expr, url] = ['spec.check.query.expr', 'spec.check.query.url'];

/** Queries that are refused, the message, and the fields. */
const refused: Readonly<
  Record<string, readonly [query: JsonObject, message: string, fields: readonly string[]]>
> = {
  both: [
    { expr: 'up{', url: '10.0.0.1:9090' },
    `${expr} ${exprProblem}; ${url} ${urlProblem}`,
    [expr, url],
  ],
  expression: [{ expr: 'up{', url: 'http://h' }, `${expr} ${exprProblem}`, [expr]],
  url: [{ expr: 'up', url: '10.0.0.1:9090' }, `${url} ${urlProblem}`, [url]],
};

/** What the definition refuses before anybody is asked, or behind the defaults. */
const refusedBySchema: Readonly<Record<string, JsonObject>> = {
  'a negative delay': { check: { query, initialDelaySeconds: -1 } },
  'a negative threshold': { check: { query, successThreshold: -1 } },
  'a threshold that is a text': { check: { query, successThreshold: '3' } },
  'no query': { check: {} },
  'no check': {},
  'an empty expression': { check: { query: { ...query, expr: '' } } },
};

function rollout(name: string, spec: JsonObject): JsonObject {
  const metadata = { name };
  return { apiVersion: apiVersionOf(type), kind: type.kind, metadata, spec };
}

function withCheck(name: string, check: JsonObject): JsonObject {
  return rollout(name, { targetRef: 'web', check });
}

function statusOf({ body }: Answer): JsonObject {
  assert.ok(isJsonObject(body));
  return body;
}

/** Creates and changes PhasedRollouts in `namespace`, and holds the answers to what they must be. */
export async function reviewPhasedRollouts(ask: Ask, namespace: string): Promise<void> {
  const path = `/apis/${apiVersionOf(type)}/namespaces/${namespace}/${type.plural}`;
  for (const [name, [check, stored]] of Object.entries(defaulted)) {
    const created = await ask('POST', path, withCheck(name, check));
    assert.equal(created.status, 201, JSON.stringify(created.body));
    assert.deepEqual(objectAt(objectAt(statusOf(created), 'spec'), 'check'), stored, name);
  }
  for (const [name, [asked, message, fields]] of Object.entries(refused)) {
    await holdRefusal(await ask('POST', path, withCheck(name, { query: asked })), {
      name,
      message,
      fields,
    });
  }
  for (const [what, spec] of Object.entries(refusedBySchema)) {
    const { status } = await ask('POST', path, rollout('schema', { targetRef: 'web', ...spec }));
    assert.equal(status, 422, what);
  }
  await reviewUpdates(ask, path);
}

interface Refused {
  readonly name: string;
  readonly message: string;
  readonly fields: readonly string[];
}

async function holdRefusal(answer: Answer, { name, message, fields }: Refused): Promise<void> {
  const { reason, message: told, details } = statusOf(answer);
  assert.deepEqual([answer.status, reason], [422, 'Invalid'], JSON.stringify(answer.body));
  assert.equal(
    told,
    `admission webhook "vphasedrollout-v1alpha1.kb.io" denied the request: PhasedRollout.sts.plus "${name}" is invalid: ${message}`,
  );
  const { group, kind, causes } = details as {
    readonly group: string;
    readonly kind: string;
    readonly causes: readonly JsonObject[];
  };
  assert.deepEqual([group, kind], [type.group, type.kind]);
  assert.deepEqual(
    causes.map(({ field }) => field),
    fields,
  );
}

/** Updates are reviewed as creations are, also by a dry run; the last one takes it away. */
async function reviewUpdates(ask: Ask, path: string): Promise<void> {
  const own = `${path}/says-all`;
  const patched = await ask('PATCH', own, { spec: { check: { periodSeconds: 0 } } });
  const { check } = statusOf(patched)['spec'] as { readonly check: JsonObject };
  assert.deepEqual([patched.status, check['periodSeconds']], [200, 60]);
  const bad = { spec: { check: { query: { url: 'prom' } } } };
  assert.equal((await ask('PATCH', own, bad)).status, 422);
  assert.equal((await ask('PATCH', `${own}?dryRun=All`, bad)).status, 422);
  const dry = await ask('POST', `${path}?dryRun=All`, withCheck('dry', { query }));
  const tried = statusOf(dry)['spec'] as { readonly check: JsonObject };
  assert.deepEqual([dry.status, tried.check['successThreshold']], [201, 3]);
  assert.equal((await ask('GET', `${path}/dry`)).status, 404);
  assert.equal((await ask('DELETE', own)).status, 200);
}
