/** What is to be done about a refusal of Slack. */
export type Remedy =
  /** Wait, then send what is newest. */
  | 'wait'
  /** The message cannot be changed any more: another one takes its place. */
  | 'post-anew'
  /** The token may have been renewed. */
  | 'read-token'
  /** Nothing will go until a person does something. */
  | 'stop'
  /** Slack takes the blocks not: the same as text. */
  | 'send-plain'
  /** It may pass. */
  | 'try-again';

const remedies: ReadonlyMap<string, Remedy> = new Map<string, Remedy>([
  ['ratelimited', 'wait'],
  ['rate_limited', 'wait'],
  ['message_not_found', 'post-anew'],
  ['cant_update_message', 'post-anew'],
  ['edit_window_closed', 'post-anew'],
  ['thread_not_found', 'post-anew'],
  ['invalid_auth', 'read-token'],
  ['token_expired', 'read-token'],
  ['not_authed', 'stop'],
  ['token_revoked', 'stop'],
  ['account_inactive', 'stop'],
  ['missing_scope', 'stop'],
  ['no_permission', 'stop'],
  ['access_denied', 'stop'],
  ['not_allowed_token_type', 'stop'],
  ['org_login_required', 'stop'],
  ['team_access_not_granted', 'stop'],
  ['ekm_access_denied', 'stop'],
  ['restricted_action', 'stop'],
  ['restricted_action_read_only_channel', 'stop'],
  ['channel_not_found', 'stop'],
  ['not_in_channel', 'stop'],
  ['is_archived', 'stop'],
  ['msg_too_long', 'send-plain'],
  ['msg_blocks_too_long', 'send-plain'],
  ['invalid_blocks', 'send-plain'],
  ['invalid_blocks_format', 'send-plain'],
]);

/** Returns what is to be done about `error`, a word of Slack; one that is not known may pass, but is not tried for ever. */
export function remedyOf(error: string): Remedy {
  return remedies.get(error) ?? 'try-again';
}
