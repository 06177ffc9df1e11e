import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type LabelOutcome,
  type PodReading,
  planRouting,
  type ServiceReading,
} from './plan-routing.ts';

const leader = { 'rollout-operator.grafana.com/leader': 'true' };
const own = { name: 'rollout-operator' };

function service(selector: Readonly<Record<string, string>>): ServiceReading {
  return { kind: 'read', name: 'test/rollout-operator', selector };
}

function pod(labels: Readonly<Record<string, string>>): PodReading {
  return { kind: 'read', name: 'test/rollout-operator-7d', labels };
}

const unreadable: ServiceReading = {
  kind: 'unknown',
  name: 'test/rollout-operator',
  why: 'Cannot get Service: no (403 Forbidden)',
};
const nowhere: PodReading = { kind: 'unknown', why: 'neither POD_NAME nor HOSTNAME is set' };
const refused: LabelOutcome = { kind: 'refused', why: 'no (403 Forbidden)' };
const unnamed: LabelOutcome = { kind: 'unnamed' };
const set: LabelOutcome = { kind: 'set' };

const judgements: Record<string, readonly [ServiceReading, PodReading, LabelOutcome, string]> = {
  'finds reviews to come where the Service selects what the pod has': [
    service(own),
    pod({ ...own, other: 'x' }),
    unnamed,
    'reached',
  ],
  'finds them to come where it selects the label that was set': [
    service({ ...own, ...leader }),
    pod(own),
    set,
    'reached',
  ],
  'finds them to come where the label was set, and the Service cannot be read': [
    unreadable,
    pod({ ...own, ...leader }),
    set,
    'reached',
  ],
  'does not care for the label where the Service does not select it': [
    service(own),
    pod(own),
    refused,
    'reached',
  ],
  'names the variable that is missing': [
    service({ ...own, ...leader }),
    pod(own),
    unnamed,
    'PodNotLabelled: Service "test/rollout-operator" selects rollout-operator.grafana.com/leader=true, and this program does not know its pod, which only it can label: set the environment variable POD_NAME from metadata.name',
  ],
  'names the rule that is missing': [
    service({ ...own, ...leader }),
    pod(own),
    refused,
    'PodNotLabelled: Service "test/rollout-operator" selects rollout-operator.grafana.com/leader=true, and the Role does not permit giving the pod that label (no (403 Forbidden)): add the rule {apiGroups: [\'\'], resources: [pods], verbs: [patch]}',
  ],
  'names it where the Service cannot be read, too': [
    unreadable,
    pod(own),
    refused,
    'PodNotLabelled: Service "test/rollout-operator", which cannot be read, may select rollout-operator.grafana.com/leader=true, and the Role does not permit giving the pod that label (no (403 Forbidden)): add the rule {apiGroups: [\'\'], resources: [pods], verbs: [patch]}',
  ],
  'names what else the pod lacks': [
    service({ ...own, tier: 'ops', team: 'db' }),
    pod({ ...own, tier: 'dev' }),
    set,
    'ServiceSelectsOthers: Service "test/rollout-operator" selects tier=ops, team=db, and Pod "test/rollout-operator-7d" has tier=dev, team=: correct spec.selector of the Service, or the labels in the template of the pod',
  ],
  'finds nothing wrong where a user has labelled the pod': [
    service({ ...own, ...leader }),
    pod({ ...own, ...leader }),
    unnamed,
    'reached',
  ],
  'is silent where nothing is known': [
    unreadable,
    nowhere,
    unnamed,
    'unknown: Cannot get Service: no (403 Forbidden); neither POD_NAME nor HOSTNAME is set',
  ],
  'is silent where the pod is unknown': [
    service(own),
    nowhere,
    unnamed,
    'unknown: neither POD_NAME nor HOSTNAME is set',
  ],
};

for (const [fact, [service, pod, label, want]] of Object.entries(judgements)) {
  test(`planRouting() ${fact} [found R-22]`, () => {
    const routing = planRouting({ service, pod, label });
    const said = {
      reached: () => 'reached',
      unknown: (why = '') => `unknown: ${why}`,
      'not reached': (why = '') =>
        `${routing.kind === 'not reached' ? routing.reason : ''}: ${why}`,
    };
    assert.equal(said[routing.kind]('why' in routing ? routing.why : undefined), want);
  });
}
