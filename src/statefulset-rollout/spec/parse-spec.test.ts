/** What a StatefulsetRollout may say, by the rules that hold although the API server let something else pass. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anything, assert as check, property } from 'fast-check';
import type { JsonObject } from '#base/json.ts';
import { problemText } from '#base/parsed.ts';
import { parseStatefulsetRollout } from './parse-spec.ts';

const carried: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'bedrock-example-prod' },
  spec: {
    replicas: 4,
    selector: { matchLabels: { app: 'bedrock-example' } },
    template: { metadata: { labels: { app: 'bedrock-example' } } },
    updateStrategy: { type: 'OnDelete' },
  },
};

/** All fields that the article publishes, and no other. */
const published: JsonObject = {
  bapi: { bapiUrl: 'https://bapi.example.internal/', stageId: '2V6U3YXVO8OGtjQFEO9GJpQk1Xy' },
  channel: '#devel-rollouts',
  minPodEvictionIntervalSeconds: 10,
  pauseRequested: false,
  percent: 25,
  rolloutIdentity: 'GbTdWjQYgiiToKdoWDLN',
  serviceDiscovery: { dc: 'dc1', serviceNames: ['bedrock-example'] },
  statefulset: carried,
};

function parsed(spec: JsonObject): ReturnType<typeof parseStatefulsetRollout> {
  return parseStatefulsetRollout({ spec });
}

function said(spec: JsonObject): string {
  const read = parsed(spec);
  return read.kind === 'invalid' ? problemText(read.problem) : 'valid';
}

const bare: JsonObject = { percent: 100, statefulset: carried };

test('parseStatefulsetRollout() reads all that the article publishes [T-01]', () => {
  const read = parsed(published);
  assert.deepEqual(read.kind === 'valid' && { ...read.value, set: read.value.set.name }, {
    set: 'bedrock-example-prod',
    percent: 25,
    evictionInterval: 10_000,
    rollbackInterval: 10_000,
    isPauseRequested: false,
    identity: 'GbTdWjQYgiiToKdoWDLN',
    slack: { channel: '#devel-rollouts', level: 'debug' },
    callback: {
      url: 'https://bapi.example.internal/v1/stages/2V6U3YXVO8OGtjQFEO9GJpQk1Xy/callback',
      stageId: '2V6U3YXVO8OGtjQFEO9GJpQk1Xy',
    },
    discovery: { datacenter: 'dc1', services: ['bedrock-example'], onError: 'Block' },
    progressDeadline: 1_800_000,
    unreadyPodsOfRollback: 'Delete',
    replicasOwnership: 'Auto',
    onImmutableChange: 'Fail',
    deletionPolicy: 'Auto',
    leakPolicy: 'Report',
    isLeakRepaired: false,
    parallelWithoutBudget: 1,
  });
});

test('parseStatefulsetRollout() asks for no more than a set and a percentage', () => {
  const read = parsed(bare);
  assert.ok(read.kind === 'valid');
  const { slack, callback, discovery, timeout, evictionInterval } = read.value;
  assert.deepEqual(
    [slack, callback, discovery, timeout, evictionInterval],
    [undefined, undefined, undefined, undefined, 0],
  );
});

test('parseStatefulsetRollout() calls a webhook as it stands, and signs with its own key', () => {
  const webhook = {
    url: 'https://hooks.example/x?y=1',
    id: 'a',
    signingSecretRef: { name: 's', key: 'k' },
  };
  const read = parsed({ ...bare, callback: { webhook } });
  assert.deepEqual(read.kind === 'valid' && read.value.callback, {
    url: 'https://hooks.example/x?y=1',
    stageId: 'a',
    signingKey: { name: 's', key: 'k' },
  });
});

test('parseStatefulsetRollout() puts the path of a stage in front of what is behind a "?" (E-2)', () => {
  const urls: Readonly<Record<string, string>> = {
    'https://a': 'https://a/v1/stages/b/callback',
    'https://a/x/': 'https://a/x/v1/stages/b/callback',
    'https://a?y=1': 'https://a/v1/stages/b/callback?y=1',
    'https://a/x/?y=?/': 'https://a/x/v1/stages/b/callback?y=?/',
  };
  for (const [bapiUrl, url] of Object.entries(urls)) {
    const read = parsed({ ...bare, bapi: { bapiUrl, stageId: 'b' } });
    assert.equal(read.kind === 'valid' && read.value.callback?.url, url);
  }
});

describe('parseStatefulsetRollout() refuses', () => {
  const strategy = (type: string): JsonObject => ({
    ...carried,
    spec: { ...(carried['spec'] as JsonObject), updateStrategy: { type } },
  });
  const cases: Record<string, { readonly spec: JsonObject; readonly want: string }> = {
    'a percentage of 101 [T-02]': {
      spec: { ...bare, percent: 101 },
      want: 'spec.percent must be an integer from 0 to 100: got 101',
    },
    'a percentage of -1 [T-02]': {
      spec: { ...bare, percent: -1 },
      want: 'spec.percent must be an integer from 0 to 100: got -1',
    },
    'no percentage [T-02]': {
      spec: { statefulset: carried },
      want: 'spec.percent must be an integer from 0 to 100: got nothing',
    },
    'another update strategy [T-03]': {
      spec: { ...bare, statefulset: strategy('RollingUpdate') },
      want: 'spec.statefulset.spec.updateStrategy.type must be OnDelete, or left out: the controller would delete pods by itself: got "RollingUpdate"',
    },
    'another kind': {
      spec: { ...bare, statefulset: { ...carried, kind: 'Deployment' } },
      want: 'spec.statefulset.kind must be StatefulSet: got "Deployment"',
    },
    'no set': {
      spec: { percent: 1 },
      want: 'spec.statefulset must be a StatefulSet of apps/v1: got nothing',
    },
    'two channels [T-05]': {
      spec: { ...bare, channel: '#a', notifications: { slack: { channel: '#b' } } },
      want: 'spec.notifications.slack.channel must be as spec.channel where both are there: got "#b"',
    },
    'a channel with a space': {
      spec: { ...bare, channel: '#a b' },
      want: 'spec.channel must be "#" and the name of a channel, or the id of a conversation: got "#a b"',
    },
    'a repair without a pin [T-06]': {
      spec: { ...bare, versionLeak: { repair: true } },
      want: 'spec.versionLeak.repair needs spec.versionLeak.policy Pin: got true',
    },
    'two receivers': {
      spec: {
        ...bare,
        bapi: published['bapi'],
        callback: { webhook: { url: 'https://a', id: 'b' } },
      },
      want: 'spec.callback.webhook cannot be set together with spec.bapi: one receiver is called: got what is no such value',
    },
    'a user in a URL': {
      spec: { ...bare, bapi: { bapiUrl: 'https://me@host/', stageId: 'a' } },
      want: 'spec.bapi.bapiUrl must be a URL of http or https without a user and without a fragment: got "https://me@host/"',
    },
    'another scheme': {
      spec: { ...bare, bapi: { bapiUrl: 'file:///etc/passwd', stageId: 'a' } },
      want: 'spec.bapi.bapiUrl must be a URL of http or https without a user and without a fragment: got "file:///etc/passwd"',
    },
    'half a receiver': {
      spec: { ...bare, bapi: { bapiUrl: 'https://a' } },
      want: 'spec.bapi.stageId must have 1 to 128 letters, digits, ".", "_", ":" and "-", and not be "." or "..": got nothing',
    },
    'a stage that names another place of the receiver': {
      spec: { ...bare, bapi: { bapiUrl: 'https://a', stageId: '..' } },
      want: 'spec.bapi.stageId must have 1 to 128 letters, digits, ".", "_", ":" and "-", and not be "." or "..": got ".."',
    },
    'no service of a discovery': {
      spec: { ...bare, serviceDiscovery: { dc: 'dc1' } },
      want: 'spec.serviceDiscovery.serviceNames must be a list of 1 to 20 names: got nothing',
    },
    'a service twice': {
      spec: { ...bare, serviceDiscovery: { serviceNames: ['a', 'a'] } },
      want: 'spec.serviceDiscovery.serviceNames must have each name once: got "a, a"',
    },
    'a service that is a path': {
      spec: { ...bare, serviceDiscovery: { serviceNames: ['a/b'] } },
      want: 'spec.serviceDiscovery.serviceNames.0 must have 1 to 128 characters, and no "/", "?", "#" or space: got "a/b"',
    },
    'an unknown policy': {
      spec: { ...bare, deletionPolicy: 'Keep' },
      want: 'spec.deletionPolicy must be one of Auto, Delete, Orphan: got "Keep"',
    },
    'a deadline of a second': {
      spec: { ...bare, progressDeadlineSeconds: 1 },
      want: 'spec.progressDeadlineSeconds must be an integer from 30 to 86400: got 1',
    },
  };
  for (const [fact, { spec, want }] of Object.entries(cases)) {
    test(`parseStatefulsetRollout() refuses ${fact}`, () => assert.equal(said(spec), want));
  }

  test('parseStatefulsetRollout() refuses a stage of 10 KB, in a message that is short', () => {
    const text = said({ ...bare, bapi: { bapiUrl: 'https://a', stageId: 'x'.repeat(10_240) } });
    assert.match(text, /^spec\.bapi\.stageId must have 1 to 128/);
    assert.ok(text.length < 1_024, `${text.length}`);
  });
});

test('parseStatefulsetRollout() takes equal channels, and a discovery that asks nothing [T-05]', () => {
  const equal = {
    ...bare,
    channel: '#a',
    notifications: { slack: { channel: '#a', level: 'info' } },
  };
  const read = parsed({ ...equal, serviceDiscovery: { provider: 'none' } });
  assert.ok(read.kind === 'valid');
  assert.deepEqual(read.value.slack, { channel: '#a', level: 'info' });
  assert.equal(read.value.discovery, undefined);
});

test('parseStatefulsetRollout() never throws, whatever is there', () => {
  const fields = [
    ...Object.keys(published),
    'notifications',
    'callback',
    'rollback',
    'versionLeak',
  ];
  check(
    property(anything(), (value) => {
      for (const field of fields) {
        const spec = JSON.parse(
          JSON.stringify({ ...published, [field]: value ?? null }),
        ) as JsonObject;
        assert.ok(['valid', 'invalid'].includes(parsed(spec).kind));
      }
    }),
    { numRuns: 100 },
  );
});
