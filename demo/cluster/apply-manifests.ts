import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { discoverTypes } from '#cluster/controllers/discover-types.ts';
import { textAt } from '#cluster/json/read-json.ts';
import type { Client } from '#kubernetes/client.ts';
import { apiVersionOf } from '#kubernetes/resource-type.ts';
import { asApplied, inOrderOfCreation, parseManifests } from './manifest.ts';

const examples = join(import.meta.dirname, '../../examples');

/** The manifests of a group that rolls. */
export const exampleFolder: string = join(examples, 'ingester');

/** The manifests of a group that an autoscaler scales. */
export const downscaleFolder: string = join(examples, 'ingester-delayed-downscale');

/** The manifests of a group whose scale-downs are reviewed. */
export const webhookFolder: string = join(examples, 'ingester-webhooks');

/** The manifests of a group under a disruption budget. */
export const drainFolder: string = join(examples, 'ingester-disruption-budget');

/** The manifests of its budget, under which all of a zone is one. */
export const budgetFolder: string = join(drainFolder, 'zone-mode');

/**
 * Reads all objects of the `.yaml` files of `folder`, in the order in which to create them.
 *
 * @throws {Error} naming what is wrong
 */
export async function readManifests(folder: string): Promise<readonly JsonObject[]> {
  const names = (await readdir(folder)).filter((name) => /\.ya?ml$/.test(name)).toSorted();
  if (names.length === 0) throw new Error(`Cannot apply ${folder}: it has no .yaml files`);
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      return parseManifests(path, await readFile(path, 'utf8'));
    }),
  );
  return inOrderOfCreation(files.flat());
}

/** Creates `objects` one after the other, as `kubectl apply` would. @throws {ApiError} for the first that the server refuses */
export async function createAll(client: Client, objects: readonly JsonObject[]): Promise<void> {
  const served = await discoverTypes(client);
  for (const object of objects) {
    const kind = textAt(object, 'kind');
    const apiVersion = textAt(object, 'apiVersion');
    const type = served.find(
      ({ type }) => type.kind === kind && apiVersionOf(type) === apiVersion,
    )?.type;
    if (type === undefined) {
      const name = textAt(object, 'metadata', 'name');
      throw new Error(
        `Cannot create ${kind} "${name}": no matches for kind "${kind}" in version "${apiVersion}", as the cluster does not serve what nothing on it would act on`,
      );
    }
    const namespace = textAt(object, 'metadata', 'namespace') || 'default';
    await client.create(type, type.isNamespaced ? { namespace } : {}, { body: asApplied(object) });
  }
}

/** How often the server is asked whether it serves a new type. */
const discoveryPause = millis(20);

/** Creates `definitions` of custom resources, and waits until the server serves them. */
export async function install(
  client: Client,
  definitions: readonly JsonObject[],
  clock: Clock,
): Promise<void> {
  if (definitions.length === 0) return;
  await createAll(client, definitions);
  const wanted = definitions.map((definition) => textAt(definition, 'spec', 'names', 'kind'));
  for (let tries = 0; tries < 500; tries += 1) {
    const kinds = new Set((await discoverTypes(client)).map(({ type }) => type.kind));
    if (wanted.every((kind) => kinds.has(kind))) return;
    await clock.sleep(discoveryPause);
  }
  throw new Error(`Cannot go on: the cluster does not serve ${wanted.join(', ')} after 10 s`);
}
