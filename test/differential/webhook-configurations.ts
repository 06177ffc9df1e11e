/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the conversation */
/** Conversations about the configurations of webhooks: what is stored, and what is refused (AD-*). */
import type { JsonObject } from '#base/json.ts';
import { GROUP, rule, type Script, webhook } from './webhook-words.ts';

/** Keyed by a sentence. */
export const webhookConfigurations: Readonly<Record<string, Script>> = {
  'a configuration is kept, changed, shown as a table and deleted': async (talk, server) => {
    const rules = [rule(['CREATE'], 'configmaps')];
    const one = webhook(talk, server, { rules, name: 'one.test.example' });
    const { namespace: name } = talk;
    for (const kind of ['validating', 'mutating']) {
      const path = `${GROUP}/${kind}webhookconfigurations`;
      const { body } = await talk.send('POST', path, { metadata: { name }, webhooks: [one] });
      await talk.send('POST', path, { metadata: { name }, webhooks: [one] });
      await talk.send('PATCH', `${path}/${name}`, { metadata: { labels: { a: 'b' } } });
      const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
      const webhooks = [
        { name: 'one.test.example', timeoutSeconds: 3 },
        { ...one, name: 'two.test.example', foo: 'bar' },
      ];
      await talk.send('PATCH', `${path}/${name}`, { webhooks }, strategic);
      await talk.send('PUT', `${path}/${name}`, { metadata: { name }, webhooks: [one] });
      await talk.send('PUT', `${path}/${name}`, body);
      await talk.send('PUT', `${path}/${name}-none`, {
        ...body,
        metadata: { name: `${name}-none` },
      });
      await talk.send('GET', `${path}/${name}`, undefined, {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
      });
      await talk.send('DELETE', `${path}/${name}`);
    }
  },
  'configurations that are refused': async (talk, server) => {
    const good = webhook(talk, server, { rules: [rule(['CREATE'], 'configmaps')] });
    const { caBundle } = server;
    const wrong: readonly JsonObject[] = [
      { name: 'short' },
      { name: '' },
      { name: 'Not.A.Name' },
      { sideEffects: 'Some' },
      { sideEffects: null },
      { timeoutSeconds: 0 },
      { timeoutSeconds: 31 },
      { failurePolicy: 'Maybe' },
      { matchPolicy: 'Maybe' },
      { admissionReviewVersions: [] },
      { admissionReviewVersions: ['v2'] },
      { admissionReviewVersions: ['v1', 'v1'] },
      { clientConfig: {} },
      { clientConfig: { url: 'http://a.example/x' } },
      { clientConfig: { url: 'https://u:p@a.example/x?a=b#c' } },
      { clientConfig: { url: 'https:///x' } },
      { clientConfig: { service: { name: 'a' } } },
      { clientConfig: { service: { name: 'a', namespace: 'b', port: 0, path: 'x' } } },
      { clientConfig: { service: { name: 'a', namespace: 'b', path: '/a//b/' } } },
      { clientConfig: { service: { name: 'a', namespace: 'b' }, url: 'https://a.example' } },
      { rules: [{}] },
      { rules: [{ ...rule(['*', 'CREATE', 'NONE'], 'pods'), apiGroups: ['*', 'apps'] }] },
      { rules: [{ ...rule(['CREATE'], 'pods'), apiVersions: [''], scope: 'Here' }] },
      { rules: [{ ...rule(['CREATE'], 'pods'), resources: ['*/*', 'pods', ''] }] },
      { rules: [{ ...rule(['CREATE'], 'pods'), resources: ['*', 'pods'] }] },
      { rules: [{ ...rule(['CREATE'], 'pods'), resources: ['pods/*', 'pods/status'] }] },
      { rules: [{ ...rule(['CREATE'], 'pods'), resources: ['*/scale', 'a/scale'] }] },
      { objectSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    ];
    const path = `${GROUP}/validatingwebhookconfigurations?dryRun=All`;
    for (const members of wrong) {
      const metadata = { name: talk.namespace };
      await talk.send('POST', path, { metadata, webhooks: [{ ...good, ...members }] });
    }
    const name = `${GROUP}/mutatingwebhookconfigurations?dryRun=All`;
    const metadata = { name: talk.namespace };
    await talk.send('POST', name, { metadata, webhooks: [{ ...good, reinvocationPolicy: 'x' }] });
    await talk.send('POST', name, { metadata, webhooks: [good, good] });
    await talk.send('POST', name, { metadata });
    const service = { name: 'a', namespace: 'b' };
    const whole = { ...good, clientConfig: { service, caBundle }, matchPolicy: 'Exact' };
    await talk.send('POST', name, { metadata, webhooks: [whole] });
  },
};
