/** Conversations about what becomes of what webhooks say, or do not say (AD-*). */
import type { JsonObject } from '#base/json.ts';
import { RawAnswer } from './webhook-server.ts';
import {
  configure,
  everything,
  jsonPatch,
  noteReviews,
  rule,
  type Script,
} from './webhook-words.ts';

/** Keyed by a sentence. */
export const webhookAnswers: Readonly<Record<string, Script>> = {
  '[cluster 46] denials': async (talk, server) => {
    await configure(talk, server, { validating: [{ rules: [rule(everything, 'configmaps')] }] });
    const path = `/api/v1/namespaces/${talk.namespace}/configmaps`;
    const statuses: readonly (JsonObject | undefined)[] = [
      undefined,
      { message: 'because' },
      { reason: 'Forbidden' },
      { code: 200, message: 'fine' },
      { code: 403, message: 'no', reason: 'Forbidden' },
      { code: 429, message: 'later', reason: 'TooManyRequests', details: { retryAfterSeconds: 3 } },
      {
        status: 'Failure',
        code: 422,
        message: 'wrong',
        details: { name: 'n', kind: 'k', causes: [{ reason: 'r', message: 'm', field: 'f' }] },
      },
    ];
    for (const status of statuses) {
      server.at('/allow', () => ({ allowed: false, ...(status === undefined ? {} : { status }) }));
      await talk.send('POST', path, { metadata: { name: 'a' } });
    }
    server.at('/allow', () => ({ allowed: true, warnings: ['beware', 'of "quotes"'] }));
    await talk.send('POST', path, { metadata: { name: 'a' } });
    server.at('/allow', () => ({ allowed: false, warnings: ['beware'] }));
    await talk.send('PATCH', `${path}/a`, { data: { a: 'b' } });
    await talk.send('DELETE', `${path}/a`);
    await talk.send('DELETE', path);
  },
  '[cluster 46] answers that are none': async (talk, server) => {
    await configure(talk, server, { validating: [{ rules: [rule(['CREATE'], 'configmaps')] }] });
    const path = `/api/v1/namespaces/${talk.namespace}/configmaps`;
    const http = (status: number, type: string, text: string): RawAnswer =>
      new RawAnswer(status, type, text);
    const answers: readonly (JsonObject | RawAnswer)[] = [
      http(500, 'text/plain', 'no luck\n'),
      http(500, 'application/json', '{}'),
      http(404, 'text/plain', '404 page not found'),
      http(403, 'text/plain', 'go away'),
      http(503, 'text/plain', 'busy'),
      http(302, 'text/plain', ''),
      http(200, 'application/json', '{}'),
      http(
        200,
        'application/json',
        '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}',
      ),
      http(200, 'application/json', '{"response":{"uid":"x","allowed":true}}'),
      { uid: 'another', allowed: true },
      { allowed: true, patch: 'W10=' },
      { allowed: true, patchType: 'JSONPatch' },
    ];
    for (const answer of answers) {
      server.at('/allow', () => answer);
      await talk.send('POST', path, { metadata: { name: 'a' } });
    }
  },
  '[cluster 46] patches that are none': async (talk, server) => {
    await configure(talk, server, { mutating: [{ rules: [rule(everything, 'configmaps')] }] });
    const path = `/api/v1/namespaces/${talk.namespace}/configmaps`;
    const answers: readonly JsonObject[] = [
      { allowed: true, patch: 'W10=' },
      { allowed: true, patchType: 'JSONPatch' },
      { ...jsonPatch([]), patchType: '' },
      { ...jsonPatch([{ op: 'add', path: '/data', value: {} }]), patchType: 'Other' },
      jsonPatch([{ op: 'remove', path: '/data/none' }]),
      jsonPatch([{ op: 'add', path: '/metadata/namespace', value: 'other' }]),
      jsonPatch([{ op: 'add', path: '/metadata/uid', value: 'other' }]),
      jsonPatch([{ op: 'add', path: '/unknown', value: 'x' }]),
    ];
    for (const [index, answer] of answers.entries()) {
      server.at('/allow', () => answer);
      await talk.send('POST', path, { metadata: { name: `a${index}` }, data: { k: 'v' } });
    }
    server.at('/allow', () => jsonPatch([{ op: 'replace', path: '/data/k', value: 'changed' }]));
    await talk.send('POST', path, { metadata: { name: 'a' }, data: { k: 'v' } });
    await talk.send('PATCH', `${path}/a`, { data: { k: 'other' } });
    await talk.send('DELETE', `${path}/a`);
  },
  '[cluster 46] a webhook that cannot be reached, and failure policies': async (talk, server) => {
    const rules = [rule(['CREATE'], 'configmaps')];
    const select = (name: string): JsonObject => ({
      name: `${name}.test.example`,
      rules,
      objectSelector: { matchLabels: { app: name } },
    });
    const refused = { url: 'https://127.0.0.1:1/nobody', caBundle: server.caBundle };
    const nowhere = { namespace: talk.namespace, name: 'nowhere', path: '/here' };
    await configure(talk, server, {
      validating: [
        { ...select('refused'), clientConfig: refused },
        { ...select('ignored'), clientConfig: refused, failurePolicy: 'Ignore' },
        { ...select('late'), path: '/late', timeoutSeconds: 1 },
        { ...select('lenient'), path: '/late', timeoutSeconds: 1, failurePolicy: 'Ignore' },
        { ...select('untrusted'), clientConfig: { url: server.url('/allow') } },
        { ...select('service'), clientConfig: { service: nowhere, caBundle: server.caBundle } },
      ],
    });
    server.at('/late', () => undefined);
    const path = `/api/v1/namespaces/${talk.namespace}/configmaps`;
    for (const app of ['refused', 'ignored', 'late', 'lenient', 'untrusted', 'service']) {
      await talk.send('POST', path, { metadata: { name: app, labels: { app } } });
    }
  },
  '[cluster 46] the service form, through a name outside': async (talk, server) => {
    const service = {
      namespace: talk.namespace,
      name: 'outside',
      path: '/allow',
      port: server.port,
    };
    const rules = [rule(['CREATE'], 'configmaps')];
    await talk.send('POST', `/api/v1/namespaces/${talk.namespace}/services`, {
      metadata: { name: 'outside' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    });
    await configure(talk, server, {
      validating: [{ rules, clientConfig: { service, caBundle: server.caBundle } }],
    });
    // Its certificate names another host.
    const path = `/api/v1/namespaces/${talk.namespace}/configmaps`;
    await talk.send('POST', path, { metadata: { name: 'a' } });
  },
  '[cluster 46] the order of mutations, and a second round': async (talk, server) => {
    const rules = [rule(everything, 'configmaps')];
    const append = (letter: string) => (request: { object: { data: { order: string } } }) =>
      jsonPatch([
        { op: 'replace', path: '/data/order', value: `${request.object.data.order}${letter}` },
      ]);
    const hooks = ['b', 'a', 'd', 'c'].map((letter) => ({
      name: `${letter}.test.example`,
      path: `/${letter}`,
      rules,
      ...(['b', 'd'].includes(letter) ? { reinvocationPolicy: 'IfNeeded' } : {}),
    }));
    const late = {
      name: 'late.test.example',
      path: '/e',
      rules,
      reinvocationPolicy: 'IfNeeded',
      objectSelector: { matchLabels: { seen: 'yes' } },
    };
    await configure(talk, server, { mutating: [late, ...hooks] });
    for (const letter of ['a', 'b', 'd', 'e']) server.at(`/${letter}`, append(letter));
    server.at('/c', (request) =>
      request.object.metadata.labels?.seen === 'yes'
        ? { allowed: true }
        : jsonPatch([{ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }]),
    );
    const path = `/api/v1/namespaces/${talk.namespace}/configmaps`;
    await talk.send('POST', path, { metadata: { name: 'a' }, data: { order: '-' } });
    noteReviews(talk, server);
    await talk.send('PATCH', `${path}/a`, { data: { order: '+' } });
    noteReviews(talk, server);
  },
};
