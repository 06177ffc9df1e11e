import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import type { UnseenWrites } from '#control/unseen-writes.ts';
import { isNotFound } from '#kubernetes/api-error.ts';
import type { Client, Patch } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/event-recorder.ts';
import type { Informer } from '#kubernetes/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Thread } from '#notification/outbox-state.ts';
import type { SlackClient } from '#notification/slack-client.ts';
import { SlackWorker } from '#notification/slack-worker.ts';
import { formatThread } from '#notification/stored-thread.ts';
import type { RolloutView } from './parse-resource.ts';
import { tellRollout } from './rollout-reasons.ts';
import { messageKey, type NewsParts, wantedThread } from './slack-news.ts';

/** What reports go through. */
export interface SlackReportPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly rollouts: Pick<Informer<RolloutView>, 'lister'>;
  readonly unseenRollouts: UnseenWrites;
  /** Closed when the reports end. */
  readonly slack: Pick<SlackClient, 'send' | 'close'>;
  /** Name of the cluster; may be empty. */
  readonly cluster: string;
  /** Whether this process may write in this very moment: it holds the Lease, or there is none. */
  readonly leads: () => boolean;
}

/** How the messages of a rollout fare. */
export type SlackHealth =
  | { readonly kind: 'healthy' }
  /** Nothing is sent any more, or nothing arrives. */
  | { readonly kind: 'failing'; readonly error: string };

const type = resourceTypes.statefulsetRollouts;

/** Tells Slack how rollouts go, and keeps in their statuses where the messages stand. */
export class SlackReports {
  readonly #ports: SlackReportPorts;
  readonly #worker: SlackWorker;
  /** Keys of the resources, by uid. */
  readonly #places = new Map<string, { readonly namespace: string; readonly name: string }>();
  /** Threads whose end was told. */
  readonly #told = new Set<string>();
  readonly #storing = new Set<Promise<void>>();

  constructor(ports: SlackReportPorts) {
    this.#ports = ports;
    const { clock, slack } = ports;
    this.#worker = new SlackWorker({
      clock,
      client: slack,
      onSettled: (thread) => {
        const storing = this.#settled(thread).finally(() => this.#storing.delete(storing));
        this.#storing.add(storing);
      },
    });
  }

  /** Has Slack show how the rollout stands, if anybody is to be told. */
  show(parts: Omit<NewsParts, 'cluster'>): void {
    const { namespace, name, uid } = parts.rollout;
    const wanted = wantedThread({ ...parts, cluster: this.#ports.cluster });
    if (wanted === undefined) return;
    this.#places.set(uid, { namespace, name });
    this.#worker.want(wanted);
  }

  /** How the messages of the present rollout fare; undefined where none was sent by this process. */
  healthOf({ uid, spec, progress }: RolloutView): SlackHealth | undefined {
    if (spec.kind === 'invalid' || spec.value.slack === undefined) return undefined;
    const thread = this.#worker.threadOf(uid, messageKey(progress, spec.value));
    if (thread?.error !== undefined) return { kind: 'failing', error: thread.error };
    return thread?.slots.get(0)?.ts === undefined ? undefined : { kind: 'healthy' };
  }

  /** The resource is gone. */
  forget(uid: string): void {
    this.#worker.deleted(uid);
    this.#places.delete(uid);
  }

  /** Sends until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#worker.run(signal);
      await Promise.all(this.#storing);
    } finally {
      await this.#ports.slack.close();
    }
  }

  async #settled(thread: Thread): Promise<void> {
    this.#tellEnd(thread);
    const place = this.#places.get(thread.uid);
    const { client, clock, log, unseenRollouts, leads } = this.#ports;
    const slackMessage = formatThread(thread, clock.now());
    if (place === undefined || slackMessage === undefined || !leads()) return;
    const body: Patch = { kind: 'merge', document: { status: { slackMessage } } };
    try {
      const stored = await client.patch(type, place, { body, subresource: 'status' });
      unseenRollouts.answered(thread.uid, stored.metadata.resourceVersion);
    } catch (error) {
      // A second message may be posted by who comes after this process: that is all.
      if (!isNotFound(error)) {
        log.warn('where a message of Slack stands cannot be stored', {
          ...place,
          err: errorOf(error),
        });
      }
    }
  }

  /** Once, as nothing is sent any more for it. */
  #tellEnd({ id, uid, isStopped, error, channel }: Thread): void {
    if (!isStopped) {
      this.#told.delete(id);
      return;
    }
    const place = this.#places.get(uid);
    if (place === undefined || this.#told.has(id)) return;
    this.#told.add(id);
    const rollout = this.#ports.rollouts.lister.get(place.namespace, place.name);
    if (rollout === undefined) return;
    const message = `Slack is told nothing any more in ${channel}: ${error ?? 'it refuses'}`;
    tellRollout(rollout, { reason: 'NotificationFailed', message }, this.#ports.events);
  }
}
