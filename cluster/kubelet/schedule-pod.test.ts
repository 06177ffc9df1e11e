import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { type NodeLoad, pickNode } from './schedule-pod.ts';
import type { Constraints, KubeletPod, NodeView } from './views.ts';

function podWith(constraints: Partial<Constraints>): KubeletPod {
  return {
    namespace: 'demo',
    name: 'db-0',
    uid: 'uid-0',
    resourceVersion: '1',
    labels: {},
    nodeName: '',
    phase: 'Pending',
    isTerminating: false,
    grace: seconds(30),
    containers: [],
    constraints: { nodeSelector: {}, affinityTerms: [], tolerations: [], ...constraints },
    readinessGates: [],
    trueConditions: [],
    waitingReason: '',
    restarts: 0,
    podIP: '',
  };
}

function node(name: string, zone: string, more: Partial<NodeView> = {}): NodeView {
  return {
    namespace: '',
    name,
    uid: name,
    resourceVersion: '1',
    labels: { zone },
    isUnschedulable: false,
    isReady: true,
    taints: [],
    podCapacity: 10,
    ...more,
  };
}

function load(counts: Readonly<Record<string, number>>): NodeLoad {
  return {
    podsOn: (name) => counts[name] ?? 0,
    rankOf: (name) => name.charCodeAt(0),
  };
}

const inZone = (zone: string, operator = 'In'): JsonObject => ({
  matchExpressions: [{ key: 'zone', operator, values: [zone] }],
});
const taint = { key: 'dedicated', value: 'db', effect: 'NoSchedule' };

const cases: Record<
  string,
  {
    readonly constraints?: Partial<Constraints>;
    readonly nodes: readonly NodeView[];
    readonly counts?: Readonly<Record<string, number>>;
    readonly want: string | undefined;
  }
> = {
  'takes the node with the fewest pods': {
    nodes: [node('a', 'x'), node('b', 'x')],
    counts: { a: 2, b: 1 },
    want: 'b',
  },
  'breaks ties by the seeded order': { nodes: [node('b', 'x'), node('a', 'x')], want: 'a' },
  'keeps to the node selector': {
    constraints: { nodeSelector: { zone: 'y' } },
    nodes: [node('a', 'x'), node('b', 'y')],
    want: 'b',
  },
  'keeps to required affinity In': {
    constraints: { affinityTerms: [inZone('y')] },
    nodes: [node('a', 'x'), node('b', 'y')],
    want: 'b',
  },
  'keeps to required affinity NotIn': {
    constraints: { affinityTerms: [inZone('x', 'NotIn')] },
    nodes: [node('a', 'x'), node('b', 'y')],
    want: 'b',
  },
  'takes either of two affinity terms': {
    constraints: { affinityTerms: [inZone('z'), inZone('y')] },
    nodes: [node('a', 'x'), node('b', 'y')],
    want: 'b',
  },
  'avoids a cordoned node': {
    nodes: [node('a', 'x', { isUnschedulable: true }), node('b', 'x')],
    want: 'b',
  },
  'avoids a node that is not ready': {
    nodes: [node('a', 'x', { isReady: false }), node('b', 'x')],
    want: 'b',
  },
  'avoids a full node': {
    nodes: [node('a', 'x', { podCapacity: 1 }), node('b', 'x')],
    counts: { a: 1, b: 5 },
    want: 'b',
  },
  'avoids a tainted node': { nodes: [node('a', 'x', { taints: [taint] })], want: undefined },
  'tolerates a taint by key and value': {
    constraints: { tolerations: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] },
    nodes: [node('a', 'x', { taints: [taint] })],
    want: 'a',
  },
  'tolerates every taint with a bare Exists': {
    constraints: { tolerations: [{ operator: 'Exists' }] },
    nodes: [node('a', 'x', { taints: [taint] })],
    want: 'a',
  },
};

for (const [fact, { constraints = {}, nodes, counts = {}, want }] of Object.entries(cases)) {
  test(`pickNode() ${fact}`, () => {
    assert.equal(pickNode(podWith(constraints), nodes, load(counts)), want);
  });
}
