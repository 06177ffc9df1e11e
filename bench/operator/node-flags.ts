import { readFileSync } from 'node:fs';

/**
 * The flags of Node that `npm run operator` starts the program with: what is measured is started as it is shipped.
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
