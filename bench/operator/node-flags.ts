import { readFileSync } from 'node:fs';

/**
 * The flags of Node that `npm run do operator` starts the program with: what is measured is started as it is shipped.
 *
 * @throws when the script of package.json has another form
 */
export function shippedNodeFlags(): readonly string[] {
  const url = new URL('../../package.json', import.meta.url);
  const { scripts } = JSON.parse(readFileSync(url, 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const flags = /with-node\.sh ((?:--\S+ )*)src\/main\.ts$/.exec(scripts['operator'] ?? '')?.[1];
  if (flags === undefined) {
    throw new Error(
      `Cannot find the flags of Node in the script "operator" of package.json: got ${JSON.stringify(scripts['operator'])}`,
    );
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
