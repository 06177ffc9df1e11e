import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numberAt, objectsAt, textAt } from '../../json/read-json.ts';
import { planEndpoints } from './plan-endpoints.ts';
import type { EndpointPod, ServiceView } from './views.ts';

const cached = { namespace: 'demo', resourceVersion: '1' };

const web: ServiceView = {
  ...cached,
  name: 'web',
  uid: 'abcdefgh',
  labels: {},
  selector: { app: 'web' },
  ports: [{ name: 'http', port: 80, targetPort: 'http' }],
  isHeadless: true,
  publishesNotReady: false,
};

function pod(ordinal: number, members: Partial<EndpointPod> = {}): EndpointPod {
  return {
    ...cached,
    name: `web-${ordinal}`,
    uid: `uid-${ordinal}`,
    labels: { app: 'web' },
    ip: `10.0.0.${ordinal}`,
    nodeName: 'node-0',
    hostname: `web-${ordinal}`,
    subdomain: 'web',
    isReady: true,
    isTerminating: false,
    isOver: false,
    containerPorts: [{ name: 'http', containerPort: 8080 }],
    ...members,
  };
}

/** Addresses with their ports as `kubectl get endpoints` has them; those that are not ready with a question mark. */
function addresses(service: ServiceView, pods: readonly EndpointPod[]): readonly string[] {
  const planned = planEndpoints(service, pods)?.endpoints;
  return objectsAt(planned, 'subsets').flatMap((subset) => {
    const ports = objectsAt(subset, 'ports').map((port) => numberAt(port, 'port'));
    return [
      ...objectsAt(subset, 'addresses').map((each) => `${textAt(each, 'ip')}:${ports.join('+')}`),
      ...objectsAt(subset, 'notReadyAddresses').map((each) => `${textAt(each, 'ip')}?`),
    ];
  });
}

const cases: Readonly<
  Record<string, { service?: Partial<ServiceView>; pods: readonly EndpointPod[]; want: string[] }>
> = {
  'lists ready pods by name, at the port that their container names': {
    pods: [pod(2), pod(1)],
    want: ['10.0.0.1:8080', '10.0.0.2:8080'],
  },
  'keeps pods that are not ready apart': {
    pods: [pod(1), pod(2, { isReady: false })],
    want: ['10.0.0.1:8080', '10.0.0.2?'],
  },
  'lists pods that are not ready where the Service publishes them': {
    service: { publishesNotReady: true },
    pods: [pod(1, { isReady: false })],
    want: ['10.0.0.1:8080'],
  },
  'passes over pods that terminate, are over, have no address or are not selected': {
    pods: [
      pod(1, { isTerminating: true }),
      pod(2, { isOver: true }),
      pod(3, { ip: '' }),
      pod(4, { labels: { app: 'other' } }),
    ],
    want: [],
  },
  'groups pods whose containers name other ports': {
    pods: [pod(1), pod(2, { containerPorts: [{ name: 'http', containerPort: 9090 }] }), pod(3)],
    want: ['10.0.0.1:8080', '10.0.0.3:8080', '10.0.0.2:9090'],
  },
  'takes the port of the Service where it names no target': {
    service: { ports: [{ port: 80 }, { port: 81, targetPort: 8181 }] },
    pods: [pod(1)],
    want: ['10.0.0.1:80+8181'],
  },
};
for (const [fact, { service, pods, want }] of Object.entries(cases)) {
  test(`planEndpoints() ${fact}`, () => {
    assert.deepEqual(addresses({ ...web, ...service }, pods), want);
  });
}

test('planEndpoints() shows in the slice which pods serve while they go', () => {
  const going = pod(1, { isTerminating: true });
  const slice = planEndpoints(web, [going, pod(2, { isReady: false })])?.slice;
  const shown = objectsAt(slice, 'endpoints').map(({ hostname, conditions }) => [
    hostname,
    conditions,
  ]);
  assert.deepEqual(shown, [
    ['web-1', { ready: false, serving: true, terminating: true }],
    ['web-2', { ready: false, serving: false, terminating: false }],
  ]);
  assert.equal(slice?.metadata.name, 'web-abcde');
  assert.deepEqual(slice?.metadata['labels'], {
    'service.kubernetes.io/headless': '',
    'kubernetes.io/service-name': 'web',
  });
});

test('planEndpoints() leaves a Service without a selector to its owner', () => {
  assert.equal(planEndpoints({ ...web, selector: {} }, [pod(1)]), undefined);
});
