/** What an API server says of budgets, with the definition installed and `/admission/zpdb-validation` behind it. */
import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json.ts';
import { apiVersionOf, resourceTypes } from '#kubernetes/resource-type.ts';
import type { Method } from '#kubernetes/transport/transport.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import type { Answer } from './env.ts';

const type = resourceTypes.zoneAwarePodDisruptionBudgets;
const selector = { matchLabels: { 'rollout-group': 'ingester' } };
const podNamePartitionRegex = '[a-z\\-]+-zone-[a-z]-([0-9]+)';

/** Specs that are stored. */
const valid: Readonly<Record<string, JsonObject>> = {
  'no-limit': { selector },
  'zone-mode': { selector, maxUnavailable: 2 },
  percentage: { selector, maxUnavailablePercentage: 50 },
  'partition-mode': {
    selector,
    maxUnavailable: 1,
    podNamePartitionRegex,
    podNameRegexGroup: 1,
    crossZoneEvictionDelay: '20m',
  },
  'overlapping-others': { selector: { matchLabels: {} } },
};

/** Specs that are refused, and how. */
const refused: Readonly<Record<string, readonly [spec: JsonObject, answer: string]>> = {
  'a regex that does not compile': [
    { selector, podNamePartitionRegex: '([bad' },
    'invalid value: regex is not valid, got error parsing regexp: missing closing ]: `[bad$`',
  ],
  'both limits': [
    { selector, maxUnavailable: 0, maxUnavailablePercentage: 50 },
    'invalid value: only one of maxUnavailable or maxUnavailablePercentage may be set',
  ],
  'a delay in days': [
    { selector, podNamePartitionRegex, crossZoneEvictionDelay: '1d' },
    'invalid value: crossZoneEvictionDelay is not a valid duration, got time: unknown unit "d" in duration "1d"',
  ],
  'a delay without a regex': [
    { selector, crossZoneEvictionDelay: '20m' },
    'invalid value: crossZoneEvictionDelay requires podNamePartitionRegex to be set',
  ],
};

/** Specs that the definition refuses before anybody is asked. */
const refusedBySchema: Readonly<Record<string, JsonObject>> = {
  'a negative limit': { selector, maxUnavailable: -1 },
  'a percentage of 101': { selector, maxUnavailablePercentage: 101 },
  'group 0': { selector, podNamePartitionRegex, podNameRegexGroup: 0 },
  'a limit that is a text': { selector, maxUnavailable: '1' },
  'no selector': { maxUnavailable: 1 },
  'a selector without matchLabels': { selector: {} },
  'a label that is a number': { selector: { matchLabels: { a: 1 } } },
};

/** Sends a request to the API server. */
type Ask = (method: Method, path: string, body: JsonObject) => Promise<Answer>;

function told({ status, body }: Answer): string {
  const { message } = body as { readonly message?: string };
  return `${status} ${message ?? ''}`.trim();
}

/** Creates and changes budgets in `namespace`, and holds the answers to what they must be. */
export async function reviewBudgets(ask: Ask, namespace: string): Promise<void> {
  const path = `/apis/${apiVersionOf(type)}/namespaces/${namespace}/${type.plural}`;
  const budget = (name: string, spec: JsonObject): JsonObject => ({
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { name },
    spec,
  });
  const denied = (text: string): string =>
    `400 admission webhook "zpdb-validation-${namespace}.grafana.com" denied the request: ${text}`;
  for (const [name, spec] of Object.entries(valid)) {
    const answer = await ask('POST', path, budget(name, spec));
    assert.equal(told(answer), '201', name);
    assert.deepEqual(objectAt(answer.body as JsonObject, 'spec'), spec, name);
  }
  for (const [what, [spec, text]] of Object.entries(refused)) {
    assert.equal(told(await ask('POST', path, budget('refused', spec))), denied(text), what);
  }
  for (const [what, spec] of Object.entries(refusedBySchema)) {
    const answer = told(await ask('POST', path, budget('refused', spec)));
    assert.match(answer, /^422 ZoneAwarePodDisruptionBudget\S* "refused" is invalid/, what);
  }
  const update = { spec: { podNamePartitionRegex: '([0-9]+)', maxUnavailable: null } };
  const changed = await ask('PATCH', `${path}/percentage`, update);
  const both = 'invalid value: max unavailable percentage can not be used with partition awareness';
  assert.equal(told(changed), denied(both));
  const pruned = await ask('PATCH', `${path}/zone-mode`, {
    spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
  });
  assert.equal(told(pruned), '200');
  assert.deepEqual(objectAt(objectAt(pruned.body as JsonObject, 'spec'), 'selector'), selector);
}
