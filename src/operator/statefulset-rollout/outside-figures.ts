/** Counts what goes to Slack and to Consul; nothing rests on it. */
import type { Consul, ConsulAnswer } from '#check/consul/consul.ts';
import type { SlackCall, SlackResult } from '#notification/slack-client/slack-call.ts';
import type { SlackClient } from '#notification/slack-client/slack-client.ts';
import type { RolloutMetrics } from '#telemetry/metrics/rollout-metrics.ts';

const methods: Readonly<Record<SlackCall['kind'], string>> = {
  post: 'chat.postMessage',
  update: 'chat.update',
};

/** How a call is counted; Slack's own words are none of ours, and there may be any number of them. */
const results: Readonly<Record<SlackResult['kind'], string | undefined>> = {
  ok: 'ok',
  'rate-limited': 'rate_limited',
  refused: 'refused',
  unreachable: 'unreachable',
  // Nothing was sent.
  'no-token': undefined,
};

/** Returns `slack` where each call is counted that has ended. */
export function countedSlack(
  slack: Pick<SlackClient, 'send' | 'close'>,
  metrics: Pick<RolloutMetrics, 'slackCalled' | 'slackLimited'>,
): Pick<SlackClient, 'send' | 'close'> {
  return {
    send: async (call, signal) => {
      const sent = await slack.send(call, signal);
      const result = results[sent.kind];
      if (result !== undefined) metrics.slackCalled(methods[call.kind], result);
      if (sent.kind === 'rate-limited') metrics.slackLimited();
      return sent;
    },
    close: () => slack.close(),
  };
}

const troubles: Readonly<Record<Extract<ConsulAnswer, { kind: 'trouble' }>['code'], string>> = {
  ConsulUnavailable: 'unavailable',
  ConsulPermissionDenied: 'permission_denied',
  ConsulUnknownDatacenter: 'unknown_datacenter',
};

/** Returns `consul` where each question is counted that was answered, or failed. */
export function countedConsul(
  consul: Pick<Consul, 'ask'>,
  metrics: Pick<RolloutMetrics, 'consulAsked'>,
): Pick<Consul, 'ask'> {
  return {
    ask: async (question, asking) => {
      const answer = await consul.ask(question, asking);
      // What nothing waits for any more has not failed.
      if (!asking.signal.aborted) metrics.consulAsked(resultOf(answer));
      return answer;
    },
  };
}

function resultOf(answer: ConsulAnswer): string {
  if (answer.kind === 'trouble') return troubles[answer.code];
  return answer.kind === 'stale' ? 'stale' : 'ok';
}
