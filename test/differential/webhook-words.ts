/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-return -- answers are looked into by path, and a wrong path fails the conversation */
/** Words that conversations about webhooks share. */
import type { JsonObject } from '#base/json.ts';
import type { Talk } from './talk.ts';
import type { WebhookServer } from './webhook-server.ts';

/** Path of the configurations. */
export const GROUP = '/apis/admissionregistration.k8s.io/v1';

/** A webhook as a conversation writes it; `path` is the server's. @default `/allow` */
export type Hook = JsonObject & { readonly path?: string };

/** Webhooks of one kind of configuration, by the conversation's namespace alone. */
export interface Given {
  readonly validating?: readonly Hook[];
  readonly mutating?: readonly Hook[];
}

/** A rule about `resource`, such as `statefulsets.apps` or `pods`. */
export const rule = (operations: readonly string[], resource: string): JsonObject => {
  const [apiGroups, resources] = resource.includes('.')
    ? [[resource.split('.').slice(1).join('.')], [resource.split('.')[0] ?? '']]
    : [[''], [resource]];
  return { operations, apiGroups, apiVersions: ['v1'], resources };
};

/** A webhook at `server`, about the conversation's namespace. */
export function webhook(
  talk: Talk,
  server: WebhookServer,
  { path = '/allow', ...given }: Hook,
): JsonObject {
  const matchLabels = { 'kubernetes.io/metadata.name': talk.namespace };
  return {
    name: `hook.${talk.namespace}.example`,
    clientConfig: { url: server.url(path), caBundle: server.caBundle },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    namespaceSelector: { matchLabels },
    ...given,
  };
}

const probe = (name: string): Hook => ({
  name: `probe.${name}.example`,
  path: '/probe',
  rules: [rule(['CREATE'], 'secrets')],
});

/** Creates the configurations, and waits until the server knows them. */
export async function configure(talk: Talk, server: WebhookServer, given: Given): Promise<void> {
  server.at('/allow', () => ({ allowed: true }));
  server.at('/probe', () => ({ allowed: true }));
  const kinds = { Validating: given.validating, Mutating: given.mutating };
  for (const [kind, hooks] of Object.entries(kinds)) {
    if (hooks === undefined) continue;
    const webhooks = [...hooks, probe(kind.toLowerCase())].map((hook) =>
      webhook(talk, server, hook),
    );
    const body = { metadata: { name: talk.namespace }, webhooks };
    const path = `${GROUP}/${kind.toLowerCase()}webhookconfigurations`;
    const { status, body: said } = await talk.ask('POST', path, body);
    if (status !== 201) throw new Error(`the configuration was refused: ${JSON.stringify(said)}`);
  }
  const wanted = Object.values(kinds).filter((hooks) => hooks !== undefined).length;
  for (let attempt = 0; ; attempt += 1) {
    const path = `/api/v1/namespaces/${talk.namespace}/secrets?dryRun=All`;
    await talk.ask('POST', path, { metadata: { name: 'probe' } });
    const probes = server.take().filter(({ path: at }) => at.startsWith('/probe'));
    if (probes.length === wanted) return;
    if (attempt === 100) throw new Error('the webhooks are never called');
    await talk.pause();
  }
}

/** Deletes what {@link configure} created. */
export async function forget(talk: Talk): Promise<void> {
  for (const kind of ['validating', 'mutating']) {
    await talk.ask('DELETE', `${GROUP}/${kind}webhookconfigurations/${talk.namespace}`);
  }
}

/** What the webhooks saw since the last time; users are called otherwise on each server, and generated names too. */
export function noteReviews(talk: Talk, server: WebhookServer): void {
  const reviews = server.take().map(({ path, request }) => {
    const { userInfo, ...rest } = request;
    const name = String(rest.name ?? '').replace(/^gen-.*/, '{generated}');
    return { path, ...rest, name, userInfo: Object.keys(userInfo).includes('username') };
  });
  // One request may write twice, and the real server shows what it began with again where its cache is behind.
  const seen = new Set<string>();
  const distinct = reviews.filter((review) => {
    const text = JSON.stringify({ ...review, uid: '' });
    return !seen.has(text) && seen.add(text) !== undefined;
  });
  talk.note('REVIEWS', { reviews: distinct });
}

/** The operations that a stored object knows. */
export const everything = ['CREATE', 'UPDATE', 'DELETE'];

/** An answer that changes the object. */
export const jsonPatch = (operations: readonly JsonObject[]): JsonObject => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

/** One conversation with webhooks at a server. */
export type Script = (talk: Talk, server: WebhookServer) => Promise<void>;
