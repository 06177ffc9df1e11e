import { createHash } from 'node:crypto';
import { linesWithin, moreText } from './slack-text.ts';

/** Text of a header. */
interface PlainText {
  readonly type: 'plain_text';
  readonly text: string;
  readonly emoji: true;
}

/** Text with marks; verbatim, so that Slack makes no links of what looks like an address or a channel. */
interface Markdown {
  readonly type: 'mrkdwn';
  readonly text: string;
  readonly verbatim: true;
}

/** The kinds of blocks that messages are made of here. */
export type SlackBlock =
  | { readonly type: 'header'; readonly text: PlainText }
  | { readonly type: 'section'; readonly text: Markdown }
  | { readonly type: 'section'; readonly fields: readonly Markdown[] }
  | { readonly type: 'context'; readonly elements: readonly Markdown[] };

/** What a message shows. */
export interface SlackMessage {
  /** What a notification shows, and a screen reader reads. */
  readonly text: string;
  /** None where only `text` is shown. */
  readonly blocks: readonly SlackBlock[];
}

/** What a message is to show. */
export interface SlackContent extends SlackMessage {
  /** Equal for contents that say the same, though at another time. */
  readonly hash: string;
}

/**
 * What Slack takes, in UTF-16 units. The last one is in no reference: lists of blocks with about 13,000 characters are
 * refused although each block is legal.
 *
 * @see https://docs.slack.dev/reference/block-kit/blocks
 * @see https://github.com/slackapi/bolt-js/issues/2509
 */
export const slackLimits = {
  blocks: 50,
  section: 3_000,
  fields: 10,
  field: 2_000,
  header: 150,
  elements: 10,
  text: 3_000,
  wholeMessage: 12_000,
} as const;

/** Returns a header; `text` is escaped, and short enough. */
export function header(text: string): SlackBlock {
  return { type: 'header', text: { type: 'plain_text', text, emoji: true } };
}

/** Returns a section of lines, each escaped; those that do not fit are counted in the last one. */
export function section(lines: readonly string[]): SlackBlock {
  return { type: 'section', text: markdown(linesWithin(lines, slackLimits.section)) };
}

/** Returns a section of short texts in two columns, each escaped and short enough. */
export function fieldsSection(fields: readonly string[]): SlackBlock {
  return { type: 'section', fields: fields.slice(0, slackLimits.fields).map(markdown) };
}

/** Returns small texts side by side, each escaped and short enough. */
export function context(elements: readonly string[]): SlackBlock {
  return { type: 'context', elements: elements.slice(0, slackLimits.elements).map(markdown) };
}

function markdown(text: string): Markdown {
  return { type: 'mrkdwn', text, verbatim: true };
}

/** Returns all texts of a block, in the order in which they are read. */
export function textsOf(block: SlackBlock): readonly string[] {
  if (block.type === 'context') return block.elements.map(({ text }) => text);
  if ('fields' in block) return block.fields.map(({ text }) => text);
  return [block.text.text];
}

/**
 * Returns a message that Slack takes: blocks from the front, as many as one message may have. Those left out are counted in
 * the last one.
 */
export function messageOf(text: string, blocks: readonly SlackBlock[]): SlackMessage {
  const kept: SlackBlock[] = [];
  const more = context([moreText(blocks.length)]);
  let length = text.length + moreText(blocks.length).length;
  for (const block of blocks) {
    length += textsOf(block).join('').length;
    if (length > slackLimits.wholeMessage) break;
    kept.push(block);
  }
  const fits = kept.length === blocks.length && kept.length <= slackLimits.blocks;
  if (fits) return { text, blocks: kept };
  const shown = kept.slice(0, slackLimits.blocks - 1);
  const left = blocks.length - shown.length;
  return { text, blocks: [...shown, left === blocks.length ? more : context([moreText(left)])] };
}

/** Returns the message with the hash of what it says. @param told what of it counts as a change */
export function contentOf(message: SlackMessage, told: SlackMessage = message): SlackContent {
  const { text, blocks } = told;
  const hash = createHash('sha256')
    .update(JSON.stringify([text, blocks]))
    .digest('base64url');
  return { ...message, hash: hash.slice(0, 16) };
}

/**
 * Returns the message without blocks, all that they show in lines: for where Slack takes the blocks not. As long as one
 * section may be; what does not fit is counted in the last line.
 */
export function plainMessage({ text, blocks }: SlackMessage): SlackMessage {
  const lines = blocks.flatMap((block) =>
    block.type === 'context'
      ? [textsOf(block).join(' · ')]
      : textsOf(block).flatMap((each) => ('fields' in block ? [inOneLine(each)] : lineList(each))),
  );
  const shown = lines.length === 0 ? [text] : lines;
  return { text: linesWithin(shown, slackLimits.text), blocks: [] };
}

function inOneLine(field: string): string {
  return field.replace('\n', ': ');
}

function lineList(text: string): readonly string[] {
  return text.split('\n');
}
