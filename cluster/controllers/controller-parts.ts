import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { millis } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { Cached, Informer, InformerProblem } from '#kubernetes/informer/informer.ts';
import type { Indexers } from '#kubernetes/informer/object-cache.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { createWorkQueue } from '#kubernetes/queue/rate-limited-queue.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import type { User } from '../cluster.ts';
import { EventWriter, silentRecorder } from './event-writer.ts';

/** What {@link ControllerParts} are made with. */
export interface ControllerPartsOptions {
  /** A connection per user (MS-1). */
  readonly transportFor: (user: User) => Transport;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether the controllers write Events (SS-22). @default true */
  readonly areEventsWritten?: boolean;
}

/** Makes what controllers are built of, and ends all of it at once. */
export class ControllerParts {
  readonly #options: ControllerPartsOptions;
  readonly #stop = new AbortController();
  readonly #transports: Transport[] = [];
  readonly #queues: WorkQueue[] = [];
  readonly #recorders: EventRecorder[] = [];
  readonly #runs: Promise<void>[] = [];

  constructor(options: ControllerPartsOptions) {
    this.#options = options;
  }

  /** Aborts when all is to end. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Ends watches and queues; resolves when all work under way has ended. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the controllers were stopped'));
    for (const queue of this.#queues) queue.shutDown();
    await Promise.allSettled(this.#runs);
    await Promise.all(this.#recorders.map((recorder) => recorder.flush()));
    await Promise.all(this.#transports.map((transport) => transport.close()));
  }

  /** Takes work that {@link stop} waits for. */
  running(work: Promise<void>): void {
    this.#runs.push(work);
  }

  /** Runs `informers` until the end; resolves when their caches have synced. */
  async sync(informers: readonly Informer<Cached>[]): Promise<void> {
    for (const informer of informers) this.running(informer.run(this.signal));
    await Promise.all(informers.map((informer) => informer.synced));
  }

  /** Returns a client of its own for the service account `account`. */
  connect(account: string): Client {
    const groups = ['system:serviceaccounts', 'system:authenticated'];
    const name = `system:serviceaccount:kube-system:${account}`;
    const transport = this.#options.transportFor({ name, groups });
    this.#transports.push(transport);
    const { clock } = this.#options;
    return createClient({ transport, clock, timeout: millis(0), userAgent: account });
  }

  queue(name: string): WorkQueue {
    const queue = createWorkQueue({ clock: this.#options.clock, name });
    this.#queues.push(queue);
    return queue;
  }

  recorder(client: Client, component: string): EventRecorder {
    const { clock, log, areEventsWritten = true } = this.#options;
    const recorder = areEventsWritten
      ? new EventWriter({ client, clock, log, component })
      : silentRecorder;
    this.#recorders.push(recorder);
    return recorder;
  }

  /** Returns an informer that {@link sync} runs. */
  informer<T extends Cached>(
    client: Client,
    type: ResourceType,
    kept: {
      readonly project: (object: KubernetesObject) => T;
      readonly indexers: Indexers<T>;
    },
  ): Informer<T> {
    const { clock, log } = this.#options;
    const report = ({ reason, message }: InformerProblem): void => {
      log.warn('informer problem', { type: type.plural, reason, problem: message });
    };
    return createInformer({ client, clock, type, report, isAbsentAllowed: true, ...kept });
  }
}
