/** How a set differs from what is wanted, and the patch that makes it so, tried on the embedded API server. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { isSameQuantity } from './quantity.ts';
import { diffOfSets } from './set-diff.ts';

type Pod = Record<string, unknown>;

const main = {
  name: 'main',
  image: 'db:1',
  env: [
    { name: 'A', value: '1' },
    { name: 'B', value: '$(A)' },
  ],
  ports: [{ name: 'http', containerPort: 80 }],
  resources: { requests: { cpu: '1000m', memory: '1Gi' } },
  volumeMounts: [{ name: 'config', mountPath: '/config' }],
};
const usual: Pod = {
  containers: [main],
  volumes: [{ name: 'config', configMap: { name: 'config' } }],
};

function wantedWith(pod: Pod, more: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', labels: { team: 'db' }, annotations: { note: 'ours' } },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: pod as JsonObject },
      updateStrategy: { type: 'OnDelete', rollingUpdate: null },
      ...more,
    },
  };
}

describe('diffOfSets()', () => {
  let cluster: EmbeddedCluster;
  let client: Client;
  let sets = 0;

  before(async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 31));
    cluster = await createCluster({ clock, seed: 1 });
    const transport = cluster.transport({ user: 'user', client: 'user' });
    client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  });
  after(() => cluster.close());

  async function create(object: JsonObject): Promise<KubernetesObject> {
    sets += 1;
    const metadata = { ...objectAt(object, 'metadata'), name: `web-${sets}` };
    const at = { namespace: 'default' };
    return client.create(resourceTypes.statefulSets, at, { body: { ...object, metadata } });
  }

  async function apply(live: KubernetesObject, document: JsonObject): Promise<KubernetesObject> {
    const { namespace = '', name } = live.metadata;
    const body = { kind: 'strategic', document } as const;
    return client.patch(resourceTypes.statefulSets, { namespace, name }, { body });
  }

  const podOf = (set: JsonObject): JsonObject =>
    objectAt(objectAt(objectAt(set, 'spec'), 'template'), 'spec');

  test('finds nothing in what the server made of the wanted set, its defaults and quantities included [T-20]', async () => {
    const wanted = wantedWith(usual);
    const live = await create(wanted);
    assert.equal(objectAt(objectAt(live, 'spec'), 'updateStrategy')['type'], 'OnDelete');
    assert.deepEqual(diffOfSets({ last: wanted, live, wanted }), { patch: {}, paths: [] });
  });

  const changed: Record<string, { readonly to: JsonObject; readonly paths: readonly string[] }> = {
    'another image': {
      to: wantedWith({ ...usual, containers: [{ ...main, image: 'db:2' }] }),
      paths: ['spec.template.spec.containers[main].image'],
    },
    'another number of replicas': {
      to: wantedWith(usual, { replicas: 5 }),
      paths: ['spec.replicas'],
    },
    'a container more': {
      to: wantedWith({ ...usual, containers: [main, { name: 'side', image: 'side:1' }] }),
      paths: ['spec.template.spec.containers[side]'],
    },
    'a variable that is gone': {
      to: wantedWith({ ...usual, containers: [{ ...main, env: [main.env[0]] }] }),
      paths: ['spec.template.spec.containers[main].env[B]'],
    },
    'variables in another order': {
      to: wantedWith({ ...usual, containers: [{ ...main, env: main.env.toReversed() }] }),
      paths: ['spec.template.spec.containers[main].env'],
    },
    'another kind of volume': {
      to: wantedWith({ ...usual, volumes: [{ name: 'config', secret: { secretName: 's' } }] }),
      paths: [
        'spec.template.spec.volumes[config].secret',
        'spec.template.spec.volumes[config].configMap',
      ],
    },
    'another amount': {
      to: wantedWith({
        ...usual,
        containers: [{ ...main, resources: { requests: { cpu: '2', memory: '1Gi' } } }],
      }),
      paths: ['spec.template.spec.containers[main].resources.requests.cpu'],
    },
    'a label more': {
      to: {
        ...wantedWith(usual),
        metadata: { labels: { team: 'db', a: 'b' }, annotations: { note: 'ours' } },
      },
      paths: ['metadata.labels.a'],
    },
    'a field that is gone': {
      to: wantedWith({ containers: [{ ...main, volumeMounts: undefined }] }),
      paths: ['spec.template.spec.containers[main].volumeMounts', 'spec.template.spec.volumes'],
    },
  };
  for (const [fact, { to, paths }] of Object.entries(changed)) {
    test(`finds ${fact}, and a patch that makes it so`, async () => {
      const last = wantedWith(usual);
      const live = await create(last);
      const wanted = JSON.parse(JSON.stringify(to)) as JsonObject;
      const diff = diffOfSets({ last, live, wanted });
      assert.deepEqual(diff.paths, paths);
      const now = await apply(live, diff.patch);
      assert.deepEqual(diffOfSets({ last: wanted, live: now, wanted }), { patch: {}, paths: [] });
    });
  }

  test('leaves alone what others have added [LOST-1]', async () => {
    const last = wantedWith(usual);
    const made = await create(last);
    const theirs = await apply(made, {
      metadata: { annotations: { theirs: 'x' }, labels: { theirs: 'y' } },
      spec: {
        template: {
          metadata: { annotations: { injected: 'true' } },
          spec: {
            containers: [{ name: 'injected', image: 'mesh:1' }],
            volumes: [{ name: 'mesh', emptyDir: {} }],
            tolerations: [{ key: 'a', operator: 'Exists' }],
          },
        },
      },
    });
    assert.deepEqual(diffOfSets({ last, live: theirs, wanted: last }).paths, []);
    const wanted = wantedWith({ ...usual, containers: [{ ...main, image: 'db:2' }] });
    const { patch } = diffOfSets({ last, live: theirs, wanted });
    const now = await apply(theirs, patch);
    const { containers, volumes, tolerations } = podOf(now);
    assert.deepEqual(
      (containers as readonly JsonObject[]).map(({ name, image }) => [name, image]),
      [
        ['main', 'db:2'],
        ['injected', 'mesh:1'],
      ],
    );
    assert.equal((volumes as readonly JsonObject[]).length, 2);
    assert.equal((tolerations as readonly JsonObject[]).length, 1);
    assert.deepEqual(objectAt(now.metadata as unknown as JsonObject, 'annotations'), {
      note: 'ours',
      theirs: 'x',
    });
  });

  test('switches a rolling update off', async () => {
    const rolling = wantedWith(usual, {
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
    });
    const live = await create(rolling);
    const wanted = wantedWith(usual);
    const { patch, paths } = diffOfSets({ last: undefined, live, wanted });
    assert.deepEqual(paths, ['spec.updateStrategy.type', 'spec.updateStrategy.rollingUpdate']);
    const now = await apply(live, patch);
    assert.deepEqual(objectAt(objectAt(now, 'spec'), 'updateStrategy'), { type: 'OnDelete' });
  });

  test('replaces a list whose elements cannot be distinguished, and leaves it where it is the same', async () => {
    const ports = [
      { name: 'dns', containerPort: 53, protocol: 'UDP' },
      { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
    ];
    const last = wantedWith({ ...usual, containers: [{ ...main, ports }] });
    const live = await create(last);
    assert.deepEqual(diffOfSets({ last, live, wanted: last }).paths, []);
    const wanted = wantedWith({ ...usual, containers: [{ ...main, ports: ports.toReversed() }] });
    const now = await apply(live, diffOfSets({ last, live, wanted }).patch);
    assert.deepEqual(diffOfSets({ last: wanted, live: now, wanted }).paths, []);
  });
});

describe('isSameQuantity()', () => {
  const same = [
    ['1000m', '1'],
    ['1', 1],
    ['1Gi', '1024Mi'],
    ['0.5', '500m'],
    ['1e3', '1k'],
    ['1E3', '1000'],
    ['1.5Gi', '1536Mi'],
    ['100M', '100000k'],
    ['.5', '0.5'],
  ] as const;
  for (const [one, other] of same) {
    test(`finds ${one} to be ${other}`, () => assert.equal(isSameQuantity(one, other), true));
  }
  const different = [
    ['1G', '1Gi'],
    ['1', '2'],
    ['a', 'a'],
    ['', ''],
    ['1Ki', '1k'],
    ['-1', '1'],
  ] as const;
  for (const [one, other] of different) {
    test(`does not find "${one}" to be "${other}"`, () =>
      assert.equal(isSameQuantity(one, other), false));
  }
});
