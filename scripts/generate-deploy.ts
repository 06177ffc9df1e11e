/**
 * Writes deploy/: what a cluster needs to run the operator in one namespace. The Role is the sum of what each
 * capability states next to its code. What names its namespace is written there for that of the examples.
 *
 *     npm run do manifests
 *     npm run -s do -- manifests <namespace> [<image> [all]] | kubectl apply -n <namespace> -f -
 *
 * The second form writes no file: it prints the operator with its webhooks for another namespace; with `all`, the one that
 * runs every capability.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorOf } from '#base/error-of.ts';
import type { Permission } from '#kubernetes/authorization/permission.ts';
import { allObjects } from './install/all-files.ts';
import { builtImage } from './install/deployment.ts';
import { documents, header, placed, reasons } from './install/manifest-text.ts';
import { deployFiles, exampleFile, exampleNamespace } from './install/operator-files.ts';
import { phasedRolloutObjects, phasedRolloutReasons } from './install/phased-rollout-files.ts';
import {
  statefulsetRolloutObjects,
  statefulsetRolloutReasons,
} from './install/statefulset-rollout-files.ts';
import { zoneAwareObjects, zoneAwareReasons } from './install/zone-aware-files.ts';

/** Returns the manifests of deploy/phased-rollout by file name. */
export function phasedRolloutFiles(image: string): Readonly<Record<string, string>> {
  return managerFiles(phasedRolloutObjects(image), phasedRolloutReasons);
}

/** Returns the manifests of deploy/zone-aware-controllers by file name. */
export function zoneAwareFiles(image: string): Readonly<Record<string, string>> {
  return managerFiles(zoneAwareObjects(image), zoneAwareReasons);
}

/** Returns the manifests of deploy/statefulset-rollout by file name. */
export function statefulsetRolloutFiles(image: string): Readonly<Record<string, string>> {
  return managerFiles(statefulsetRolloutObjects(image), statefulsetRolloutReasons);
}

function managerFiles(
  files: Readonly<Record<string, readonly object[]>>,
  permissions: readonly Permission[],
): Readonly<Record<string, string>> {
  const because = reasons(permissions);
  return Object.fromEntries(
    Object.entries(files).map(([file, objects]) => [
      file,
      `${header}${file === 'operator.yaml' ? because : ''}${documents(objects)}`,
    ]),
  );
}

/** Returns the manifests of deploy/all by file name. */
export function allFiles(
  image: string,
  namespace: string = exampleNamespace,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(allObjects(image, namespace)).map(([file, { objects, permissions }]) => {
      const where = JSON.stringify(objects).includes(namespace)
        ? placed(namespace, ' <image> all')
        : '';
      const why = permissions.length === 0 ? '' : reasons(permissions);
      return [file, `${header}${where}${why}${documents(objects)}`];
    }),
  );
}

/** The version of the program, from package.json. */
export function programVersion(root: string): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

/** Returns all of an operator with its webhooks, for `kubectl apply -n namespace`; what starts it comes last. */
export function operatorWithWebhooks(image: string, namespace: string): string {
  return joined(webhookFiles(image, namespace));
}

/** The same for an operator that runs every capability. */
export function operatorOfAll(image: string, namespace: string): string {
  const common = webhookFiles(image, namespace).slice(0, -1);
  const { 'deployment.yaml': last = '', ...others } = allFiles(image, namespace);
  const phased = phasedRolloutFiles(image)['definition.yaml'] ?? '';
  const zones = zoneAwareFiles(image)['definitions.yaml'] ?? '';
  const carriers = statefulsetRolloutFiles(image)['definition.yaml'] ?? '';
  return joined([...common, phased, zones, carriers, ...Object.values(others), last]);
}

function joined(texts: readonly string[]): string {
  return texts.join('---\n');
}

/** What starts it comes last. */
function webhookFiles(image: string, namespace: string): readonly string[] {
  if (!/^(?!-)[-a-z\d]{1,63}(?<!-)$/.test(namespace)) {
    throw new Error(
      `The namespace must be lower case letters, digits and "-" within, 63 at most: got "${namespace}"`,
    );
  }
  const files = deployFiles(image, namespace);
  const last = 'deployment-with-webhooks.yaml';
  const apart = ['deployment.yaml', exampleFile, last];
  const first = Object.keys(files).filter((file) => !apart.includes(file));
  return [...first, last].map((file) => files[file] ?? '');
}

function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  const path = join(import.meta.dirname, '..', folder);
  mkdirSync(path, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const [namespace, image = builtImage(programVersion(root)), what] = process.argv.slice(2);
  if (namespace === undefined) {
    writeFiles('deploy', deployFiles(image));
    writeFiles('deploy/phased-rollout', phasedRolloutFiles(image));
    writeFiles('deploy/zone-aware-controllers', zoneAwareFiles(image));
    writeFiles('deploy/statefulset-rollout', statefulsetRolloutFiles(image));
    writeFiles('deploy/all', allFiles(image));
  } else {
    try {
      const print = what === 'all' ? operatorOfAll : operatorWithWebhooks;
      process.stdout.write(print(image, namespace));
    } catch (error) {
      process.stderr.write(`${errorOf(error).message}\n`);
      process.exitCode = 1;
    }
  }
}
