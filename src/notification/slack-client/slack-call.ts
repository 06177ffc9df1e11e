import type { Millis } from '#base/units.ts';
import type { SlackMessage } from '../slack-message/slack-blocks.ts';

/** What every call says. */
interface CallParts {
  /** Which message of which rollout it is about; see {@link settle}. */
  readonly thread: string;
  /** 0 for the summary, 1 for the first page. */
  readonly page: number;
  /** Of the content that it sends. */
  readonly hash: string;
  /** Names the token; never the token itself. */
  readonly account: string;
  /** Whether Slack did not take the token: it is to be read again. */
  readonly isTokenDoubted: boolean;
  readonly message: SlackMessage;
}

/** One call of Slack's API. */
export type SlackCall =
  | (CallParts & {
      readonly kind: 'post';
      /** `#name`, or the id of a conversation. */
      readonly channel: string;
      /** The summary below which it is; absent for a summary. */
      readonly threadTs?: string;
      /** Whose message it is, for tools that look for twins. */
      readonly metadata: { readonly uid: string; readonly key: string };
    })
  | (CallParts & {
      readonly kind: 'update';
      /** The id of a conversation: a name is not taken here. */
      readonly channel: string;
      readonly ts: string;
    });

/** What came of a call. */
export type SlackResult =
  | { readonly kind: 'ok'; readonly channel: string; readonly ts: string }
  | { readonly kind: 'rate-limited'; readonly retryAfter: Millis | undefined }
  /** Slack's word for why not. */
  | { readonly kind: 'refused'; readonly error: string }
  /** No answer, or none of Slack's. */
  | { readonly kind: 'unreachable'; readonly message: string }
  /** Nothing was sent. */
  | { readonly kind: 'no-token' };
