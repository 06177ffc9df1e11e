import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, millis, minutes } from '#base/units.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { parseNode } from '#statefulset/parse-node.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { FakeInformer } from '#support/api-server/fake-informer.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { PodZones } from './pod-zones.ts';

/** A cluster with a node in each of the zones a and b, and `test/web-0` on the first. */
class Bed {
  readonly clock = new ManualClock();
  readonly #common = { clock: this.clock, indexers: {} };
  readonly #nodes = new FakeInformer({
    ...this.#common,
    type: resourceTypes.nodes,
    project: parseNode,
  });
  readonly #pods = new FakeInformer({
    ...this.#common,
    type: resourceTypes.pods,
    project: parsePod,
  });
  readonly zones: PodZones;
  #revision = 0;

  constructor() {
    const { clock } = this;
    this.zones = new PodZones({ clock, nodes: this.#nodes, pods: this.#pods });
    this.node('node-a', 'a');
    this.node('node-b', 'b');
    this.pod('web-0', 'node-a');
  }

  node(name: string, zone: string | undefined): void {
    const labels = zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone };
    this.#nodes.show(this.#object({ name, labels }));
  }

  pod(
    name: string,
    nodeName: string | undefined,
    { namespace = 'test', uid = `${name}-uid` } = {},
  ): void {
    const spec = nodeName === undefined ? {} : { nodeName };
    this.#pods.show({ ...this.#object({ name, namespace, uid }), spec });
  }

  lose(what: 'node' | 'pod', name: string, inNamespace = 'test'): void {
    const namespace = what === 'pod' ? inNamespace : '';
    const gone = this.#object({ name, ...(namespace !== '' && { namespace }) });
    (what === 'pod' ? this.#pods : this.#nodes).remove(gone);
  }

  wait(span: Millis): void {
    this.clock.advance(span);
  }

  of(name: string, namespace = 'test'): string | undefined {
    return this.zones.zoneOf(namespace, name);
  }

  #object(
    metadata: Readonly<Record<string, unknown>> & { readonly name: string },
  ): KubernetesObject {
    this.#revision += 1;
    const resourceVersion = String(this.#revision);
    return {
      metadata: { uid: `${metadata.name}-uid`, ...metadata, resourceVersion },
    };
  }
}

const stories: Record<string, { readonly story: (bed: Bed) => void; readonly zone?: string }> = {
  'the label of its node': { story: () => undefined, zone: 'a' },
  'the label as it is now': { story: (bed) => bed.node('node-a', 'c'), zone: 'c' },
  'an empty label, which is one': { story: (bed) => bed.node('node-a', ''), zone: '' },
  'what its node told before it was deleted [zau 42]': {
    story: (bed) => bed.lose('node', 'node-a'),
    zone: 'a',
  },
  'the same for two hours [zau 44]': {
    story: (bed) => {
      bed.lose('node', 'node-a');
      bed.wait(minutes(120));
    },
    zone: 'a',
  },
  'nothing after two hours [zau 44]': {
    story: (bed) => {
      bed.lose('node', 'node-a');
      bed.wait(millis(minutes(120) + 1));
    },
  },
  'its node, though that has been there for days': {
    story: (bed) => {
      bed.wait(minutes(10_000));
      bed.lose('node', 'node-a');
    },
    zone: 'a',
  },
  'what its node told before it lost the label': {
    story: (bed) => bed.node('node-a', undefined),
    zone: 'a',
  },
  'what its node tells that is made again in another zone': {
    story: (bed) => {
      bed.lose('node', 'node-a');
      bed.node('node-a', 'c');
    },
    zone: 'c',
  },
  'where it was last, while it is gone (W-04)': {
    story: (bed) => bed.lose('pod', 'web-0'),
    zone: 'a',
  },
  'where it was last, while its successor has no node (W-04)': {
    story: (bed) => {
      bed.lose('pod', 'web-0');
      bed.pod('web-0', undefined, { uid: 'again' });
    },
    zone: 'a',
  },
  'where it was last, though its node went with it': {
    story: (bed) => {
      bed.lose('node', 'node-a');
      bed.lose('pod', 'web-0');
    },
    zone: 'a',
  },
  'where its successor runs': {
    story: (bed) => {
      bed.lose('pod', 'web-0');
      bed.pod('web-0', 'node-b', { uid: 'again' });
    },
    zone: 'b',
  },
  'where it was last, though nobody saw it go': {
    story: (bed) => bed.pod('web-0', undefined, { uid: 'again' }),
    zone: 'a',
  },
  'nothing of a node that tells none, wherever it was before': {
    story: (bed) => {
      bed.node('node-c', undefined);
      bed.lose('pod', 'web-0');
      bed.pod('web-0', 'node-c', { uid: 'again' });
    },
  },
  'nothing of a node that was never seen': { story: (bed) => bed.pod('web-0', 'node-x') },
  'nothing of where it was for more than two hours': {
    story: (bed) => {
      bed.lose('pod', 'web-0');
      bed.wait(millis(minutes(120) + 1));
    },
  },
};
for (const [fact, { story, zone }] of Object.entries(stories)) {
  test(`PodZones tell of a pod ${fact}`, () => {
    const bed = new Bed();
    story(bed);
    assert.equal(bed.of('web-0'), zone);
  });
}

test('PodZones tell pods of one name in two namespaces apart (W-12)', () => {
  const bed = new Bed();
  bed.pod('web-0', 'node-b', { namespace: 'other' });
  bed.lose('pod', 'web-0');
  bed.lose('pod', 'web-0', 'other');
  assert.deepEqual([bed.of('web-0'), bed.of('web-0', 'other')], ['a', 'b']);
});

test('PodZones remember no more than 20,000 pods that are gone', () => {
  const bed = new Bed();
  for (let at = 0; at <= 20_000; at += 1) {
    bed.pod(`job-${at}`, 'node-b');
    bed.lose('pod', `job-${at}`);
  }
  assert.deepEqual([bed.of('job-0'), bed.of('job-1'), bed.of('job-20000')], [undefined, 'b', 'b']);
});
