import { stringify } from 'yaml';
import type { JsonObject } from '#base/json.ts';
import type { OutputOptions } from '../options/convert-options.ts';
import type { ConvertedPhase } from './convert-file.ts';

/** A file to write below the folder of `--out`. */
export interface OutputFile {
  /** Relative; at most one folder, then the name. */
  readonly path: string;
  readonly text: string;
}

/** Returns `resources` in their order: YAML documents, or one JSON list as kubectl takes it. Ends in a line break. */
export function resourcesText(
  resources: readonly JsonObject[],
  format: OutputOptions['format'],
): string {
  if (format === 'json')
    return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: resources }, null, 2)}\n`;
  // In the way of 1.1, which readers of Kubernetes follow: what they would take for a truth value or octal is in quotes.
  const options = { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false } as const;
  return resources.map((each) => `---\n${stringify(each, options)}`).join('');
}

/** Returns one file for each phase, and all of them in a folder for each cluster where there are several (H-13, H-17). */
export function outputFiles(
  phases: readonly ConvertedPhase[],
  clusters: readonly string[],
  format: OutputOptions['format'],
): readonly OutputFile[] {
  const folders = clusters.length > 1 ? clusters.map((cluster) => `${cluster}/`) : [''];
  const files = phases.map(({ percent, resources }) => ({
    name: `phase-${String(percent).padStart(3, '0')}.${format}`,
    text: resourcesText(resources, format),
  }));
  return folders.flatMap((folder) =>
    files.map(({ name, text }) => ({ path: `${folder}${name}`, text })),
  );
}
