import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { canI } from '#kubernetes/access-review.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Cached, Informer, InformerProblem } from '#kubernetes/informer.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import { createInformer } from '#kubernetes/shared-informer.ts';
import type { OperatorMetrics } from '#telemetry/operator-metrics.ts';

/** What the watch of a resource type goes through. */
export interface ReferenceWatchPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
  /** An object of the type in the namespace has changed, or may have. */
  changed(name: string): void;
}

/**
 * Watches the objects of one type in one namespace, of which nothing is kept but the resourceVersion (KW-15). Where the
 * Role does not permit that, it says so once, and shows nothing (D-23).
 */
export class ReferenceWatch {
  readonly #ports: ReferenceWatchPorts;
  readonly #type: ResourceType;
  readonly #namespace: string;
  readonly #stop = new AbortController();
  #informer: Informer<Cached> | undefined;
  #isBroken = false;
  #fatal: Error | undefined;

  constructor(type: ResourceType, namespace: string, ports: ReferenceWatchPorts) {
    this.#type = type;
    this.#namespace = namespace;
    this.#ports = ports;
  }

  /** Whether what is shown follows the server. */
  get isReliable(): boolean {
    return this.#informer?.hasSynced === true && !this.#informer.isAbsent && !this.#isBroken;
  }

  /** The resourceVersion of the object `name`; undefined when it is not shown. */
  shown(name: string): string | undefined {
    return this.#informer?.lister.get(this.#namespace, name)?.resourceVersion;
  }

  /** @throws what ended the watch for good (D-6) */
  throwIfFatal(): void {
    if (this.#fatal !== undefined) throw this.#fatal;
  }

  /** Begins to watch, if that is permitted; resolves when it has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const ending = AbortSignal.any([signal, this.#stop.signal]);
    if (!(await this.#mayWatch(ending)) || ending.aborted) return;
    const { client, clock } = this.#ports;
    this.#informer = createInformer<Cached>({
      client,
      clock,
      type: this.#type,
      namespace: this.#namespace,
      isAbsentAllowed: true,
      indexers: {},
      project: ({ metadata: { name, uid, resourceVersion } }) =>
        Object.freeze({ namespace: this.#namespace, name, uid, resourceVersion }),
      report: (problem) => this.#reported(problem),
    });
    this.#informer.onChange(({ object }) => this.#ports.changed(object.name));
    try {
      await this.#informer.run(ending);
    } catch (error) {
      this.#fatal = errorOf(error);
      for (const { name } of this.#informer.lister.list()) this.#ports.changed(name);
    }
  }

  /** Nobody mirrors anything of the type any more. */
  stop(): void {
    this.#stop.abort();
  }

  async #mayWatch(signal: AbortSignal): Promise<boolean> {
    const { client, log, metrics } = this.#ports;
    const { group, plural } = this.#type;
    for (const verb of ['list', 'watch']) {
      const access = { verb, group, resource: plural, namespace: this.#namespace };
      const answer = await canI(client, access, { signal });
      if (answer.kind !== 'denied') continue;
      metrics.setPermissionRefused(verb, plural, true);
      log.warn('the Role does not permit to watch a mirrored resource; it is polled', {
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
    this.#isBroken = reason === 'ListFailed' || reason === 'WatchFailed';
    const fields = { resource: this.#type.plural, reason, message };
    if (this.#isBroken) this.#ports.log.warn('informer', fields);
    else this.#ports.log.info('informer', fields);
  }
}
