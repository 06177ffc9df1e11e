/**
 * Renders deploy/mixin into deploy/mixin/rendered. The tests beside it try every expression with promtool, and against
 * scrapes of the program.
 *
 *     npm run do mixin
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findJsonnet, run } from './tools.ts';

const folder = fileURLToPath(new URL('../../deploy/mixin', import.meta.url));

/** Where the rendered files are. */
export const renderedFolder = join(folder, 'rendered');

const head = '# Rendered from deploy/mixin by `npm run do mixin`; change that instead.\n';

/** The value of a jsonnet expression that may import `mixin.libsonnet`. @throws what jsonnet has to say against it */
export async function evaluated(
  expression: string,
  options: readonly string[] = [],
): Promise<string> {
  const path = await findJsonnet(process.env);
  const args = [...options, '--jpath', folder, '--exec', expression];
  const { code, stdout, stderr } = await run({ path, args });
  if (code !== 0) throw new Error(`jsonnet cannot evaluate ${expression}: ${stderr}`);
  return stdout;
}

/** The rendered files by their path in the folder. */
export async function renderedFiles(): Promise<ReadonlyMap<string, string>> {
  const mixin = "(import 'mixin.libsonnet')";
  const yaml = `std.manifestYamlDoc(${mixin}.prometheusAlerts, indent_array_in_object=true, quote_keys=false)`;
  const [alerts, dashboards] = await Promise.all([
    evaluated(yaml, ['--string']),
    evaluated(`${mixin}.grafanaDashboards`),
  ]);
  const files = Object.entries(JSON.parse(dashboards) as Readonly<Record<string, object>>).map(
    ([name, dashboard]) =>
      [join('dashboards', name), `${JSON.stringify(dashboard, undefined, 2)}\n`] as const,
  );
  return new Map([['alerts.yaml', `${head}${alerts}`], ...files]);
}

/** The files that are stored, by their path in the folder. */
export async function storedFiles(): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(renderedFolder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path.slice(renderedFolder.length + 1), await readFile(path, 'utf8')] as const;
  });
  return new Map(await Promise.all(texts));
}

if (import.meta.main) {
  const files = await renderedFiles();
  await rm(renderedFolder, { recursive: true, force: true });
  for (const [name, content] of files) {
    const path = join(renderedFolder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  process.stdout.write(`${[...files.keys()].toSorted().join('\n')}\n`);
}
