import { ReplicaClaims } from '#admission/claim/replica-claims.ts';
import { annotationRecord } from '#admission/prepare-downscale/downscale-record.ts';
import { GroupLocks } from '#admission/prepare-downscale/group-locks.ts';
import { prepareDownscale } from '#admission/prepare-downscale/prepare-downscale.ts';
import { ConcurrencyLimit } from '#admission/review/concurrency-limit.ts';
import { handlersOf } from '#admission/review/review-handler.ts';
import { millis, minutes, seconds } from '#base/units.ts';
import type { SeededRandom } from '#cluster/seeded-random.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';
import type { PodAnswer, PodCall, PodHttp } from '#pod-http/pod-http.ts';
import { type FakeAnswer, FakeTransport } from '#support/api-server/fake-transport.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { effectsProblem, type SeenCall, type SeenRequest } from './effects-oracle.ts';
import { pick } from './raw-inputs.ts';
import { nextInput, strange } from './review-inputs.ts';

/** The set that reviews are about: a proper request lets it shrink. */
function liveSet(): Record<string, unknown> {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name: 'a',
      namespace: 'test',
      uid: 'u',
      resourceVersion: '1',
      generation: 1,
      labels: { 'grafana.com/prepare-downscale': 'true', 'rollout-group': 'g' },
      annotations: {
        'grafana.com/prepare-downscale-http-port': '8080',
        'grafana.com/prepare-downscale-http-path': 'prepare',
      },
    },
    spec: { replicas: 3, serviceName: 'svc', ordinals: { start: 0 } },
  };
}

/** Members of the live set that are mutated. */
const paths = [
  ['metadata', 'uid'],
  ['metadata', 'generation'],
  ['metadata', 'labels'],
  ['metadata', 'labels', 'grafana.com/prepare-downscale'],
  ['metadata', 'labels', 'rollout-group'],
  ['metadata', 'annotations'],
  ['metadata', 'annotations', 'grafana.com/prepare-downscale-http-port'],
  ['metadata', 'annotations', 'grafana.com/prepare-downscale-http-path'],
  ['metadata', 'annotations', 'grafana.com/last-downscale'],
  ['spec'],
  ['spec', 'replicas'],
  ['spec', 'serviceName'],
  ['spec', 'ordinals', 'start'],
] as const;

/** Texts that would lead a call elsewhere. */
const leading = [
  '80@host:1',
  '127.0.0.1:1/x?',
  'x\\@y',
  '..',
  '/../x',
  '8080#',
  '\n',
  'ü',
  'http:',
];

/** What {@link preparations} led to. */
export interface Preparations {
  /** Reviews that led to calls of pods. */
  readonly called: number;
  /** Those of them that were allowed. */
  readonly allowed: number;
  readonly problems: readonly string[];
}

/** Posts `count` generated reviews, each to a world of its own. */
export async function preparations(count: number, random: SeededRandom): Promise<Preparations> {
  const problems: string[] = [];
  let [called, allowed] = [0, 0];
  for (let at = 0; at < count; at += 1) {
    const own = random.derive(`preparation ${at}`);
    const { body, made } = nextInput(own);
    const { calls, isAllowed, problem } = await new FuzzedPreparation(own).post(body);
    if (calls > 0) called += 1;
    if (calls > 0 && isAllowed) allowed += 1;
    if (problem !== undefined) problems.push(`preparation ${at}, ${made}: ${problem}`);
  }
  return { called, allowed, problems };
}

/** What a review led to. */
interface Preparation {
  /** What is wrong with it; undefined where nothing is. */
  readonly problem: string | undefined;
  readonly calls: number;
  readonly isAllowed: boolean;
}

/** prepare-downscale in front of an API server and pods that answer as `random` says; one review each. */
class FuzzedPreparation {
  readonly #random: SeededRandom;
  readonly #clock = new FakeClock();
  readonly #calls: SeenCall[] = [];
  readonly #requests: SeenRequest[] = [];
  /** One in so many answers is a failure; 0: none. */
  readonly #faults: number;
  readonly #live: Record<string, unknown>;
  /** The ConfigMap of the claims, once it is there. */
  #claims: Record<string, unknown> | undefined;

  /** What happens to a review follows from `random` alone. */
  constructor(random: SeededRandom) {
    this.#random = random;
    this.#faults = pick(random, [0, 0, 12, 3]);
    this.#live = random.below(2) === 0 ? liveSet() : mutatedSet(random);
  }

  /** Posts `body`, and looks at all that it led to until nothing happens any more. */
  async post(body: Buffer): Promise<Preparation> {
    const clock = this.#clock;
    const answering = this.#handler()({
      contentType: 'application/json',
      body,
      caller: { query: 'timeout=10s', begun: clock.monotonic(), onLeave: () => undefined },
    });
    await clock.advance(minutes(5));
    const { status, body: text } = await answering;
    const isAllowed = status === 400 ? undefined : isAllowedIn(text);
    const [calls, requests] = [this.#calls, this.#requests];
    const problem = effectsProblem({ body, isAllowed, calls, requests });
    return { problem, calls: calls.length, isAllowed: isAllowed === true };
  }

  #nextTurn(): number {
    return this.#calls.length + this.#requests.length;
  }

  #handler(): NonNullable<ReturnType<ReturnType<typeof handlersOf>['get']>> {
    const [clock, log] = [this.#clock, silentLogger];
    const transport = new FakeTransport(({ method, path, body }) => {
      const [plain = ''] = path.split('?', 1);
      const turn = this.#nextTurn();
      const answer = this.#answer(method, plain, body);
      this.#requests.push({ method, path: plain, sent: body ?? '', turn, ...seenOf(answer) });
      return answer;
    });
    const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'fuzz' });
    const ports = { client, clock, log };
    const webhook = prepareDownscale({
      ...ports,
      podHttp: this.#pods(),
      limit: new ConcurrencyLimit(100),
      locks: new GroupLocks(),
      groupClaims: new ReplicaClaims({ ...ports, namespace: 'test', identity: 'fuzz' }),
      record: annotationRecord(ports),
      clusterDomain: 'cluster.local.',
      onBackground: () => undefined,
    });
    const handlers = handlersOf([webhook], { clock, log, requestTimeout: seconds(10) });
    const handler = handlers.get('/admission/prepare-downscale');
    if (handler === undefined) throw new Error('There is no webhook prepare-downscale');
    return handler;
  }

  #pods(): PodHttp {
    return {
      call: ({ method, url }: PodCall): Promise<PodAnswer> => {
        const isAgreed = this.#faults === 0 || this.#random.below(this.#faults) > 0;
        this.#calls.push({ method, url, isAgreed, turn: this.#nextTurn() });
        const broken = {
          kind: 'broken',
          isSent: true,
          message: `Cannot ${method} ${url}`,
        } as const;
        const refused = { kind: 'answered', status: 500, body: '' } as const;
        if (isAgreed) return Promise.resolve({ kind: 'answered', status: 200, body: '' });
        return Promise.resolve(this.#random.below(2) === 0 ? broken : refused);
      },
      close: () => Promise.resolve(),
    };
  }

  #answer(method: string, path: string, body: string | undefined): FakeAnswer {
    if (this.#faults > 0 && this.#random.below(this.#faults) === 0) return faulty(this.#random);
    if (path.includes('/configmaps')) return this.#claim(method, body);
    if (path.includes('/selfsubjectaccessreviews')) return { body: { status: { allowed: true } } };
    if (/\/statefulsets\/[^/]/.test(path)) return { body: this.#live };
    return { body: { metadata: { resourceVersion: '1' }, items: [this.#live] } };
  }

  #claim(method: string, body: string | undefined): FakeAnswer {
    if (method === 'GET') {
      return this.#claims === undefined ? notFound : { body: this.#claims };
    }
    const written = JSON.parse(body ?? '{}') as Record<string, unknown>;
    const resourceVersion = String(this.#requests.length + 1);
    const metadata = { ...(written['metadata'] as object), uid: 'claims', resourceVersion };
    this.#claims = { apiVersion: 'v1', kind: 'ConfigMap', ...written, metadata };
    return { body: this.#claims };
  }
}

const notFound: FakeAnswer = {
  status: 404,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 },
};

/** What a server answers that is overloaded, being replaced, or none. */
function faulty(random: SeededRandom): FakeAnswer {
  const status = pick(random, [403, 404, 409, 500, 503]);
  const failed = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status };
  return pick<FakeAnswer>(random, [
    new TransportError('broken', 'connection'),
    new TransportError('refused', 'not-sent'),
    { status, body: failed },
    { status, body: failed },
    { status, body: 'busy' },
    { body: pick(random, ['', '{', '[]', 'null', '{}', '{"metadata":{}}']) },
  ]);
}

function mutatedSet(random: SeededRandom): Record<string, unknown> {
  const set = liveSet();
  const path = pick(random, paths);
  let holder = set;
  for (const name of path.slice(0, -1)) holder = holder[name] as Record<string, unknown>;
  const last = path.at(-1) ?? '';
  if (random.below(4) === 0) delete holder[last];
  else holder[last] = pick(random, [...strange, ...leading]);
  return set;
}

function seenOf(answer: FakeAnswer): Pick<SeenRequest, 'status' | 'body'> {
  if (answer instanceof Error) return { status: 0, body: '' };
  const { status = 200, body } = answer;
  return { status, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

function isAllowedIn(text: string): boolean {
  const { response } = JSON.parse(text) as { response?: { allowed?: unknown } };
  if (typeof response?.allowed !== 'boolean') throw new Error(`no answer to a review: ${text}`);
  return response.allowed;
}
