/**
 * What a webhook must answer, decided apart from the operator's own reader and planners: a checker that shares code shares
 * its mistakes. Reads whole documents with `JSON.parse`, in front of an API server where everything is governed.
 */

/** The webhooks under fuzz. */
export const webhookNames = [
  'no-downscale',
  'prepare-downscale',
  'pod-eviction',
  'zpdb-validation',
] as const;

/** One of {@link webhookNames}. */
export type WebhookName = (typeof webhookNames)[number];

/** What must come back: a 400, or a review that allows or denies. */
export type Expected = 'unreadable' | { readonly uid: string; readonly isAllowed: boolean };

type Document = Readonly<Record<string, unknown>>;

/** Returns what `name` must answer to `body`. */
export function expectedAnswer(name: WebhookName, body: Buffer): Expected {
  const review = parsed(body);
  if (!isDocument(review) || depthOf(review) > 1_000 || !isReview(review)) return 'unreadable';
  const request = review['request'];
  if (!isDocument(request) || !isReadable(request, name)) return 'unreadable';
  const uid = textOf(request['uid']);
  if (name === 'pod-eviction' || name === 'zpdb-validation') return { uid, isAllowed: false };
  const isAllowed =
    (name === 'prepare-downscale' && request['dryRun'] === true) || mayChange(request, name);
  return { uid, isAllowed };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Arrays and objects within one another, counted without recursion. */
function depthOf(root: unknown): number {
  let depth = 0;
  let level: readonly unknown[] = [root];
  while (level.length > 0) {
    const nested = level.filter((value) => typeof value === 'object' && value !== null);
    if (nested.length > 0) depth += 1;
    level = nested.flatMap((value): readonly unknown[] => Object.values(value));
  }
  return depth;
}

function isDocument(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A member of an own name: what an object inherits was not sent. */
function own(value: unknown, name: string): unknown {
  return isDocument(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isReview(review: Document): boolean {
  const version = own(review, 'apiVersion');
  const isKnown = version === 'admission.k8s.io/v1' || version === 'admission.k8s.io/v1beta1';
  return isKnown && own(review, 'kind') === 'AdmissionReview';
}

/** Texts of a request by path, and how long each may be. */
const texts: Readonly<Record<string, number>> = {
  uid: 256,
  'kind.group': 253,
  'kind.version': 253,
  'kind.kind': 253,
  'resource.group': 253,
  'resource.version': 253,
  'resource.resource': 253,
  subResource: 253,
  name: 253,
  namespace: 253,
  operation: 253,
  'userInfo.username': Number.POSITIVE_INFINITY,
};

function isReadable(request: Document, name: WebhookName): boolean {
  const dryRun = own(request, 'dryRun');
  return (
    (isNothing(dryRun) || typeof dryRun === 'boolean') &&
    Object.entries(texts).every(([path, most]) => hasText(request, path.split('.'), most)) &&
    hasReadableObjects(request, name)
  );
}

function hasReadableObjects(request: Document, name: WebhookName): boolean {
  const [object, oldObject] = [own(request, 'object'), own(request, 'oldObject')];
  if (name === 'zpdb-validation') return isSmall(object);
  if (name !== 'pod-eviction') return hasBoundedNames(object) && hasBoundedNames(oldObject);
  const dryRun = own(own(object, 'deleteOptions'), 'dryRun');
  return Buffer.byteLength(JSON.stringify(dryRun) ?? '') <= 1_024;
}

function hasText(
  request: Document,
  [first = '', second]: readonly (string | undefined)[],
  most: number,
): boolean {
  const outer = own(request, first);
  if (second === undefined) return isNothing(outer) || isText(outer, most);
  if (!isDocument(outer)) return isNothing(outer);
  const value = own(outer, second);
  return isNothing(value) || isText(value, most);
}

function isText(value: unknown, most: number): boolean {
  return typeof value === 'string' && value.length <= most;
}

/** What is read whole has at most 256 KiB; no generated body comes near it by its blanks alone. */
function isSmall(object: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(object) ?? '') <= 256 * 1_024;
}

/** No text of an object that anybody looks at is too long; whatever is no text is none that is. */
function hasBoundedNames(object: unknown): boolean {
  const metadata = own(object, 'metadata');
  const isShort = (value: unknown, most: number): boolean => textOf(value).length <= most;
  return (
    isShort(own(object, 'kind'), 253) &&
    isShort(own(object, 'apiVersion'), 512) &&
    isShort(own(metadata, 'uid'), 256)
  );
}

const kinds = ['StatefulSet', 'Deployment', 'ReplicaSet', 'Scale'] as const;

/** An object of a review, as the specification tells them apart. */
type Seen = Unusable | Workload;

interface Unusable {
  readonly is: 'absent' | 'foreign' | 'malformed';
  /** Of one that is malformed, where they are known all the same. */
  readonly labels?: Document;
}

interface Workload {
  readonly is: (typeof kinds)[number];
  readonly labels: Document;
  readonly replicas: number;
}

function isUsable(object: Seen): object is Workload {
  return kinds.some((each) => each === object.is);
}

function seen(object: unknown): Seen {
  if (isNothing(object)) return { is: 'absent' };
  const [kind, apiVersion] = [textOf(own(object, 'kind')), textOf(own(object, 'apiVersion'))];
  if (kind === '' || apiVersion === '') return { is: 'malformed' };
  const is = kinds.find(
    (each) => each === kind && apiVersion === (each === 'Scale' ? 'autoscaling/v1' : 'apps/v1'),
  );
  if (is === undefined) return { is: 'foreign' };
  const labels = labelsOf(object);
  if (labels === undefined) return { is: 'malformed' };
  const replicas = replicasOf(object, is === 'Scale' ? 0 : 1);
  if (replicas !== undefined) return { is, labels, replicas };
  return is === 'Scale' ? { is: 'malformed' } : { is: 'malformed', labels };
}

/** Undefined where they cannot be read. */
function labelsOf(object: unknown): Document | undefined {
  const metadata = own(object, 'metadata');
  if (isNothing(metadata)) return {};
  const labels = own(metadata, 'labels');
  if (isDocument(metadata) && isNothing(labels)) return {};
  if (!isDocument(labels)) return undefined;
  const areTexts = Object.values(labels).every((each) => each === null || typeof each === 'string');
  return areTexts ? labels : undefined;
}

function replicasOf(object: unknown, unstated: number): number | undefined {
  const spec = own(object, 'spec');
  if (isNothing(spec)) return unstated;
  if (!isDocument(spec)) return undefined;
  const replicas = own(spec, 'replicas');
  if (isNothing(replicas)) return unstated;
  const isCount = Number.isInteger(replicas) && Number(replicas) >= 0 && Number(replicas) < 2 ** 31;
  return isCount ? Number(replicas) : undefined;
}

type Guard = 'no-downscale' | 'prepare-downscale';

function mayChange(request: Document, name: Guard): boolean {
  const [old, next] = [seen(own(request, 'oldObject')), seen(own(request, 'object'))];
  if (!isUsable(old)) {
    const isNew = old.is === 'absent' && request['operation'] === 'CREATE';
    return isNew || isAboutElse(request, old.is) || isFree(old.labels, name);
  }
  if (next.is === 'absent' && request['operation'] === 'DELETE') return true;
  return mayChangeTo(next, { request, old, name });
}

interface Change {
  readonly request: Document;
  readonly old: Workload;
  readonly name: Guard;
}

function mayChangeTo(next: Seen, { request, old, name }: Change): boolean {
  // The labels of a scale are not those of what is scaled.
  if (old.is !== 'Scale' && isFree(old.labels, name)) return true;
  return isUsable(next) && (next.replicas >= old.replicas || mayShrink(request, old, name));
}

function isFree(labels: Document | undefined, name: Guard): boolean {
  if (labels === undefined) return false;
  const word = textOf(own(labels, `grafana.com/${name}`))
    .trim()
    .toLowerCase();
  return word === '' || word === 'false';
}

/** Only sets are prepared; for all else that is governed there is one answer. */
function mayShrink(request: Document, { is }: Workload, name: Guard): boolean {
  if (is === 'Scale') return isScaleElsewhere(request, name);
  return name === 'prepare-downscale' && is !== 'StatefulSet';
}

/** The request says that it is about a kind without replicas, and the old object does not contradict it. */
function isAboutElse(request: Document, is: Unusable['is']): boolean {
  const kind = own(request, 'kind');
  const stated = textOf(own(kind, 'kind'));
  const group = stated === 'Scale' ? 'autoscaling' : 'apps';
  const isReplicated =
    kinds.some((each) => each === stated) &&
    textOf(own(kind, 'group')) === group &&
    textOf(own(kind, 'version')) === 'v1';
  if (isReplicated || (request['subResource'] === 'scale' && isGuarded(request))) return false;
  return is === 'foreign' || (is === 'absent' && stated !== '');
}

/** The request is about a resource whose replicas are guarded, whatever its objects say. */
function isGuarded(request: Document): boolean {
  const resource = own(request, 'resource');
  const group = textOf(own(resource, 'group'));
  const isOurs = group === 'apps' || group === '';
  return (
    isOurs &&
    ['statefulsets', 'deployments', 'replicasets'].includes(textOf(own(resource, 'resource')))
  );
}

/** The scale of something whose labels nothing looks at. */
function isScaleElsewhere(request: Document, name: Guard): boolean {
  const resource = textOf(own(own(request, 'resource'), 'resource'));
  if (resource === '') return false;
  if (!isGuarded(request)) return true;
  return name === 'prepare-downscale' && resource !== 'statefulsets';
}
