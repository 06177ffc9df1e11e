import { readFileSync } from 'node:fs';
import { tasks } from '../../scripts/tasks/tasks.ts';

/**
 * The flags of Node that `npm run do operator` starts the program with: what is measured is started as it is shipped.
 *
 * @throws when the command of the task has another form
 */
export function shippedNodeFlags(): readonly string[] {
  const command = tasks.get('operator')?.command ?? '';
  const flags = /with-node\.sh ((?:--\S+ )*)src\/main\.ts$/.exec(command)?.[1];
  if (flags === undefined) {
    throw new Error(`Cannot find the flags of Node in the task "operator": got "${command}"`);
  }
  return flags.split(' ').filter((flag) => flag !== '');
}

/**
 * The variables that the image sets, by its Dockerfile.
 *
 * @throws when the Dockerfile sets them in another form
 */
export function imageEnvironment(): Readonly<Record<string, string>> {
  const text = readFileSync(new URL('../../deploy/image/Dockerfile', import.meta.url), 'utf8');
  const set = /^ENV (?<lines>(?:.*\\\n)*.*)$/m.exec(text)?.groups?.['lines'] ?? '';
  const found = [...set.matchAll(/\b(?<name>\w+)="(?<value>[^"]*)"/g)];
  if (found.length === 0)
    throw new Error('Cannot find the variables of the image in its Dockerfile');
  return Object.fromEntries(
    found.map(({ groups }) => [groups?.['name'] ?? '', groups?.['value'] ?? '']),
  );
}
