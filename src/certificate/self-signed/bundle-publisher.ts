import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { JsonObject } from '#base/json.ts';
import type { Logger } from '#base/logger.ts';
import {
  after,
  type Instant,
  instant,
  type Monotonic,
  millis,
  minutes,
  seconds,
} from '#base/units.ts';
import { type PassResult, runController } from '#control/run-controller.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Change, Informer } from '#kubernetes/informer/informer.ts';
import { createWorkQueue } from '#kubernetes/queue/rate-limited-queue.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { isConflict, isForbidden, isNotFound } from '#kubernetes/transport/api-error.ts';
import type { Authority } from '../api.ts';
import type { CertificateMetrics } from '../metrics.ts';
import type { Publication } from '../plan.ts';
import {
  type BundleView,
  isTolerated,
  planBundle,
  publishedSince,
  unnamedSince,
} from '../plan-bundle.ts';
import {
  type WebhookConfigurationView,
  type WebhookKind,
  type WebhookView,
  webhookTypes,
} from '../webhook-configuration.ts';
import { BundleContests } from './bundle-contests.ts';
import { ofAnyForm, ofOurForm } from './own-form.ts';

/** What a {@link BundlePublisher} works with. */
export interface BundlePublisherOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<CertificateMetrics, 'setConfigurationsWithoutCa'>;
  /** Informers of the configurations labelled with our namespace; run by their maker. */
  readonly informers: Readonly<Record<WebhookKind, Informer<WebhookConfigurationView>>>;
}

const kinds: readonly WebhookKind[] = ['validating', 'mutating'];
const longestBackoff = seconds(30);
/** A Role may be corrected; until then one request each time is enough. */
const refusedPause = minutes(5);
/** Certificates of a bundle that are looked into though the Secret does not name them; any more are a stranger's. */
const mostUnnamed = 32;
/** A user who writes another bundle again and again is answered this often at most. */
const writePause = seconds(1);

/**
 * Keeps our CAs in every labelled webhook configuration, no matter who overwrites them, and says since when all
 * of them carry a CA. A write that fails is tried again, which the peer does not do.
 */
export class BundlePublisher {
  readonly #options: BundlePublisherOptions;
  readonly #queue: WorkQueue;
  readonly #ready = Promise.withResolvers<void>();
  readonly #tried = new Set<string>();
  readonly #writtenAt = new Map<string, Instant>();
  readonly #contests: BundleContests;
  /** What was last reported, so that one cause is one line. */
  readonly #reported = new Map<string, string>();
  #wanted: readonly Authority[] = [];
  #since: ReadonlyMap<string, Instant> = new Map();
  /** When the look at the Secret was sent that {@link #wanted} rests on. */
  #readAt: Monotonic | undefined;
  #unnamed: ReadonlyMap<string, Monotonic> = new Map();
  #changed: () => void = () => undefined;

  constructor(options: BundlePublisherOptions) {
    this.#options = options;
    const { clock, log, informers } = options;
    this.#contests = new BundleContests({ clock, log });
    this.#queue = createWorkQueue({
      clock,
      name: 'ca-bundle',
      baseDelay: millis(100),
      maxDelay: longestBackoff,
    });
    for (const kind of kinds) informers[kind].onChange((change) => this.#look(kind, change));
  }

  /** Resolves when each labelled configuration has been right, or a write to it has been tried. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Returns what the configurations are known to trust. */
  get publication(): Publication {
    return { kind: 'managed', since: this.#since };
  }

  /** Calls `changed` when a CA has become known to all configurations, or is so no longer. */
  onChange(changed: () => void): void {
    this.#changed = changed;
  }

  /** Has every labelled configuration carry `authorities` from now on, as a look at the Secret sent at `readAt` says. */
  want(authorities: readonly Authority[], readAt: Monotonic | undefined): void {
    const isSame =
      authorities.length === this.#wanted.length &&
      authorities.every(({ id }, index) => id === this.#wanted[index]?.id);
    this.#readAt = readAt;
    const isOver = [...this.#unnamed.values()].some((since) => !isTolerated(since, readAt));
    if (isSame && !isOver) return;
    this.#wanted = authorities;
    for (const [key] of this.#labelled()) this.#queue.add(key);
    this.#review();
  }

  /** Works until `signal` aborts. @throws what makes a cache untrustworthy (D-6) */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, informers, log } = this.#options;
    try {
      await Promise.all(kinds.map((kind) => informers[kind].synced));
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    this.#review();
    await runController(
      {
        queue: this.#queue,
        clock,
        workers: 2,
        reconcile: (key, ending) => this.#reconcile(key, ending),
        report: (key, error) =>
          log.error('the CA bundle could not be kept', { key, err: errorOf(error) }),
        isFatal: () => false,
      },
      signal,
    );
  }

  #look(kind: WebhookKind, { kind: change, object }: Change<WebhookConfigurationView>): void {
    const key = `${kind}/${object.name}`;
    if (change === 'deleted') this.#forget(key);
    else if (object.wantsCa) this.#queue.add(key);
    this.#review();
  }

  #forget(key: string): void {
    this.#tried.delete(key);
    this.#writtenAt.delete(key);
    this.#reported.delete(key);
    this.#contests.forget(key);
    this.#queue.forget(key);
  }

  *#labelled(): Iterable<readonly [key: string, view: WebhookConfigurationView]> {
    for (const kind of kinds) {
      for (const view of this.#options.informers[kind].lister.list()) {
        if (view.wantsCa) yield [`${kind}/${view.name}`, view];
      }
    }
  }

  /** Takes stock of what all configurations carry. */
  #review(): void {
    const { informers, clock, metrics } = this.#options;
    if (!kinds.every((kind) => informers[kind].hasSynced) || this.#wanted.length === 0) return;
    const labelled = [...this.#labelled()];
    const bundles = labelled.flatMap(([, { webhooks }]) => webhooks.map(idsOf));
    const named = new Set(this.#wanted.map(({ id }) => id));
    const known = { earlier: this.#unnamed, now: clock.monotonic() };
    this.#unnamed = unnamedSince(bundles, named, known);
    const before = this.#since;
    const now = clock.now();
    this.#since = publishedSince(bundles, this.#wanted, { earlier: before, now });
    metrics.setConfigurationsWithoutCa(labelled.filter(([, view]) => this.#lacks(view)).length);
    if (labelled.every(([key, view]) => this.#tried.has(key) || !this.#lacks(view))) {
      this.#ready.resolve();
    }
    const isNews =
      before.size !== this.#since.size || [...before.keys()].some((id) => !this.#since.has(id));
    if (isNews) this.#changed();
  }

  #lacks({ webhooks }: WebhookConfigurationView): boolean {
    return webhooks.map(idsOf).some((ids) => this.#wanted.some(({ id }) => !ids.includes(id)));
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<PassResult> {
    const { clock, informers } = this.#options;
    const [kind, name] = split(key);
    const view = informers[kind].lister.get('', name);
    if (view === undefined || !view.wantsCa || this.#wanted.length === 0) return done;
    const now = clock.now();
    const operations = this.#operations(key, view, now);
    if (operations.length === 0) return done;
    const wait = this.#waitFor(key, now);
    if (wait !== undefined) return { kind: 'ended', requeue: { kind: 'at', at: wait } };
    this.#writtenAt.set(key, now);
    try {
      const body = { kind: 'json', operations } as const;
      await this.#options.client.patch(webhookTypes[kind], { name }, { body, signal });
      this.#reported.delete(key);
      this.#options.log.info('CA bundle written', { configuration: key });
      this.#contests.written(key, view.bundleManagers);
      return done;
    } catch (error) {
      return this.#failed(key, error, signal);
    } finally {
      this.#tried.add(key);
      this.#review();
    }
  }

  /** Returns until when the bundle is not written again; undefined where it may be. */
  #waitFor(key: string, now: Instant): Instant | undefined {
    const next = after(this.#writtenAt.get(key) ?? instant(0), writePause);
    if (next > now && next <= after(now, writePause)) return next;
    const pause = this.#contests.pauseOf(key);
    return pause === undefined ? undefined : after(now, pause);
  }

  /** The patch names the version that it was made from: another replica's CA must not be lost. */
  #operations(
    key: string,
    { resourceVersion, webhooks }: WebhookConfigurationView,
    now: Instant,
  ): readonly JsonObject[] {
    const writes = webhooks.flatMap((webhook, index): readonly JsonObject[] => {
      const authorities = planBundle(this.#viewOf(key, webhook, now), this.#wanted, now);
      if (authorities === undefined) return [];
      const text = authorities.map(({ pem }) => pem).join('');
      const value = Buffer.from(text).toString('base64');
      return [{ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value }];
    });
    if (writes.length === 0) return [];
    return [
      { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
      ...writes,
    ];
  }

  #viewOf(key: string, webhook: WebhookView, now: Instant): BundleView {
    const unnamed = webhook.bundle.filter(({ body }) => this.#unnamed.has(body));
    const tolerated = unnamed
      .slice(0, mostUnnamed)
      .flatMap(ofOurForm)
      .filter(
        ({ id, notAfter }) => notAfter <= now || isTolerated(this.#unnamed.get(id), this.#readAt),
      );
    const ids = idsOf(webhook);
    const others = webhook.bundle.filter(({ body }) => this.#isForeign(body)).slice(0, mostUnnamed);
    const contested = this.#contests.has(key) ? others.flatMap(ofAnyForm) : [];
    return { tolerated, contested, ids, hasForeignText: webhook.hasForeignText };
  }

  #isForeign(id: string): boolean {
    return this.#wanted.every((authority) => authority.id !== id);
  }

  #failed(key: string, error: unknown, signal: AbortSignal): PassResult {
    // Gone, or written by another client: its watch event wakes the key again.
    if (isNotFound(error) || signal.aborted) return done;
    if (isConflict(error)) return { kind: 'retry', retryAfter: undefined };
    const err = errorOf(error);
    if (this.#reported.get(key) !== err.message) {
      this.#reported.set(key, err.message);
      const { log } = this.#options;
      const fields = { configuration: key, err };
      if (isForbidden(error)) {
        log.error(
          'the Role does not permit writing CA bundles, so the API server cannot call the webhooks: grant list, watch and patch on webhook configurations in a ClusterRole (patch by name, if names are listed there), or write the CA yourself and set -webhooks.update-ca-bundle=false',
          fields,
        );
      } else log.warn('cannot write the CA bundle; it is tried again', fields);
    }
    return { kind: 'retry', retryAfter: isForbidden(error) ? refusedPause : undefined };
  }
}

const done: PassResult = Object.freeze({
  kind: 'ended',
  requeue: Object.freeze({ kind: 'await-change' }),
});

function split(key: string): readonly [kind: WebhookKind, name: string] {
  const slash = key.indexOf('/');
  return [key.startsWith('mutating/') ? 'mutating' : 'validating', key.slice(slash + 1)];
}

function idsOf({ bundle }: WebhookView): readonly string[] {
  return bundle.map(({ body }) => body);
}
