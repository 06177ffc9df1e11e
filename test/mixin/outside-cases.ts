import { type FiringCase, of, type SilentCase } from './alert-series.ts';

const slack = 'statefulset_rollout_slack_requests_total';
const consulAge = of('statefulset_rollout_consul_snapshot_age_seconds');
const callbacks = 'statefulset_rollout_callback_attempts_total';

const refused = of(slack, { method: 'chat.postMessage', result: 'refused' });
const posted = of(slack, { method: 'chat.update', result: 'ok' });
const limited = of(slack, { method: 'chat.update', result: 'rate_limited' });
const temporary = of(callbacks, { result: 'temporary' });
const permanent = of(callbacks, { result: 'permanent' });
const delivered = of(callbacks, { result: 'delivered' });

const untold =
  'In the last hour callbacks of StatefulsetRollouts from mimir were tried, and none was delivered.';

/** Whom StatefulsetRollouts ask and tell. Each alert fires here at least once. */
export const outsideFiring: readonly FiringCase[] = [
  {
    alert: 'RolloutOperatorConsulSilent',
    series: { [consulAge]: '0+60x60' },
    at: 15,
    severity: 'warning',
    labels: {},
    description:
      'A StatefulsetRollout that is carried out in mimir waits for Consul, which has told nothing for 15m 0s.',
  },
  {
    alert: 'RolloutOperatorCallbacksFailing',
    series: { [temporary]: '0+1x90', [delivered]: '7x90' },
    at: 80,
    severity: 'warning',
    labels: {},
    description: untold,
  },
  {
    alert: 'RolloutOperatorCallbacksFailing',
    when: 'the first one is refused for good, with which its series begins',
    series: { [permanent]: '_x10 1x60' },
    at: 30,
    severity: 'warning',
    labels: {},
    description: untold,
  },
  {
    alert: 'RolloutOperatorSlackFailing',
    series: { [refused]: '_x40 1x60', [posted]: '3x100' },
    at: 90,
    severity: 'info',
    labels: {},
    description:
      'In the last hour Slack was sent messages about StatefulsetRollouts from mimir, and took none.',
  },
];

/** Near to an alert, and no reason for it. */
export const outsideSilent: Readonly<Record<string, SilentCase>> = {
  'Consul tells within a minute each time': {
    alert: 'RolloutOperatorConsulSilent',
    series: { [consulAge]: '5 60 2 55 10 60x60' },
    at: 50,
  },
  'a callback is delivered once the receiver is back': {
    alert: 'RolloutOperatorCallbacksFailing',
    series: { [temporary]: '0+1x5 5x60', [delivered]: '_x12 1x60' },
    at: 40,
  },
  'a callback was refused long ago': {
    alert: 'RolloutOperatorCallbacksFailing',
    series: { [permanent]: '1x120' },
    at: 100,
  },
  'Slack takes some messages': {
    alert: 'RolloutOperatorSlackFailing',
    series: { [refused]: '0+1x60', [posted]: '0x20 1x20 2x20' },
    at: 50,
  },
  'Slack only asks for patience': {
    alert: 'RolloutOperatorSlackFailing',
    series: { [limited]: '0+1x60' },
    at: 50,
  },
};
