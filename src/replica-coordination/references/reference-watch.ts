import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { canI } from '#kubernetes/authorization/access-review.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Cached, Change, Informer, InformerProblem } from '#kubernetes/informer/informer.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import type { OperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';

/** What a watch shows of one object. */
export interface Shown {
  readonly revision: string;
  /** The generation of its spec, where the server counts it. */
  readonly generation: number | undefined;
  /** The first revision that was shown with this generation: since then it asks for the same. */
  readonly askedSince: string;
}

/** What is kept of an object. */
interface Watched extends Cached {
  readonly generation: number | undefined;
}

/** What the watch of a resource type goes through. */
export interface ReferenceWatchPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  /** Notes that an object of the type in the namespace has changed, or may have. */
  changed(name: string): void;
}

/**
 * Watches the objects of one type in one namespace, of which nothing is kept but resourceVersion and generation (KW-15).
 * Where the Role does not permit that, it says so once, and shows nothing (D-23).
 */
export class ReferenceWatch {
  readonly #ports: ReferenceWatchPorts;
  readonly #type: ResourceType;
  readonly #namespace: string;
  readonly #stop = new AbortController();
  /** Keyed by name. */
  readonly #asked = new Map<string, Pick<Shown, 'generation' | 'askedSince'>>();
  #informer: Informer<Watched> | undefined;
  #isBroken = false;
  #fatal: Error | undefined;

  constructor(type: ResourceType, namespace: string, ports: ReferenceWatchPorts) {
    this.#type = type;
    this.#namespace = namespace;
    this.#ports = ports;
  }

  /** Reports whether what is shown follows the server. */
  get isReliable(): boolean {
    const informer = this.#informer;
    if (informer?.hasSynced !== true || informer.isAbsent || this.#isBroken) return false;
    return informer.staleness === undefined;
  }

  /** Returns the object `name`; undefined when it is not shown. */
  shown(name: string): Shown | undefined {
    const object = this.#informer?.lister.get(this.#namespace, name);
    if (object === undefined) return undefined;
    const { resourceVersion: revision, generation } = object;
    const asked = this.#asked.get(name);
    const isSame = asked !== undefined && asked.generation === generation;
    return { revision, generation, askedSince: isSame ? asked.askedSince : revision };
  }

  /** Throws what ended the watch for good (D-6). */
  throwIfFatal(): void {
    if (this.#fatal !== undefined) throw this.#fatal;
  }

  /** Begins to watch, if that is permitted; resolves when it has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const ending = AbortSignal.any([signal, this.#stop.signal]);
    if (!(await this.#mayWatch(ending)) || ending.aborted) return;
    const { client, clock } = this.#ports;
    this.#informer = createInformer<Watched>({
      client,
      clock,
      type: this.#type,
      namespace: this.#namespace,
      isAbsentAllowed: true,
      indexers: {},
      project: ({ metadata: { name, uid, resourceVersion, generation } }) =>
        Object.freeze({ namespace: this.#namespace, name, uid, resourceVersion, generation }),
      report: (problem) => this.#reported(problem),
    });
    this.#informer.onChange((change) => this.#changed(change));
    try {
      await this.#informer.run(ending);
    } catch (error) {
      this.#fatal = errorOf(error);
      for (const { name } of this.#informer.lister.list()) this.#ports.changed(name);
    } finally {
      this.#ports.metrics.setViewNotFresh(this.#type.plural, false);
    }
  }

  /** Stops the watch: nothing of the type is mirrored any more. */
  stop(): void {
    this.#stop.abort();
  }

  #changed(change: Change<Watched>): void {
    const { kind, object } = change;
    const { name, uid, generation, resourceVersion: askedSince } = object;
    const old = kind === 'updated' && change.old.uid === uid ? change.old.generation : undefined;
    const isSame = kind === 'resync' || (generation !== undefined && old === generation);
    if (kind === 'deleted') this.#asked.delete(name);
    else if (!isSame) this.#asked.set(name, { generation, askedSince });
    this.#ports.changed(name);
  }

  async #mayWatch(signal: AbortSignal): Promise<boolean> {
    const { client, log, metrics } = this.#ports;
    const { group, plural } = this.#type;
    for (const verb of ['list', 'watch']) {
      const access = { verb, group, resource: plural, namespace: this.#namespace };
      const answer = await canI(client, access, { signal });
      if (answer.kind !== 'denied') continue;
      metrics.setPermissionRefused(verb, plural, true);
      log.warn('the Role does not permit watching a mirrored resource; it is polled', {
        verb,
        resource: plural,
        api_group: group,
        namespace: this.#namespace,
        why: answer.reason,
      });
      return false;
    }
    return true;
  }

  #reported({ reason, message }: InformerProblem): void {
    const { log, metrics } = this.#ports;
    const { plural } = this.#type;
    const hasFailed = reason === 'ListFailed' || reason === 'WatchFailed';
    if (hasFailed) this.#isBroken = true;
    if (reason === 'Recovered' || reason === 'TypeAbsent') this.#isBroken = false;
    const isStale = reason === 'ViewNotFresh';
    if (isStale || reason === 'ViewFresh') metrics.setViewNotFresh(plural, isStale);
    const fields = { resource: plural, reason, message };
    if (hasFailed || isStale) log.warn('informer', fields);
    else log.info('informer', fields);
  }
}
