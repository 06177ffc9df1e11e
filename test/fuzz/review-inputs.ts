import type { JsonObject } from '#base/json.ts';
import type { SeededRandom } from '#embedded-cluster/seeded-random.ts';
import { reviewDocument } from '#testing/admission-requests.ts';

/** One body that is posted, and what is known of it. */
export interface FuzzInput {
  readonly body: Buffer;
  /** How it was made, for the report. */
  readonly made: string;
}

const governed = {
  'grafana.com/no-downscale': 'true',
  'grafana.com/prepare-downscale': 'true',
};

/** A down-scale of a governed set from 3 to 1, as the API server sends it. */
function governedReview(): Record<string, unknown> {
  const set = (replicas: number): JsonObject => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'a', namespace: 'test', labels: governed, annotations: {} },
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

/** Values that stand where others are expected. */
const strange: readonly unknown[] = [
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

function text(made: string, body: string): FuzzInput {
  return { made, body: Buffer.from(body) };
}

/** A well-formed review with one member of another type, or without it. */
function mutated(random: SeededRandom): FuzzInput {
  const review = governedReview();
  const path = pick(random, paths);
  const [holder, name] = holderOf(review, path);
  if (random.below(4) === 0) {
    delete holder[name];
    return text(`without ${path}`, JSON.stringify(review));
  }
  const value = pick(random, strange);
  holder[name] = value;
  return text(`${path} is ${JSON.stringify(value).slice(0, 40)}`, JSON.stringify(review));
}

/** The same with a text that no serializer writes. */
function rawMember(random: SeededRandom): FuzzInput {
  const review = governedReview();
  const path = pick(random, paths);
  const [holder, name] = holderOf(review, path);
  holder[name] = '@';
  const raw = pick(random, rawValues);
  return text(`${path} is raw ${raw}`, JSON.stringify(review).replace('"@"', raw));
}

/** Bytes flipped, cut or repeated. */
function damaged(random: SeededRandom): FuzzInput {
  const body = Buffer.from(JSON.stringify(governedReview()));
  const flips = 1 + random.below(4);
  for (let flip = 0; flip < flips; flip += 1) {
    body[random.below(body.length)] = random.below(256);
  }
  const end = random.below(3) === 0 ? random.below(body.length) : body.length;
  return { made: 'damaged bytes', body: body.subarray(0, end) };
}

function noise(random: SeededRandom): FuzzInput {
  const body = Buffer.alloc(random.below(300));
  for (let at = 0; at < body.length; at += 1) body[at] = random.below(256);
  return { made: 'noise', body };
}

/** Tokens of JSON and YAML in any order. */
function tokens(random: SeededRandom): FuzzInput {
  const words = [
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"a"',
    '- ',
    '? ',
    '\n',
    '  ',
    'a',
    '&a ',
    '*a',
    '!!x',
    '|',
    '>',
    '---',
    '#',
    "'",
  ];
  const count = random.below(60);
  const body = Array.from({ length: count }, () => pick(random, words)).join('');
  return text('tokens', body);
}

function deep(random: SeededRandom): FuzzInput {
  const depth = 1 + random.below(12_000);
  const [open, close] = pick(random, [
    ['[', ']'],
    ['{"a":', '}'],
    ['- ', ''],
    ['? ', ''],
    ['[{"a":', '}]'],
  ] as const);
  const body = `${open.repeat(depth)}1${close.repeat(depth)}`;
  return text(`${depth} levels`, random.below(2) === 0 ? body : `{"request":${body}}`);
}

/** Up to 256 KiB of YAML that is all structure. */
function longYaml(random: SeededRandom): FuzzInput {
  const part = pick(random, [
    '- a: b\n',
    'a: 1\n',
    '&a ',
    '!a ',
    '? a\n',
    '1,',
    '[],',
    '#\n',
    ': ',
    'x',
    '"\\n" ',
  ]);
  const head = pick(random, ['', 'a: ', 'a: [', '- ']);
  const length = 1 + random.below(Math.floor((256 * 1_024) / part.length));
  return text(`YAML of ${length} × ${JSON.stringify(part)}`, head + part.repeat(length));
}

/** Requests of other operations and subresources. */
function otherRequest(random: SeededRandom): FuzzInput {
  const review = governedReview();
  const request = review['request'] as Record<string, unknown>;
  request['operation'] = pick(random, ['CREATE', 'DELETE', 'CONNECT', 'update', '']);
  if (random.below(2) === 0) request['subResource'] = pick(random, ['scale', 'status', 'eviction']);
  if (random.below(2) === 0) delete request['oldObject'];
  if (random.below(2) === 0) delete request['object'];
  if (random.below(2) === 0) review['apiVersion'] = 'admission.k8s.io/v1beta1';
  return text(`operation ${String(request['operation'])}`, JSON.stringify(review));
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
];

/** The next input. Deep ones are rare, as they are long. */
export function nextInput(random: SeededRandom): FuzzInput {
  const rare = random.below(400);
  if (rare > 2) return pick(random, makers)(random);
  return rare === 0 ? longYaml(random) : deep(random);
}

function pick<T>(random: SeededRandom, values: readonly T[]): T {
  const value = values[random.below(values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}
