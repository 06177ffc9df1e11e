import { readFile } from 'node:fs/promises';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { problemText } from '#base/parsed.ts';
import type { OutsideConfig } from '#config/flags/outside-flags.ts';
import { parseAllowedHosts } from '#kubernetes/outgoing/allowed-hosts.ts';
import { tlsOf } from '#kubernetes/transport/server-trust.ts';
import { createCallbackClient } from '#notification/callback/callback-client.ts';
import {
  createSlackClient,
  type SlackClientOptions,
} from '#notification/slack-client/slack-client.ts';
import type { RolloutOutside } from '#operator/statefulset-rollout/rollout-outside.ts';

/** What {@link openOutside} works with. */
interface OutsideParts {
  readonly clock: Clock;
  readonly log: Logger;
}

/** The version of what receivers are sent, as its schema names it. */
const version = 'callback.v1';

/**
 * Returns the servers that rollouts call, as the command line says, and what ends all connections to them.
 *
 * @throws {Error} all that is wrong with the list of hosts
 */
export function openOutside(
  { clusterName, callback, slack }: OutsideConfig,
  { clock, log }: OutsideParts,
): RolloutOutside & { close(): Promise<void> } {
  const hosts = parseAllowedHosts(callback.allowedHosts, '-callback-allowed-hosts');
  if (hosts.kind === 'invalid') throw new Error(hosts.problems.map(problemText).join('\n'));
  const { signingKeyFile, attempts, permitsLoopback } = callback;
  const { tokenFile } = slack;
  const sender = createCallbackClient({
    clock,
    logger: log,
    hosts: hosts.value,
    version,
    permitsLoopback,
  });
  return {
    cluster: clusterName,
    callback: {
      sender,
      mostAttempts: attempts,
      random: Math.random,
      signingKey: signingKeyFile === undefined ? undefined : () => keyIn(signingKeyFile),
    },
    slack: {
      open: (token) => createSlackClient({ clock, env: process.env, token, ...slackPlace(slack) }),
      ownToken: tokenFile === undefined ? undefined : () => readFile(tokenFile, 'utf8'),
    },
    close: async () => sender.close(),
  };
}

/** Slack is trusted as the host trusts. */
function slackPlace({ url }: OutsideConfig['slack']): Pick<SlackClientOptions, 'baseUrl' | 'tls'> {
  return { tls: tlsOf({}), ...(url !== undefined && { baseUrl: new URL(url) }) };
}

/** Returns the bytes of a file but for a line break at its end, which editors add. */
async function keyIn(path: string): Promise<Uint8Array> {
  const text = await readFile(path);
  const end = text.at(-1) === 0x0a ? text.length - 1 : text.length;
  return text.subarray(0, end);
}
