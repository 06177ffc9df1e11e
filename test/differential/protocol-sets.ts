/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the conversation */
/** Conversations about StatefulSets: what may be written, their status and scale, by the numbers of the embedded cluster's scenarios. */
import { each, sets, strategic } from './protocol-words.ts';
import { setBody } from './resources.ts';
import type { Conversation } from './talk.ts';

const setChanges: Readonly<Record<string, object>> = {
  'the selector': { spec: { selector: { matchLabels: { app: 'x', other: 'y' } } } },
  'the service name': { spec: { serviceName: 'other' } },
  'the pod management policy': { spec: { podManagementPolicy: 'Parallel' } },
  'negative replicas': { spec: { replicas: -1 } },
  'a partition below 0': { spec: { updateStrategy: { rollingUpdate: { partition: -1 } } } },
  'an unknown strategy': { spec: { updateStrategy: { type: 'Sometimes' } } },
  'OnDelete with the old rollingUpdate': { spec: { updateStrategy: { type: 'OnDelete' } } },
  'OnDelete alone': { spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } },
  'no replicas': { spec: { replicas: null } },
  'a template without its labels': { spec: { template: { metadata: { labels: null } } } },
  'a restart policy': { spec: { template: { spec: { restartPolicy: 'Never' } } } },
  'an empty image': { spec: { template: { spec: { containers: [{ name: 'app', image: '' }] } } } },
  'two containers of one name': {
    spec: { template: { spec: { containers: [1, 2].map(() => ({ name: 'app', image: 'a' })) } } },
  },
  'a bad container name': {
    spec: { template: { spec: { containers: [{ name: 'App_1', image: 'a' }] } } },
  },
  'a start ordinal': { spec: { ordinals: { start: 3 } } },
  'a bad label value': { metadata: { labels: { a: 'b c' } } },
  'a bad annotation key': { metadata: { annotations: { 'a b': 'c' } } },
  'minReadySeconds below 0': { spec: { minReadySeconds: -1 } },
  'the status': { status: { replicas: 7 } },
  'a wrong type': { spec: { replicas: 'three' } },
  'a fraction': { spec: { replicas: 1.5 } },
};

/** Keyed by a sentence. */
export const protocolSets: Readonly<Record<string, Conversation>> = {
  '[cluster 8] the generation of a set': async (talk) => {
    const path = `${sets(talk)}/web`;
    await talk.send('POST', sets(talk), setBody('web'));
    await talk.send('PATCH', path, { metadata: { labels: { a: 'b' } } });
    await talk.send('PATCH', `${path}/status`, { status: { replicas: 1 } });
    await talk.send('PATCH', path, { spec: { replicas: 2 } });
    await talk.send('PATCH', path, { metadata: { finalizers: ['test.example/y'] } });
    await talk.send('DELETE', path);
    await talk.send('GET', path);
  },
  '[cluster 9] the status of a set': async (talk) => {
    const path = `${sets(talk)}/web`;
    const { body } = await talk.send('POST', sets(talk), setBody('web'));
    const annotations = { a: '1' };
    const change = { metadata: { annotations }, spec: { replicas: 5 }, status: { replicas: 3 } };
    await talk.send('PATCH', `${path}/status`, change);
    await talk.send('PATCH', path, { spec: { replicas: 5 }, status: { replicas: 9 } });
    await talk.send('PUT', `${path}/status`, body);
    const { body: now } = await talk.send('GET', `${path}/status`);
    const status = { ...now.status, currentRevision: 'web-1', updateRevision: 'web-1' };
    await talk.send('PUT', `${path}/status`, { ...now, status });
    await talk.send('PUT', `${path}/status`, { ...now, status });
  },
  '[cluster 9] the status of a set that is refused': async (talk) => {
    await talk.send('POST', sets(talk), setBody('web'));
    for (const status of [
      { replicas: -1 },
      { replicas: 1, readyReplicas: 2 },
      { replicas: 1, availableReplicas: 2 },
      { observedGeneration: -1 },
    ]) {
      await talk.send('PATCH', `${sets(talk)}/web/status`, { status });
    }
  },
  '[cluster 25] a strategic patch merges containers by name': async (talk) => {
    const path = `${sets(talk)}/web`;
    await talk.send('POST', sets(talk), setBody('web'));
    const patch = async (spec: object): Promise<unknown> =>
      talk.send('PATCH', path, { spec: { template: { spec } } } as never, strategic);
    await patch({ containers: [{ name: 'app', image: 'app:2' }] });
    await patch({ containers: [{ name: 'side', image: 'side:1' }] });
    await patch({ containers: [{ name: 'app', env: [{ name: 'A', value: '1' }] }] });
    await patch({ containers: [{ name: 'app', env: [{ name: 'B', value: '2' }] }] });
    await patch({ containers: [{ name: 'side', $patch: 'delete' }] });
    await patch({ containers: [{ name: 'none', $patch: 'delete' }] });
  },
  '[cluster 28] what apply sends, twice, and as a dry run': async (talk) => {
    const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
    const field = 'fieldManager=kubectl-client-side-apply&fieldValidation=Strict';
    const body = setBody('web');
    const annotations = { [lastApplied]: '{}' };
    await talk.send('POST', `${sets(talk)}?${field}`, {
      ...body,
      metadata: { name: 'web', annotations },
    });
    const containers = [{ name: 'app', image: 'app:2' }];
    const $setElementOrder = '$setElementOrder/containers';
    const template = { spec: { containers, [$setElementOrder]: [{ name: 'app' }] } };
    const spec = { template };
    const change = { metadata: { annotations: { [lastApplied]: '{"a":1}' } }, spec };
    const path = `${sets(talk)}/web?${field}`;
    await talk.send('PATCH', `${path}&dryRun=All`, change, strategic);
    await talk.send('GET', `${sets(talk)}/web`);
    await talk.send('PATCH', path, change, strategic);
    await talk.send('PATCH', path, change, strategic);
  },
  'the scale of a set': async (talk) => {
    const path = `${sets(talk)}/web/scale`;
    const { body } = await talk.send('POST', sets(talk), setBody('web'));
    await talk.send('GET', path);
    await talk.send('PATCH', path, { spec: { replicas: 4 } });
    const { resourceVersion } = body.metadata;
    await talk.send('PUT', path, {
      metadata: { name: 'web', resourceVersion },
      spec: { replicas: 1 },
    });
    await talk.send('PUT', path, { metadata: { name: 'web' }, spec: { replicas: 1 } });
    await talk.send('PATCH', path, { spec: { replicas: -1 } });
    await talk.send('GET', `${sets(talk)}/none/scale`);
  },
  'the limit of a rolling update is stored only where its feature is on': async (talk) => {
    const rollingUpdate = { maxUnavailable: 2 };
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate };
    await talk.send('POST', sets(talk), setBody('web', { updateStrategy }));
  },
  'a set with claims, probes and everything': async (talk) => {
    await talk.send('POST', sets(talk), {
      metadata: { name: 'web', labels: { 'rollout-group': 'g' } },
      spec: {
        replicas: 0,
        serviceName: 'web',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
        selector: { matchLabels: { app: 'web' } },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: {
              accessModes: ['ReadWriteOnce'],
              resources: { requests: { storage: '10Gi' } },
            },
          },
        ],
        template: {
          metadata: { labels: { app: 'web' } },
          spec: {
            containers: [
              {
                name: 'app',
                image: 'app',
                ports: [{ containerPort: 80, name: 'http' }],
                env: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
                readinessProbe: { httpGet: { path: '/ready', port: 'http' } },
                livenessProbe: { tcpSocket: { port: 80 }, periodSeconds: 3 },
                resources: { limits: { cpu: '1', memory: '1Gi' } },
                volumeMounts: [{ name: 'data', mountPath: '/data' }],
              },
            ],
            initContainers: [{ name: 'init', image: 'init:1' }],
            volumes: [
              { name: 'config', configMap: { name: 'config' } },
              { name: 'scratch', emptyDir: {} },
            ],
            affinity: {
              podAntiAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: [
                  {
                    labelSelector: { matchLabels: { app: 'web' } },
                    topologyKey: 'kubernetes.io/hostname',
                  },
                ],
              },
            },
          },
        },
      },
    });
  },
  ...each(
    setChanges,
    (change) => `a set with ${change}`,
    async (talk, change) => {
      await talk.send('POST', sets(talk), setBody('web'));
      await talk.send('PATCH', `${sets(talk)}/web`, change as never);
      await talk.send('GET', `${sets(talk)}/web`);
    },
  ),
};
