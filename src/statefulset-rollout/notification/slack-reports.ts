import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Thread } from '#notification/outbox-state.ts';
import type { SlackCall } from '#notification/slack-client/slack-call.ts';
import type { SlackClient } from '#notification/slack-client/slack-client.ts';
import { SlackWorker } from '#notification/slack-worker.ts';
import type { RolloutView } from '../parse-resource.ts';
import { tellRollout } from '../rollout-reasons.ts';
import type { StatusParts } from '../status/status-view.ts';
import { messageKey, type NewsParts, wantedThread } from './slack-news.ts';
import { SlackPace } from './slack-pace.ts';
import { type SlackRecordPorts, SlackRecords } from './slack-records.ts';

/** What reports go through. */
export interface SlackReportPorts extends SlackRecordPorts {
  readonly clock: Clock;
  readonly events: EventRecorder;
  /** Closed when the reports end. */
  readonly slack: Pick<SlackClient, 'send' | 'close'>;
  /** Name of the cluster; may be empty. */
  readonly cluster: string;
}

/** A rollout, as it is to be reported. */
type RolloutLook = Omit<NewsParts, 'cluster'>;

/** How the messages of a rollout fare. */
export type SlackHealth =
  | { readonly kind: 'healthy' }
  /** Nothing is sent any more, or nothing arrives. */
  | { readonly kind: 'failing'; readonly error: string };

/** Shows in Slack how rollouts go, and keeps in their statuses where the messages are. */
export class SlackReports {
  readonly #ports: SlackReportPorts;
  readonly #worker: SlackWorker;
  /** Keys of the resources, by uid. */
  readonly #places = new Map<string, { readonly namespace: string; readonly name: string }>();
  /** Threads whose end was reported. */
  readonly #told = new Set<string>();
  readonly #records: SlackRecords;
  readonly #pace: SlackPace<RolloutLook>;

  constructor(ports: SlackReportPorts) {
    this.#ports = ports;
    const { clock, slack } = ports;
    this.#records = new SlackRecords(ports, (uid) => this.#worker.released(uid));
    this.#pace = new SlackPace({ clock, tell: (look) => this.#tell(look) });
    this.#worker = new SlackWorker({
      clock,
      client: slack,
      onSettled: (thread, call) => this.#settled(thread, call),
    });
  }

  /** Has Slack show how the rollout stands, if anything is to be reported. */
  show(look: RolloutLook): void {
    const { uid, spec } = look.rollout;
    if (spec.kind === 'invalid' || spec.value.slack === undefined) return;
    const { phase, key } = look.plan.progress;
    this.#pace.show({ uid, mark: `${phase} ${key}`, view: look });
  }

  #tell(look: RolloutLook): void {
    const { namespace, name, uid } = look.rollout;
    const wanted = wantedThread({ ...look, cluster: this.#ports.cluster });
    if (wanted === undefined) return;
    this.#places.set(uid, { namespace, name });
    this.#worker.want(wanted);
  }

  /** Returns how the messages of the present rollout fare; undefined where none was sent by this process. */
  healthOf({ uid, spec, progress }: RolloutView): SlackHealth | undefined {
    if (spec.kind === 'invalid' || spec.value.slack === undefined) return undefined;
    const thread = this.#worker.threadOf(uid, messageKey(progress, spec.value));
    if (thread?.error !== undefined) return { kind: 'failing', error: thread.error };
    return thread?.slots.get(0)?.ts === undefined ? undefined : { kind: 'healthy' };
  }

  /** Returns where the messages are, as it is to be stored with the status; undefined: what is there stays. */
  recordOf({ uid }: RolloutView): JsonObject | undefined {
    return this.#records.of(uid);
  }

  /** Notes that a status is stored that was made with `slackMessage`. */
  stored({ rollout, slackMessage }: Pick<StatusParts, 'rollout' | 'slackMessage'>): void {
    this.#records.stored(rollout.uid, slackMessage);
  }

  /** Forgets the resource, which is gone. */
  forget(uid: string): void {
    this.#pace.forget(uid);
    this.#worker.deleted(uid);
    this.#records.forget(uid);
    this.#places.delete(uid);
  }

  /** Sends until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#worker.run(signal);
      await this.#records.flush();
    } finally {
      await this.#ports.slack.close();
    }
  }

  /**
   * Settles what is stored.
   *
   * @returns whether nothing follows until it is stored where a message is: one at a time may be lost with the process
   */
  #settled(thread: Thread, { kind }: SlackCall): boolean {
    this.#tellEnd(thread);
    const place = this.#places.get(thread.uid);
    if (place === undefined) return false;
    const isPosted = kind === 'post' && thread.error === undefined;
    return this.#records.note(place, thread, isPosted) && isPosted;
  }

  /** Tells the end once, as nothing is sent any more for it. */
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
    const message = `No more messages are sent to Slack in ${channel}: ${error ?? 'it refuses'}`;
    tellRollout(rollout, { reason: 'NotificationFailed', message }, this.#ports.events);
  }
}
