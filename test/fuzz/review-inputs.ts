import type { JsonObject } from '#base/json.ts';
import type { SeededRandom } from '#cluster/seeded-random.ts';
import { reviewDocument } from '#support/admission/admission-requests.ts';
import { deep, type FuzzInput, longYaml, noise, pick, textInput, tokens } from './raw-inputs.ts';

const governed = {
  'grafana.com/no-downscale': 'true',
  'grafana.com/prepare-downscale': 'true',
};

/** A down-scale of a governed set from 3 to 1, as the API server sends it. */
function setReview(): Record<string, unknown> {
  const set = (replicas: number): JsonObject => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'a', namespace: 'test', uid: 'u', labels: governed, annotations: {} },
    spec: { replicas, serviceName: 'svc', template: { metadata: { labels: { name: 'a' } } } },
  });
  return reviewDocument({
    uid: 'fuzz-uid',
    name: 'a',
    userInfo: { username: 'fuzz' },
    object: set(1),
    oldObject: set(3),
  });
}

/** The same through `/scale`. */
function scaleReview(random: SeededRandom): Record<string, unknown> {
  const metadata = { name: 'a', namespace: 'test', uid: 'u' };
  const scale = (replicas: number): JsonObject => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata,
    spec: replicas === 0 ? {} : { replicas },
  });
  const resource = pick(random, ['statefulsets', 'deployments', 'replicasets', 'rollouts']);
  return reviewDocument({
    uid: 'fuzz-uid',
    name: 'a',
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    resource: {
      group: pick(random, ['apps', 'apps', 'apps', '', 'apps.kruise.io']),
      version: 'v1',
      resource,
    },
    subResource: 'scale',
    object: scale(random.below(4)),
    oldObject: scale(random.below(4)),
  });
}

/** An eviction of a pod. */
function evictionReview(): Record<string, unknown> {
  const metadata = { name: 'a-0', namespace: 'test' };
  return reviewDocument({
    uid: 'fuzz-uid',
    name: 'a-0',
    kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    subResource: 'eviction',
    operation: 'CREATE',
    object: { apiVersion: 'policy/v1', kind: 'Eviction', metadata },
    oldObject: null,
  });
}

function anyReview(random: SeededRandom): Record<string, unknown> {
  const which = random.below(8);
  if (which === 0) return evictionReview();
  return which < 4 ? scaleReview(random) : setReview();
}

/** Values that stand where others are expected. */
export const strange: readonly unknown[] = [
  null,
  true,
  0,
  -0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53 + 2,
  1e308,
  '',
  ' 3',
  '3',
  '+1',
  '٣',
  'true',
  [],
  {},
  [[]],
  { constructor: 1 },
  'x'.repeat(10_000),
  'x'.repeat(253),
  'x'.repeat(254),
  'x'.repeat(256),
  'x'.repeat(257),
];

/** Texts that no serializer writes. */
const rawValues: readonly string[] = [
  '1e3',
  '-0',
  '+1',
  '01',
  'NaN',
  '9007199254740993',
  '1e999',
  '{"__proto__":{"a":1}}',
  '{"a":1,"a":2}',
  '"\\ud800"',
];

/** Members of the review that are mutated, by path. */
const paths: readonly string[] = [
  'kind',
  'apiVersion',
  'request',
  'request.uid',
  'request.kind',
  'request.kind.kind',
  'request.kind.version',
  'request.resource',
  'request.resource.resource',
  'request.resource.group',
  'request.subResource',
  'request.userInfo.username',
  'request.oldObject.metadata.uid',
  'request.name',
  'request.namespace',
  'request.operation',
  'request.userInfo',
  'request.object',
  'request.object.kind',
  'request.object.apiVersion',
  'request.object.metadata',
  'request.object.spec',
  'request.object.spec.replicas',
  'request.oldObject',
  'request.oldObject.kind',
  'request.oldObject.apiVersion',
  'request.oldObject.metadata',
  'request.oldObject.metadata.labels',
  'request.oldObject.spec',
  'request.oldObject.spec.replicas',
  'request.dryRun',
];

function holderOf(
  root: Record<string, unknown>,
  path: string,
): readonly [Record<string, unknown>, string] {
  const names = path.split('.');
  const last = names.pop() ?? '';
  let holder = root;
  for (const name of names) holder = (holder[name] ?? {}) as Record<string, unknown>;
  return [holder, last];
}

type Maker = (random: SeededRandom) => FuzzInput;

/** A well-formed review with one member of another type, or without it. */
function mutated(random: SeededRandom): FuzzInput {
  const review = anyReview(random);
  const path = pick(random, paths);
  const [holder, name] = holderOf(review, path);
  if (random.below(4) === 0) {
    delete holder[name];
    return textInput(`without ${path}`, JSON.stringify(review));
  }
  const value = pick(random, strange);
  holder[name] = value;
  return textInput(`${path} is ${JSON.stringify(value).slice(0, 40)}`, JSON.stringify(review));
}

/** The same with a text that no serializer writes. */
function rawMember(random: SeededRandom): FuzzInput {
  const review = anyReview(random);
  const path = pick(random, paths);
  const [holder, name] = holderOf(review, path);
  holder[name] = '@';
  const raw = pick(random, rawValues);
  return textInput(`${path} is raw ${raw}`, JSON.stringify(review).replace('"@"', raw));
}

/** Bytes flipped, cut or repeated. */
function damaged(random: SeededRandom): FuzzInput {
  const body = Buffer.from(JSON.stringify(anyReview(random)));
  const flips = 1 + random.below(4);
  for (let flip = 0; flip < flips; flip += 1) {
    body[random.below(body.length)] = random.below(256);
  }
  const end = random.below(3) === 0 ? random.below(body.length) : body.length;
  return { made: 'damaged bytes', body: body.subarray(0, end) };
}

/** Members in any order, and names with characters written as escapes. */
function disguised(random: SeededRandom): FuzzInput {
  return textInput('disguised', disguise(anyReview(random), random));
}

function disguise(value: unknown, random: SeededRandom): string {
  if (Array.isArray(value)) return `[${value.map((each) => disguise(each, random)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries<unknown>({ ...value }).map(([name, inner]) => ({
    name,
    inner,
    at: random.below(2 ** 30),
  }));
  const written = members
    .toSorted((a, b) => a.at - b.at)
    .map(({ name, inner }) => `${escaped(name, random)}:${disguise(inner, random)}`);
  return `{${written.join(',')}}`;
}

function escaped(name: string, random: SeededRandom): string {
  const characters = Array.from(name, (character) => {
    if (random.below(12) > 0) return JSON.stringify(character).slice(1, -1);
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${characters.join('')}"`;
}

/** Requests of other operations and subresources. */
function otherRequest(random: SeededRandom): FuzzInput {
  const review = anyReview(random);
  const request = review['request'] as Record<string, unknown>;
  request['operation'] = pick(random, ['CREATE', 'DELETE', 'CONNECT', 'update', '']);
  if (random.below(2) === 0) request['subResource'] = pick(random, ['scale', 'status', 'eviction']);
  if (random.below(2) === 0) delete request['oldObject'];
  if (random.below(2) === 0) delete request['object'];
  if (random.below(2) === 0) review['apiVersion'] = 'admission.k8s.io/v1beta1';
  return textInput(`operation ${String(request['operation'])}`, JSON.stringify(review));
}

const makers: readonly Maker[] = [
  mutated,
  mutated,
  mutated,
  rawMember,
  damaged,
  noise,
  tokens,
  otherRequest,
  disguised,
];

/** The next input. Deep ones are rare, as they are long. */
export function nextInput(random: SeededRandom): FuzzInput {
  const rare = random.below(400);
  if (rare > 2) return pick(random, makers)(random);
  return rare === 0 ? longYaml(random) : deep(random);
}
