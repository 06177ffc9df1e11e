/**
 * What prepare-downscale may do to the world, decided apart from the operator's own reader and planners: by `JSON.parse` of
 * the review, and of what the API server answered about the very set that it names.
 */
import { expectedAnswer } from './review-oracle.ts';

/** One call of a pod. */
export interface SeenCall {
  readonly method: string;
  readonly url: string;
  /** Whether the pod said yes. */
  readonly isAgreed: boolean;
  /** Its place among all calls and requests, in the order of sending. */
  readonly turn: number;
}

/** One request to the API server. */
export interface SeenRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The body that was sent; empty where there was none. */
  readonly sent: string;
  /** Its place among all calls and requests, in the order of sending. */
  readonly turn: number;
  readonly status: number;
  /** What it answered. */
  readonly body: string;
}

/** Everything that one review led to. */
export interface Effects {
  readonly body: Buffer;
  /** Undefined: it was answered with a 400. */
  readonly isAllowed: boolean | undefined;
  readonly calls: readonly SeenCall[];
  readonly requests: readonly SeenRequest[];
}

type Document = Readonly<Record<string, unknown>>;

const NOTE = 'grafana.com/last-downscale';
const PREPARE = 'grafana.com/prepare-downscale';
const PORT = 'grafana.com/prepare-downscale-http-port';
const PATH = 'grafana.com/prepare-downscale-http-path';

/** Returns what is wrong with what a review led to; undefined where nothing is. */
export function effectsProblem(effects: Effects): string | undefined {
  const { body, isAllowed, calls, requests } = effects;
  const expected = expectedAnswer('prepare-downscale', body);
  const writes = requests.filter(({ method }) => method !== 'GET');
  const hasEffects = calls.length + writes.length > 0;
  if (expected === 'unreadable' || expected.isAllowed) {
    const wanted = expected === 'unreadable' ? undefined : true;
    if (isAllowed !== wanted) return `allowed: ${isAllowed}, not ${wanted}`;
    return hasEffects ? 'a review that needs no preparation had effects' : undefined;
  }
  if (isAllowed === undefined) return 'a readable review was answered with a 400';
  return problemOfShrinking(shrinkingOf(body, requests), effects, hasEffects);
}

/** A down-scale that is to be prepared, by what the review says and what the API server answered of its set. */
interface Shrinking {
  readonly name: string;
  readonly namespace: string;
  readonly isScale: boolean;
  readonly from: number;
  readonly to: number;
  readonly uid: unknown;
  /** The answer to the read of the set; undefined where it was not read, or not answered. */
  readonly live: Document | undefined;
  readonly isGone: boolean;
}

function shrinkingOf(body: Buffer, requests: readonly SeenRequest[]): Shrinking {
  const request = documentAt(JSON.parse(body.toString('utf8')), 'request');
  const old = documentAt(request, 'oldObject');
  const isScale = old['kind'] === 'Scale';
  const unstated = isScale ? 0 : 1;
  const name = textOf(request['name']);
  const namespace = textOf(request['namespace']);
  const path = pathOf(namespace, name);
  const read = requests.findLast((each) => each.method === 'GET' && each.path === path);
  return {
    name,
    namespace,
    isScale,
    from: replicasOf(old, unstated),
    to: replicasOf(documentAt(request, 'object'), unstated),
    uid: documentAt(old, 'metadata')['uid'],
    live: read?.status === 200 ? parsed(read.body) : undefined,
    isGone: read?.status === 404,
  };
}

/** Empty where there is none: text that no URL can hold. */
function pathOf(namespace: string, name: string): string {
  if (!namespace.isWellFormed() || !name.isWellFormed()) return '';
  const [outer, inner] = [encodeURIComponent(namespace), encodeURIComponent(name)];
  return `/apis/apps/v1/namespaces/${outer}/statefulsets/${inner}`;
}

function problemOfShrinking(
  shrinking: Shrinking,
  effects: Effects,
  hasEffects: boolean,
): string | undefined {
  const { live } = shrinking;
  const isSame = live !== undefined && isTheSame(live, shrinking);
  const label = isSame ? labelOf(live) : 'unreadable';
  if (isSame && label === 'true') return problemOfPreparing(shrinking, live, effects);
  if (hasEffects) return 'a set that was not read, is another, or asks for nothing, had effects';
  const mayPass = label === undefined || isGoneScale(shrinking);
  return effects.isAllowed === true && !mayPass ? 'allowed without preparation' : undefined;
}

function problemOfPreparing(
  shrinking: Shrinking,
  live: Document,
  { isAllowed, calls, requests }: Effects,
): string | undefined {
  const wrong =
    problemOfCalls(shrinking, live, calls) ??
    problemOfWrites(shrinking, requests) ??
    problemOfOrder(shrinking, { calls, requests });
  if (wrong !== undefined) return wrong;
  return isAllowed === true
    ? problemOfAllowing(shrinking, { calls, requests })
    : problemOfDenying(calls);
}

/** What scales a set that is not there is let through: the API server will say so. */
function isGoneScale({ isScale, isGone }: Shrinking): boolean {
  return isScale && isGone;
}

/** The very set, as the review has it. */
function isTheSame(live: Document, { uid, from }: Shrinking): boolean {
  return documentAt(live, 'metadata')['uid'] === uid && replicasOf(live, 1) === from;
}

/** `true` where the set asks for preparation, also in a word that cannot be read; undefined where it says that it does not. */
function labelOf(live: Document): 'true' | 'unreadable' | undefined {
  const metadata = live['metadata'];
  if (!isDocument(metadata)) return metadata === undefined ? undefined : 'unreadable';
  for (const field of ['labels', 'annotations']) {
    const texts = metadata[field];
    if (texts === undefined || texts === null) continue;
    if (!isDocument(texts) || !Object.values(texts).every(isTextOrNull)) return 'unreadable';
  }
  const word = documentAt(metadata, 'labels')[PREPARE];
  const isOff = typeof word !== 'string' || ['', 'false'].includes(word.trim().toLowerCase());
  return isOff ? undefined : 'true';
}

function problemOfCalls(
  { name, namespace, from, to }: Shrinking,
  live: Document,
  calls: readonly SeenCall[],
): string | undefined {
  const annotations = documentAt(documentAt(live, 'metadata'), 'annotations');
  const spec = documentAt(live, 'spec');
  const first = firstOrdinalOf(spec);
  if (first === undefined) {
    return calls.length > 0 ? 'called pods of a set that no API server stores' : undefined;
  }
  const host = `${textOf(spec['serviceName'])}.${namespace}.svc.cluster.local.`;
  const end = `.${host}:${textOf(annotations[PORT])}/`;
  const path = textOf(annotations[PATH]);
  const permitted = new Set(
    Array.from({ length: from - to }, (_, index) =>
      urlOf(`http://${name}-${first + to + index}${end}${path}`),
    ),
  );
  const foreign = calls.find(({ url }) => !permitted.has(urlOf(url)));
  if (foreign !== undefined) return `called ${foreign.url}, none of ${[...permitted].join(', ')}`;
  const twice = calls.length - new Set(calls.map(({ method, url }) => `${method} ${url}`)).size;
  return twice > 0 ? 'called a pod twice' : undefined;
}

/** Undefined where it is none that an API server stores. */
function firstOrdinalOf(spec: Document): number | undefined {
  const start = documentAt(spec, 'ordinals')['start'] ?? 0;
  const isOrdinal = Number.isInteger(start) && Number(start) >= 0 && Number(start) < 2 ** 31;
  return isOrdinal ? Number(start) : undefined;
}

/** As a client writes it to the wire; empty where it leads nowhere. */
function urlOf(text: string): string {
  // A backslash is no slash outside of browsers.
  return URL.parse(text.replaceAll('\\', '%5C'))?.href ?? '';
}

/** Its claim, its note of when it was let shrink, and questions about the Role; nothing else is written. */
function problemOfWrites(
  { name, namespace }: Shrinking,
  requests: readonly SeenRequest[],
): string | undefined {
  const claims = '/api/v1/namespaces/test/configmaps';
  const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const set = pathOf(namespace, name);
  const other = requests.find(
    ({ method, path }) =>
      method !== 'GET' &&
      !path.startsWith(claims) &&
      path !== reviews &&
      !(method === 'PATCH' && path === set),
  );
  if (other !== undefined) return `wrote ${other.method} ${other.path}`;
  const patch = requests.find(({ method, sent }) => method === 'PATCH' && !isNote(sent));
  return patch === undefined ? undefined : `patched the set with ${patch.sent}`;
}

/** Whether `sent` says when the set was let shrink, and nothing else. */
function isNote(sent: string): boolean {
  const { metadata, ...beside } = parsed(sent) ?? {};
  const { annotations, ...further } = documentAt({ metadata }, 'metadata');
  const { [NOTE]: time, ...others } = documentAt({ annotations }, 'annotations');
  const isAlone = [beside, further, others].every((rest) => Object.keys(rest).length === 0);
  return isAlone && typeof time === 'string' && !Number.isNaN(Date.parse(time));
}

/** A claim is stored before a pod is asked to go, and the note is written once all have said yes. */
function problemOfOrder(
  { from, to }: Shrinking,
  { calls, requests }: Pick<Effects, 'calls' | 'requests'>,
): string | undefined {
  const claim = requests.find(isClaim);
  const asked = calls.filter(({ method }) => method === 'POST');
  if (asked.some(({ turn }) => claim === undefined || turn < claim.turn)) {
    return 'asked a pod to go before its group was claimed';
  }
  const note = requests.find(({ method }) => method === 'PATCH');
  const isEarly =
    note !== undefined &&
    (asked.length < from - to || asked.some(({ turn, isAgreed }) => turn > note.turn || !isAgreed));
  return isEarly ? 'noted a down-scale that not all pods had agreed to' : undefined;
}

function isClaim({ method, status, path }: SeenRequest): boolean {
  const isWrite = method === 'PUT' || method === 'POST';
  return isWrite && status >= 200 && status < 300 && path.includes('/configmaps');
}

function problemOfAllowing(
  { from, to }: Shrinking,
  { calls, requests }: Pick<Effects, 'calls' | 'requests'>,
): string | undefined {
  const agreed = calls.filter(({ method, isAgreed }) => method === 'POST' && isAgreed);
  if (agreed.length !== from - to) return `allowed after ${agreed.length} of ${from - to} pods`;
  if (calls.length !== agreed.length) return 'allowed after other calls than those that prepare';
  const isNoted = requests.some(
    ({ method, status, path }) =>
      method === 'PATCH' && status === 200 && path.includes('/statefulsets/'),
  );
  if (!isNoted) return 'allowed without a note on the set';
  return requests.some(isClaim) ? undefined : 'allowed without a claim of its group';
}

/** Each pod that was asked, whether it answered or not, is told to forget it. */
function problemOfDenying(calls: readonly SeenCall[]): string | undefined {
  const told = new Set(calls.filter(({ method }) => method === 'DELETE').map(({ url }) => url));
  const left = calls.find(({ method, url }) => method === 'POST' && !told.has(url));
  return left === undefined ? undefined : `denied, but ${left.url} still prepares to go`;
}

function replicasOf(object: Document, unstated: number): number {
  const replicas = documentAt(object, 'spec')['replicas'];
  return typeof replicas === 'number' ? replicas : unstated;
}

function parsed(text: string): Document | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isDocument(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function documentAt(value: unknown, name: string): Document {
  const inner = isDocument(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return isDocument(inner) ? inner : {};
}

function isDocument(value: unknown): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
