import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FollowedQuestion, ServiceSight } from '#check/consul/consul-watch.ts';
import type { ServiceInstance } from '#check/consul/parse-consul.ts';
import { podView } from '#support/objects/views.ts';
import type { DiscoveryTarget } from '../api.ts';
import { parseRollout, type RolloutView } from '../parse-resource.ts';
import { createDiscovery, discoverySight } from './discovery-sight.ts';

const address = { pod: '10.1.0.1', host: '10.9.0.1' };
const pod = { ...podView({ name: 'db-1', uid: 'uid-1' }), address };
const target: DiscoveryTarget = { services: ['web', 'api'], onError: 'Block' };
const down = { kind: 'unknown', code: 'ConsulUnavailable', message: 'it is down' } as const;
const denied = { kind: 'unknown', code: 'ConsulPermissionDenied', message: 'no' } as const;

function known(...pods: readonly string[]): ServiceSight {
  const usual = { namespace: undefined, address: '', nodeAddress: '', isPassing: true };
  const instances = pods.map((podName): ServiceInstance => ({ ...usual, id: podName, podName }));
  return { kind: 'known', instances };
}

function sightOf(
  sights: readonly [ServiceSight, ServiceSight],
  {
    onError = 'Block',
    discovered = [],
  }: { readonly onError?: 'Block' | 'Ignore'; readonly discovered?: readonly string[] } = {},
): ReturnType<typeof discoverySight> {
  const [web, api] = sights;
  const all = new Map([
    ['web', web],
    ['api', api],
  ]);
  const given = { pods: [pod], discovered: new Set(discovered) };
  return discoverySight({ ...target, onError }, all, given);
}

describe('discoverySight()', () => {
  test('passes what passes in all services, which it names by the alphabet [T-80]', () => {
    assert.deepEqual(sightOf([known('db-1'), known('db-1')]), {
      kind: 'known',
      passing: new Set(['uid-1']),
      services: ['api', 'web'],
    });
    const half = sightOf([known('db-1'), known('db-2')]);
    assert.ok(half.kind === 'known');
    assert.deepEqual([...half.passing], []);
  });

  test('leaves a service out that is not there (CONSUL-10)', () => {
    const sight = sightOf([known('db-1'), known()]);
    assert.deepEqual(sight, { kind: 'known', passing: new Set(['uid-1']), services: ['web'] });
  });

  test('asks nothing where none is there [T-82]', () => {
    assert.deepEqual(sightOf([known(), known()]), { kind: 'off' });
  });

  test('passes nothing where one has vanished that was there in this rollout [T-82]', () => {
    const discovered = ['api'];
    const none = sightOf([known(), known()], { discovered });
    assert.deepEqual(none, { kind: 'known', passing: new Set(), services: [] });
    const one = sightOf([known('db-1'), known()], { discovered });
    assert.deepEqual(one, { kind: 'known', passing: new Set(), services: ['web'] });
  });

  test('forgets one that has vanished, and is not asked for any more', () => {
    assert.deepEqual(sightOf([known(), known()], { discovered: ['former'] }), { kind: 'off' });
  });

  test('knows nothing where one service is unknown, and says why', () => {
    assert.deepEqual(sightOf([known('db-1'), denied]), denied);
    assert.deepEqual(sightOf([down, { kind: 'awaited' }]), down);
    assert.deepEqual(sightOf([down, known()], { onError: 'Ignore' }), { ...down, kind: 'ignored' });
  });

  test('waits for the first answers, whatever may be ignored', () => {
    const sights = [known('db-1'), { kind: 'awaited' }] as const;
    assert.deepEqual(sightOf(sights, { onError: 'Ignore' }), { kind: 'awaited' });
  });
});

function rollout(changes: Partial<RolloutView> = {}, serviceDiscovery?: object): RolloutView {
  const template = { metadata: { labels: { app: 'db' } }, spec: { containers: [] } };
  const spec = { selector: { matchLabels: { app: 'db' } }, template };
  const statefulset = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db' },
    spec,
  };
  const object = JSON.stringify({
    metadata: { namespace: 'demo', name: 'db' },
    spec: { percent: 100, statefulset, serviceDiscovery },
  });
  return { ...parseRollout(JSON.parse(object) as Parameters<typeof parseRollout>[0]), ...changes };
}

describe('createDiscovery()', () => {
  test('follows what an active rollout asks for, and nothing once it has ended', () => {
    const followed = new Map<string, readonly FollowedQuestion[]>();
    const discovery = createDiscovery({
      follow: (key, questions) => void followed.set(key, questions),
      forget: (key) => void followed.delete(key),
      sight: () => known('db-1'),
    });
    const tokenSecretRef = { name: 'consul', key: 'token' };
    const consul = { namespace: 'team', partition: 'part', tokenSecretRef };
    const active = rollout({}, { dc: 'dc1', serviceNames: ['web'], consul });
    assert.equal(discovery.sight(active, [pod]).kind, 'known');
    assert.deepEqual(followed.get('demo/db'), [
      {
        service: 'web',
        datacenter: 'dc1',
        namespace: 'team',
        partition: 'part',
        token: { namespace: 'demo', name: 'consul', key: 'token' },
      },
    ]);
    const ended = { ...active, progress: { ...active.progress, phase: 'RolloutDone' } as const };
    assert.deepEqual(discovery.sight(ended, [pod]), { kind: 'off' });
    assert.equal(followed.size, 0);
  });

  test('asks nothing for a resource without it, or with the provider none', () => {
    const discovery = createDiscovery(undefined);
    assert.deepEqual(discovery.sight(rollout(), []), { kind: 'off' });
    const none = rollout({}, { provider: 'none', serviceNames: ['web'] });
    assert.deepEqual(discovery.sight(none, []), { kind: 'off' });
  });

  test('holds what asks for a Consul that is not configured', () => {
    const sight = createDiscovery(undefined).sight(rollout({}, { serviceNames: ['web'] }), []);
    assert.ok(sight.kind === 'unknown');
    assert.equal(sight.code, 'ConsulUnavailable');
  });
});
