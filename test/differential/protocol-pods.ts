/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the conversation */
/** Conversations about pods: how they change, go, are evicted and bound, by the numbers of the embedded cluster's scenarios. */
import { each, pods, strategic } from './protocol-words.ts';
import { podBody } from './resources.ts';
import type { Conversation } from './talk.ts';

const podChanges: Readonly<Record<string, object>> = {
  'the image': { spec: { containers: [{ name: 'app', image: 'app:2' }] } },
  'the node': { spec: { nodeName: 'n2' } },
  'a toleration': { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } },
  'the restart policy': { spec: { restartPolicy: 'Never' } },
  'a label': { metadata: { labels: { a: 'b' } } },
  'the phase': { status: { phase: 'Running' } },
  'another uid': { metadata: { uid: 'x', annotations: { a: 'b' } } },
  'the deletion timestamp': { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } },
};

/** Keyed by a sentence. */
export const protocolPods: Readonly<Record<string, Conversation>> = {
  '[cluster 9] the status of a pod': async (talk) => {
    const path = `${pods(talk)}/a`;
    await talk.send('POST', pods(talk), podBody('a', { nodeName: 'n1' }));
    const conditions = [
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ];
    const status = { phase: 'Running', conditions };
    await talk.send('PATCH', `${path}/status`, { status }, strategic);
    await talk.send('PATCH', `${path}/status`, { spec: { nodeName: 'n2' } });
    await talk.send('GET', `${path}/status`);
    await talk.send('PATCH', path, { status: { phase: 'Failed' } });
  },
  '[cluster 11] a bound pod goes gracefully': async (talk) => {
    const path = `${pods(talk)}/a`;
    await talk.send('POST', pods(talk), podBody('a', { nodeName: 'n1' }));
    const { body } = await talk.send('GET', path);
    const from = body.metadata.resourceVersion;
    const watch = await talk.watch(
      `${pods(talk)}?watch=1&fieldSelector=metadata.name%3Da&resourceVersion=${from}`,
    );
    await talk.send('DELETE', path);
    await talk.send('DELETE', path);
    await talk.send('DELETE', path, { gracePeriodSeconds: 60 });
    await talk.send('DELETE', path, { gracePeriodSeconds: 5 });
    await talk.send('PATCH', path, { metadata: { annotations: { late: 'yes' } } });
    await talk.send('POST', pods(talk), podBody('a'));
    await talk.send('DELETE', path, { gracePeriodSeconds: 0 });
    await talk.send('GET', path);
    await watch.seen(4);
  },
  '[cluster 11] unbound and finished pods go at once': async (talk) => {
    await talk.send('POST', pods(talk), podBody('a'));
    await talk.send('DELETE', `${pods(talk)}/a`);
    await talk.send('GET', `${pods(talk)}/a`);
    for (const phase of ['Failed', 'Succeeded', 'Pending', 'Running']) {
      const name = phase.toLowerCase();
      await talk.send('POST', pods(talk), podBody(name, { nodeName: 'n1' }));
      await talk.send('PATCH', `${pods(talk)}/${name}/status`, { status: { phase } });
      await talk.send('DELETE', `${pods(talk)}/${name}`);
      await talk.send('GET', `${pods(talk)}/${name}`);
    }
  },
  '[cluster 11] a pod with a grace period of 0, 1 or below': async (talk) => {
    for (const period of [0, 1, -1]) {
      const name = `p${period + 1}`;
      const members = { nodeName: 'n1', terminationGracePeriodSeconds: period };
      await talk.send('POST', pods(talk), podBody(name, members));
      await talk.send('DELETE', `${pods(talk)}/${name}`);
      await talk.send('GET', `${pods(talk)}/${name}`);
    }
  },
  '[cluster 12] a pod is deleted under the preconditions of a rollout': async (talk) => {
    const path = `${pods(talk)}/a`;
    const { body } = await talk.send('POST', pods(talk), podBody('a', { nodeName: 'n1' }));
    const { uid, resourceVersion } = body.metadata;
    await talk.send('PATCH', path, { metadata: { uid, annotations: { fenced: 'x' } } });
    await talk.send('DELETE', path, { preconditions: { uid, resourceVersion } });
    await talk.send('PATCH', path, { metadata: { uid: 'other', annotations: { fenced: 'y' } } });
    const { body: now } = await talk.send('GET', path);
    const current = now.metadata.resourceVersion;
    await talk.send('DELETE', path, { preconditions: { uid, resourceVersion: current } });
    await talk.send('DELETE', path, { preconditions: { uid, resourceVersion: current } });
    await talk.send('DELETE', path, { preconditions: { uid } });
    await talk.send('DELETE', path, { gracePeriodSeconds: 0, preconditions: { uid } });
    await talk.send('DELETE', path, { preconditions: { uid } });
  },
  '[cluster 40] an eviction while the budget is not yet processed': async (talk) => {
    await talk.send('POST', pods(talk), {
      ...podBody('a', { nodeName: 'n1' }, { labels: { app: 'web' } }),
    });
    const conditions = [{ type: 'Ready', status: 'True' }];
    const status = { phase: 'Running', conditions };
    await talk.send('PATCH', `${pods(talk)}/a/status`, { status }, strategic);
    const budgets = `/apis/policy/v1/namespaces/${talk.namespace}/poddisruptionbudgets`;
    await talk.send('POST', budgets, {
      metadata: { name: 'web' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    const eviction = { metadata: { name: 'a', namespace: talk.namespace } };
    await talk.send('POST', `${pods(talk)}/a/eviction`, eviction);
    await talk.send('POST', `${pods(talk)}/none/eviction`, { metadata: { name: 'none' } });
    await talk.send('POST', `${pods(talk)}/a/eviction`, { metadata: { name: 'b' } });
    await talk.send('DELETE', `${budgets}/web`);
    await talk.send('POST', `${pods(talk)}/a/eviction?dryRun=All`, eviction);
    await talk.send('POST', `${pods(talk)}/a/eviction`, eviction);
  },
  'a pod is bound once': async (talk) => {
    const path = `${pods(talk)}/a`;
    await talk.send('POST', pods(talk), podBody('a'));
    const binding = { metadata: { name: 'a' }, target: { kind: 'Node', name: 'n1' } };
    await talk.send('POST', `${path}/binding`, binding);
    await talk.send('GET', path);
    await talk.send('POST', `${path}/binding`, binding);
    await talk.send('POST', `${pods(talk)}/none/binding`, binding);
  },
  ...each(
    podChanges,
    (change) => `a pod with ${change}`,
    async (talk, change) => {
      await talk.send('POST', pods(talk), podBody('a', { nodeName: 'n1' }));
      await talk.send('PATCH', `${pods(talk)}/a`, change as never);
      await talk.send('GET', `${pods(talk)}/a`);
    },
  ),
};
