/**
 * Writes the Helm chart and the kustomize bases, deploy/chart and deploy/kustomize, from what scripts/generate-deploy.ts
 * writes the rest of deploy/ from.
 *
 *     npm run do chart
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { programVersion } from './generate-deploy.ts';
import { chartFiles, handWritten } from './install/chart-files.ts';
import { kustomizeFiles } from './install/kustomize-files.ts';

const chart = 'chart/rollout-operator';

/** The generated files by their paths in deploy/. @param version of the program */
export function installFiles(version: string): Readonly<Record<string, string>> {
  return {
    ...inFolder(chart, chartFiles(version)),
    ...inFolder('kustomize', kustomizeFiles(version)),
  };
}

function inFolder(
  folder: string,
  files: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]),
  );
}

/** Files in deploy/ that are next to them, and are not generated. */
export const besideThem: readonly string[] = handWritten.map((file) => `${chart}/${file}`);

/** What deploy/chart and deploy/kustomize hold, by paths in deploy/. */
export function storedFiles(deploy: string): readonly string[] {
  return ['chart', 'kustomize'].flatMap((folder) =>
    readdirSync(join(deploy, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(deploy.length + 1)),
  );
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const deploy = join(root, 'deploy');
  const files = installFiles(programVersion(root));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(deploy, file)), { recursive: true });
    writeFileSync(join(deploy, file), text);
  }
  for (const file of storedFiles(deploy)) {
    if (!(file in files) && !besideThem.includes(file)) rmSync(join(deploy, file));
  }
}
