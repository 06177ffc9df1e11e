import { Claims } from '#admission/claims.ts';
import { annotationRecord } from '#admission/downscale-record.ts';
import { endpointAtSight } from '#admission/endpoint.ts';
import { noDownscale } from '#admission/no-downscale.ts';
import { budgetsNotAccepted, podEvictionWithoutBudgets } from '#admission/not-built.ts';
import { Places } from '#admission/places.ts';
import { prepareDownscale } from '#admission/prepare-downscale.ts';
import { ReplicaClaims } from '#admission/replica-claims.ts';
import type { Webhook } from '#admission/review.ts';
import { type PostedAnswer, type PostedReview, ReviewDesk } from '#admission/review-desk.ts';
import { millis, seconds } from '#base/units.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { FakeClock } from '#testing/fake-clock.ts';
import { FakePodHttp } from '#testing/fake-pod-http.ts';
import { FakeTransport } from '#testing/fake-transport.ts';
import { PodFleet } from '#testing/pod-fleet.ts';
import { silentLogger } from '#testing/silent-logger.ts';
import type { FuzzInput } from './review-inputs.ts';
import { mayBeAllowed } from './review-oracle.ts';

const labels = { 'grafana.com/no-downscale': 'true', 'grafana.com/prepare-downscale': 'true' };
const metadata = { name: 'a', namespace: 'test', uid: 'u', resourceVersion: '1', labels };
const live = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec: { replicas: 3 } };
const list = { metadata: { resourceVersion: '1' }, items: [live] };

/** A webhook under fuzz, and what it may allow. */
export interface FuzzTarget {
  readonly webhook: Webhook;
  readonly mayAllow: (review: unknown) => boolean;
}

/** All endpoints, behind an API server where everything is governed. */
export class FuzzDesk {
  readonly targets: Readonly<Record<string, FuzzTarget>>;
  readonly #clock = new FakeClock();
  readonly #desk: ReviewDesk;

  constructor() {
    const clock = this.#clock;
    const log = silentLogger;
    const transport = new FakeTransport(({ path }) => ({
      body: /\/(?:statefulsets|deployments|replicasets)\/[^/?]/.test(path) ? live : list,
    }));
    const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'fuzz' });
    // A list of all requests would be all that is left of the memory.
    const forget = (): void => void transport.requests.splice(0);
    const places = new Places(100);
    const podHttp = new FakePodHttp({ fleet: new PodFleet(clock), clock });
    this.#desk = new ReviewDesk({ clock, log, requestTimeout: seconds(10) });
    const never = (): boolean => false;
    this.targets = {
      'no-downscale': {
        webhook: noDownscale({ client, log, places }),
        mayAllow: (review) => mayBeAllowed(review, 'grafana.com/no-downscale'),
      },
      'prepare-downscale': {
        webhook: prepareDownscale({
          client,
          podHttp,
          clock,
          log,
          places,
          claims: new Claims(),
          groupClaims: new ReplicaClaims({
            client,
            clock,
            log,
            namespace: 'test',
            identity: 'fuzz',
          }),
          record: annotationRecord({ client, clock, log }),
          clusterDomain: 'cluster.local.',
          onBackground: forget,
        }),
        mayAllow: (review) =>
          isDryRun(review) || mayBeAllowed(review, 'grafana.com/prepare-downscale'),
      },
      'pod-eviction': { webhook: podEvictionWithoutBudgets(client), mayAllow: never },
      'zpdb-validation': { webhook: budgetsNotAccepted(), mayAllow: never },
    };
    this.#forget = forget;
  }

  readonly #forget: () => void;

  /** Posts `input`. @returns what is wrong with the answer; undefined when nothing is */
  async problem(target: FuzzTarget, input: FuzzInput): Promise<string | undefined> {
    const answer = await this.#post(target.webhook, input.body);
    const whole = await this.#postWhole(target.webhook, input.body);
    this.#forget();
    if (answer.status !== whole.status || answer.body !== whole.body) {
      return `at sight it is answered ${answer.body}, and read whole ${whole.body}`;
    }
    if (answer.status === 400) return undefined;
    // Only JSON is read apart from the operator; YAML is held to a whole answer.
    const asked = parsed(input.body.toString('utf8'));
    return wrongAnswer(answer.body, asked) ?? wrongAllowance(answer.body, { target, asked });
  }

  /** The answer to `body`, as text; for comparing two. */
  async answer(target: FuzzTarget, body: Buffer): Promise<string> {
    const { status, body: text } = await this.#post(target.webhook, body);
    return `${status} ${text}`;
  }

  /** As the server answers: at sight where that is enough. */
  async #post(webhook: Webhook, body: Buffer): Promise<PostedAnswer> {
    const otherwise = (posted: PostedReview): Promise<PostedAnswer> =>
      this.#desk.answer(webhook, posted);
    return endpointAtSight(webhook, silentLogger, otherwise).answer(this.#posted(body));
  }

  #postWhole(webhook: Webhook, body: Buffer): Promise<PostedAnswer> {
    return this.#desk.answer(webhook, this.#posted(body));
  }

  #posted(body: Buffer): PostedReview {
    return {
      contentType: 'application/json',
      body,
      query: 'timeout=10s',
      begun: this.#clock.monotonic(),
      onLeave: () => undefined,
    };
  }
}

interface Answer {
  readonly response?: { readonly allowed?: unknown; readonly uid?: unknown };
}

function wrongAnswer(body: string, asked: unknown): string | undefined {
  const { allowed, uid } = (parsed(body) as Answer | undefined)?.response ?? {};
  if (typeof allowed !== 'boolean') return `the answer is no review: ${body}`;
  if (asked === undefined) return undefined;
  const sent = (asked as { request?: { uid?: unknown } }).request?.uid ?? '';
  return uid === sent
    ? undefined
    : `the uid is ${JSON.stringify(uid)}, not ${JSON.stringify(sent)}`;
}

function wrongAllowance(
  body: string,
  { target, asked }: { readonly target: FuzzTarget; readonly asked: unknown },
): string | undefined {
  const isAllowed = (parsed(body) as Answer | undefined)?.response?.allowed === true;
  if (!isAllowed || asked === undefined || target.mayAllow(asked)) return undefined;
  return 'it allows what may be governed (FUZZ-2)';
}

function isDryRun(review: unknown): boolean {
  return (review as { request?: { dryRun?: unknown } }).request?.dryRun === true;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
