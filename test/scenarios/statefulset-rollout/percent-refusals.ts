/** StatefulsetRollouts that the API server refuses, for every cluster: those by the schema, and those by its rules. */
import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Scenario } from '../rollouts.ts';
import { carried, PercentSet, rolloutOf } from './percent-set.ts';

const rollouts = resourceTypes.statefulsetRollouts;

/** Causes, as `field: message`. */
type Told = readonly string[];

/** Said besides where the rules of the definition were not looked at, as the object is none of that shape. */
const unchecked =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
const usual = { percent: 100, statefulset: carried('db:1') };
const bapi = { bapiUrl: 'https://b.example', stageId: 'a' };
const letters = (count: number): string => 'x'.repeat(count);

/** Specs that are no StatefulsetRollout by their shape, and what is said of each. */
const misshapen: Readonly<Record<string, readonly [spec: JsonObject, told: Told]>> = {
  'a percentage above all [T-02]': [
    { ...usual, percent: 101 },
    ['spec.percent: Invalid value: 101: spec.percent in body should be less than or equal to 100'],
  ],
  'a percentage below none [T-02]': [
    { ...usual, percent: -1 },
    ['spec.percent: Invalid value: -1: spec.percent in body should be greater than or equal to 0'],
  ],
  'no percentage [T-02]': [
    { statefulset: carried('db:1') },
    ['spec.percent: Required value', unchecked],
  ],
  'a percentage in words': [
    { ...usual, percent: '50' },
    [
      'spec.percent: Invalid value: "string": spec.percent in body must be of type integer: "string"',
      unchecked,
    ],
  ],
  'half a percent': [
    { ...usual, percent: 0.5 },
    [
      'spec.percent: Invalid value: "float64": spec.percent in body must be of type int32: "float64"',
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.percent',
      unchecked,
    ],
  ],
  'a yes for a percentage': [
    { ...usual, percent: true },
    ['spec.percent: Invalid value: "": spec.percent in body must be of type int32: ""', unchecked],
  ],
  'more pods than there can be': [
    { ...usual, statefulset: carried('db:1', { replicas: 3_000_000_000 }) },
    [
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.statefulset.spec.replicas',
    ],
  ],
  'a number for a policy': [
    { ...usual, versionLeak: { policy: 5 } },
    [
      'spec.versionLeak.policy: Invalid value: "integer": spec.versionLeak.policy in body must be of type string: "integer"',
      'spec.versionLeak.policy: Unsupported value: 5: supported values: "Report", "Pin"',
      unchecked,
    ],
  ],
  'no set': [{ percent: 100 }, ['spec.statefulset: Required value', unchecked]],
  'a set without a template': [
    { ...usual, statefulset: { ...carried('db:1'), spec: { selector: {} } } },
    ['spec.statefulset.spec.template: Required value', unchecked],
  ],
  'a template that is null': [
    { ...usual, statefulset: carried('db:1', { template: null }) },
    ['spec.statefulset.spec.template: Required value', unchecked],
  ],
  'a deadline of no time': [
    { ...usual, progressDeadlineSeconds: 29 },
    [
      'spec.progressDeadlineSeconds: Invalid value: 29: spec.progressDeadlineSeconds in body should be greater than or equal to 30',
    ],
  ],
  'an identity with a space': [
    { ...usual, rolloutIdentity: 'a b' },
    [
      `spec.rolloutIdentity: Invalid value: "a b": spec.rolloutIdentity in body should match '^[A-Za-z0-9._-]*$'`,
    ],
  ],
  'an identity that is too long': [
    { ...usual, rolloutIdentity: letters(254) },
    ['spec.rolloutIdentity: Too long: may not be more than 253 bytes', unchecked],
  ],
  'a level of messages that there is none of': [
    { ...usual, notifications: { slack: { level: 'loud' } } },
    [
      'spec.notifications.slack.level: Unsupported value: "loud": supported values: "debug", "info", "error"',
      unchecked,
    ],
  ],
  'a receiver without a stage': [
    { ...usual, bapi: { bapiUrl: 'https://b.example' } },
    ['spec.bapi.stageId: Required value', unchecked],
  ],
  'a service twice': [
    { ...usual, serviceDiscovery: { serviceNames: ['a', 'b', 'a', 'a'] } },
    ['spec.serviceDiscovery.serviceNames[2]: Duplicate value: "a"'],
  ],
  'more services than twenty': [
    {
      ...usual,
      serviceDiscovery: { serviceNames: Array.from({ length: 21 }, (_, at) => `s${at}`) },
    },
    ['spec.serviceDiscovery.serviceNames: Too many: 21: must have at most 20 items', unchecked],
  ],
  'a service without a name': [
    { ...usual, serviceDiscovery: { serviceNames: [''] } },
    [
      'spec.serviceDiscovery.serviceNames[0]: Invalid value: "": spec.serviceDiscovery.serviceNames[0] in body should be at least 1 chars long',
    ],
  ],
};

const urlTold = (field: string): string => {
  const last = field.split('.').at(-1);
  return `${field}: Invalid value: ${last} must be a URL of http or https without a user and without a fragment`;
};
const webhook = { url: 'https://a.example', id: 'b' };

/** Specs that rules of the definition refuse, and what is said of each. */
const ruledOut: Readonly<Record<string, readonly [spec: JsonObject, told: string]>> = {
  'another strategy [T-03]': [
    { ...usual, statefulset: carried('db:1', { updateStrategy: { type: 'RollingUpdate' } }) },
    'spec.statefulset.spec.updateStrategy.type: Invalid value: updateStrategy.type must be OnDelete, or left out',
  ],
  'two channels [T-05]': [
    { ...usual, channel: '#a', notifications: { slack: { channel: '#b' } } },
    'spec.channel: Invalid value: channel and notifications.slack.channel must be equal where both are set',
  ],
  'a repair without a pin [T-06]': [
    { ...usual, versionLeak: { repair: true } },
    'spec.versionLeak.repair: Invalid value: repair needs policy Pin',
  ],
  'a repair beside a report [T-06]': [
    { ...usual, versionLeak: { policy: 'Report', repair: true } },
    'spec.versionLeak.repair: Invalid value: repair needs policy Pin',
  ],
  'two receivers': [
    { ...usual, bapi, callback: { webhook } },
    'spec.callback: Invalid value: bapi and callback.webhook cannot both be set: one receiver is called',
  ],
  'no service of a discovery': [
    { ...usual, serviceDiscovery: { dc: 'dc1' } },
    'spec.serviceDiscovery.serviceNames: Invalid value: serviceNames must have at least one name, unless provider is none',
  ],
  'fewer pods than none': [
    { ...usual, statefulset: carried('db:1', { replicas: -1 }) },
    'spec.statefulset.spec.replicas: Invalid value: replicas must be 0 or more',
  ],
  'another kind': [
    { ...usual, statefulset: { ...carried('db:1'), kind: 'Deployment' } },
    'spec.statefulset: Invalid value: statefulset must be a StatefulSet of apps/v1',
  ],
};

/** URLs that no callback goes to. */
const badUrls = [
  'ftp://a.example',
  'https://me@a.example',
  'https://a.example/#b',
  'a.example',
  '',
];

/** What is right, which the rules must not refuse. */
const accepted: Readonly<Record<string, JsonObject>> = {
  'an equal channel twice': { channel: '#a', notifications: { slack: { channel: '#a' } } },
  'a repair with a pin': { versionLeak: { policy: 'Pin', repair: true } },
  'a discovery that asks nothing': { serviceDiscovery: { provider: 'none' } },
  'an @ in the path of a URL': { bapi: { ...bapi, bapiUrl: 'http://a.example:80/b@c?d' } },
  'no percent': { percent: 0 },
};

/** Keyed by a sentence. */
export const percentRefusals: Readonly<Record<string, Scenario>> = {
  'a StatefulsetRollout of the wrong shape is refused, and each wrong field is reported': {
    act: async (env) => {
      const db = await PercentSet.open(env);
      for (const [what, [spec, told]] of Object.entries(misshapen)) {
        assert.deepEqual(await refusalOf(db, spec), [422, ...told], what);
      }
    },
  },
  'a StatefulsetRollout that rules forbid is refused, and the field is reported': {
    needs: ['cel'],
    act: async (env) => {
      const db = await PercentSet.open(env);
      for (const [what, [spec, told]] of Object.entries(ruledOut)) {
        assert.deepEqual(await refusalOf(db, spec), [422, told], what);
      }
      for (const url of badUrls) {
        const asBapi = await refusalOf(db, { ...usual, bapi: { ...bapi, bapiUrl: url } });
        assert.deepEqual(asBapi, [422, urlTold('spec.bapi.bapiUrl')]);
        const asHook = await refusalOf(db, {
          ...usual,
          callback: { webhook: { ...webhook, url } },
        });
        assert.deepEqual(asHook, [422, urlTold('spec.callback.webhook.url')]);
      }
    },
  },
  'a StatefulsetRollout that is right is taken, and its set keeps its name [T-01, T-04, T-05]': {
    needs: ['cel'],
    act: async (env) => {
      const db = await PercentSet.open(env);
      for (const [what, spec] of Object.entries(accepted)) {
        assert.deepEqual(await refusalOf(db, { ...usual, ...spec }), [201], what);
      }
      await db.create('db:1');
      const renamed = { ...carried('db:1'), metadata: { name: 'other' } };
      const answer = await env.ask('PATCH', db.path(rollouts, 'db'), {
        spec: { statefulset: renamed },
      });
      assert.deepEqual(
        [answer.status, causesIn(answer.body as JsonObject)],
        [422, ['spec.statefulset.metadata.name: Invalid value: name cannot be changed']],
      );
    },
  },
};

/** How a creation that is only tried is answered: the status, and what is said of each field. */
async function refusalOf(db: PercentSet, spec: JsonObject): Promise<readonly (number | string)[]> {
  const body = { ...rolloutOf('db:1'), spec };
  const answer = await db.env.ask('POST', `${db.path(rollouts)}?dryRun=All`, body);
  return [answer.status, ...causesIn(answer.body as JsonObject)];
}

function causesIn(status: JsonObject): readonly string[] {
  return objectsAt(status, 'details', 'causes').map(
    (cause) => `${textAt(cause, 'field')}: ${textAt(cause, 'message')}`,
  );
}
