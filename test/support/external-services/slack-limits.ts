/** A block as it came, no matter who made it. */
type Sent = Readonly<Record<string, unknown>>;

const blockTypes: Readonly<Record<string, (block: Sent) => readonly string[]>> = {
  header: (block) => textProblems(block['text'], { longest: 150, type: 'plain_text' }),
  section: (block) => [
    ...(block['text'] === undefined ? [] : textProblems(block['text'], { longest: 3_000 })),
    ...listProblems(block['fields'], { most: 10, longest: 2_000 }),
    ...(block['text'] === undefined && block['fields'] === undefined ? ['section is empty'] : []),
  ],
  context: (block) => [
    ...(Array.isArray(block['elements']) ? [] : ['context has no elements']),
    ...listProblems(block['elements'], { most: 10, longest: 3_000 }),
  ],
};

/**
 * Returns what Slack would not take of `blocks`, one sentence each. Written from its reference, and not from what builds
 * messages, so that each judges the other.
 *
 * @see https://docs.slack.dev/reference/block-kit/blocks
 */
export function blockProblems(blocks: readonly unknown[]): readonly string[] {
  const many = blocks.length > 50 ? [`${blocks.length} blocks`] : [];
  return [
    ...many,
    ...blocks.flatMap((block) => {
      const { type } = block as Sent;
      const judge = blockTypes[String(type)];
      return judge === undefined ? [`unknown block ${String(type)}`] : judge(block as Sent);
    }),
  ];
}

/** Returns the units of all texts in `blocks`. */
export function lengthOf(blocks: unknown): number {
  if (typeof blocks !== 'object' || blocks === null) return 0;
  return Object.entries(blocks).reduce(
    (sum, [name, value]) =>
      sum + (name === 'text' && typeof value === 'string' ? value.length : lengthOf(value)),
    0,
  );
}

/**
 * Returns all links, mentions and dates of a text: what is between angle brackets, which nothing that was escaped does.
 */
export function tokensIn(text: string): readonly string[] {
  return text.match(/<[^>]*>?/g) ?? [];
}

interface TextLimits {
  readonly longest: number;
  readonly type?: string;
}

function listProblems(
  list: unknown,
  { most, longest }: { readonly most: number; readonly longest: number },
): readonly string[] {
  if (list === undefined) return [];
  if (!Array.isArray(list) || list.length === 0 || list.length > most) return ['list is too long'];
  return list.flatMap((each) => textProblems(each, { longest }));
}

function textProblems(object: unknown, { longest, type }: TextLimits): readonly string[] {
  const { text, type: is } = (object ?? {}) as Sent;
  if (type !== undefined && is !== type) return [`text is ${String(is)}`];
  if (is !== 'plain_text' && is !== 'mrkdwn') return [`text is ${String(is)}`];
  if (typeof text !== 'string' || text.length === 0) return ['text is empty'];
  return text.length > longest ? [`text has ${text.length} of ${longest}`] : [];
}
