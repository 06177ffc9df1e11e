/** The folder that a build is written into, and when it may be emptied: never when it has what another put there. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Lists what a build wrote; no image has it. */
export const buildManifest = '.rollout-operator-build.json';

const maker = 'rollout-operator: npm run do build';

/** Notes in `folder` that a build made it, and that `files` are its. */
export function noteBuild(folder: string, files: readonly string[]): void {
  const noted = { madeBy: maker, files: files.toSorted() };
  writeFileSync(join(folder, buildManifest), `${JSON.stringify(noted, undefined, 2)}\n`);
}

/** Makes sure that emptying `folder` loses nothing but an earlier build. @throws {Error} that says what would be lost */
export function demandOwnFolder(folder: string): void {
  if (!existsSync(folder)) return;
  const own = new Set([buildManifest, ...notedIn(folder)]);
  const others = readdirSync(folder).filter((name) => !own.has(name));
  if (others.length === 0) return;
  const more = others.length > 3 ? ` and ${others.length - 3} more` : '';
  throw new Error(
    `Cannot build into ${folder}, as what it has would be lost, and no build of this program wrote it: ${others.slice(0, 3).join(', ')}${more}. Name another folder with --out, or remove them`,
  );
}

/** What an earlier build wrote there; nothing where none did. */
function notedIn(folder: string): readonly string[] {
  const path = join(folder, buildManifest);
  if (!existsSync(path)) return [];
  try {
    const { madeBy, files } = JSON.parse(readFileSync(path, 'utf8')) as {
      readonly madeBy?: unknown;
      readonly files?: unknown;
    };
    return madeBy === maker && Array.isArray(files) ? files.map(String) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
