import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { type Monotonic, seconds } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { secretValue } from '#kubernetes/secret-value.ts';
import type { SlackClient, TokenSource } from '#notification/slack-client/slack-client.ts';
import {
  CallbackAttempts,
  type CallbackPorts,
} from '#statefulset-rollout/notification/callback-attempts.ts';
import { CallbackCalls } from '#statefulset-rollout/notification/callback-calls.ts';
import {
  type SlackReportPorts,
  SlackReports,
} from '#statefulset-rollout/notification/slack-reports.ts';
import type { RolloutMetrics } from '#telemetry/metrics/rollout-metrics.ts';
import { countedSlack } from './outside-figures.ts';

/** Whom StatefulsetRollouts talk to besides the API server; its maker ends it. */
export interface RolloutOutside {
  /** Name of the cluster; may be empty. */
  readonly cluster: string;
  readonly callback: Pick<CallbackPorts, 'sender' | 'signingKey' | 'mostAttempts' | 'random'>;
  readonly slack: {
    /** Returns what calls Slack by tokens of `token`; its caller closes it. */
    open(token: TokenSource): Pick<SlackClient, 'send' | 'close'>;
    /** The token of the operator; undefined: only what names one of its own is reported. */
    readonly ownToken: (() => Promise<string>) | undefined;
  };
}

/** What only a term knows. */
interface OutsideTerm {
  readonly client: Client;
  readonly clock: Clock;
  readonly leads: () => boolean;
  readonly metrics: RolloutMetrics;
}

/** How long a token that was read is taken for the one that is there; one that Slack doubts is read again at once. */
const tokenLife = seconds(60);

/** Returns what notifies receivers how rollouts ended, for one term. */
export function callbacksOf(
  { cluster, callback }: RolloutOutside,
  term: OutsideTerm & { readonly queue: Pick<WorkQueue, 'add'> },
): CallbackCalls {
  const attempted: CallbackPorts['attempted'] = (kind) => term.metrics.callbackAttempted(kind);
  const attempts = new CallbackAttempts({ ...term, ...callback, cluster, attempted });
  return new CallbackCalls({ attempts, wake: (key) => term.queue.add(key) });
}

/** Returns what shows in Slack how rollouts go, for one term. */
export function reportsOf(
  { cluster, slack }: RolloutOutside,
  term: OutsideTerm &
    Pick<SlackReportPorts, 'events' | 'rollouts' | 'unseenRollouts'> & {
      readonly log: Logger;
      readonly queue: Pick<WorkQueue, 'add'>;
    },
): SlackReports {
  const wake = (key: string): void => term.queue.add(key);
  const opened = countedSlack(slack.open(tokensOf(slack.ownToken, term)), term.metrics);
  return new SlackReports({ ...term, wake, cluster, slack: opened });
}

/** Returns tokens by the names of accounts: that of the operator has none, others are `<namespace>/<Secret>/<key>`. */
function tokensOf(
  ownToken: RolloutOutside['slack']['ownToken'],
  { client, clock }: Pick<OutsideTerm, 'client' | 'clock'>,
): TokenSource {
  const known = new Map<string, { readonly token: string | undefined; readonly at: Monotonic }>();
  const read = async (account: string): Promise<string | undefined> => {
    if (account === '') return ownToken?.();
    const [namespace = '', name = '', key = ''] = account.split('/');
    const { signal } = new AbortController();
    const value = await secretValue(client, { namespace, name, key }, signal);
    return value === undefined ? undefined : Buffer.from(value).toString();
  };
  return async (account, { isDoubted }) => {
    const at = clock.monotonic();
    const last = known.get(account);
    if (last?.token !== undefined && !isDoubted && at - last.at < tokenLife) return last.token;
    const token = await read(account);
    known.set(account, { token, at });
    return token;
  };
}
