/** Writes docs/labels-and-annotations.md from the table of keys of a StatefulSet. */
import { writeFileSync } from 'node:fs';
import { type KnownKey, knownKeys } from '../../src/statefulset/known-keys.ts';

/** The page on what a room does. */
const pages: Readonly<Record<KnownKey['owner'], string>> = {
  'rollout-group': 'rollout-groups.md',
  'replica-coordination': 'scaling.md',
  admission: 'admission-webhooks.md',
  'phased-rollout': 'phased-rollout.md',
  'statefulset-rollout': 'statefulset-rollout.md',
};

const writers: Readonly<Record<KnownKey['writtenBy'], string>> = {
  people: 'you',
  webhook: 'the webhook that prepares down-scales',
  operator: 'the operator, as a mark; leave it alone',
};

/** The text of docs/labels-and-annotations.md. */
export function keysPage(): string {
  return [
    '# Labels and annotations of a StatefulSet',
    '',
    'Generated from `src/statefulset/known-keys.ts` by `npm run do keys`.',
    '',
    'The keys that mean something in the metadata of a StatefulSet; its pod template is not asked for them. In the other map a key has no effect, and if it is one',
    'that you write, a Warning says so ([`MisplacedKey`](reasons.md)). One that was formerly in the other map is still read there, where the right one has no text.',
    '',
    '| Key | Is a | Says of the set | Written by | More |',
    '|---|---|---|---|---|',
    ...Object.entries<KnownKey>(knownKeys).map(([key, known]) => row(key, known)),
    '',
  ].join('\n');
}

const kinds: Readonly<Record<KnownKey['map'], string>> = {
  labels: 'label',
  annotations: 'annotation',
};

function row(key: string, { map, formerMap, owner, writtenBy, says }: KnownKey): string {
  const page = pages[owner];
  const former = formerMap === undefined ? '' : `, formerly a ${kinds[formerMap]}`;
  const kind = `${kinds[map]}${former}`;
  return `| \`${key}\` | ${kind} | ${says} | ${writers[writtenBy]} | [${page}](${page}) |`;
}

if (import.meta.main) {
  writeFileSync(new URL('../../docs/labels-and-annotations.md', import.meta.url), keysPage());
}
