import { errorOf } from '#base/error-of.ts';
import { isJsonArray, isJsonObject, type JsonObject } from '#base/json.ts';
import type { CallOptions, Client } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError, isConflict, isNotFound } from '#kubernetes/transport/api-error.ts';
import { objectAt, stringAt } from '#statefulset/parse-fields.ts';

/** Who owns the fields that the tools for `bedrock.yaml` write. */
export const fieldManager = 'rollout-operator-bedrock';

/** Writes that may be overtaken before it is given up. */
const mostAttempts = 5;

/** Where objects are written. */
export interface ApplyPorts {
  readonly client: Client;
  /** How each request is made. */
  readonly call: CallOptions;
  /** Which fields are taken that others have written: all, or those of this program alone. @default all */
  readonly takes?: 'all' | 'own-fields';
}

/** An object has fields that another writes, and that are not taken from it. */
export class ForeignFieldsError extends Error {
  override readonly name = 'ForeignFieldsError';
}

/**
 * Writes the resources of a phase, the budget first, so that it is there before the first pod goes (H-11).
 *
 * @returns the rollout as it was stored
 * @throws {ForeignFieldsError} where others have written fields that are not to be taken; what the client throws
 */
export async function applyPhase(
  [budget, rollout]: readonly [budget: JsonObject, rollout: JsonObject],
  ports: ApplyPorts,
): Promise<KubernetesObject> {
  await applyObject(resourceTypes.podDisruptionBudgets, budget, ports);
  await withdrawStage(rollout, ports);
  return applyObject(resourceTypes.statefulsetRollouts, rollout, ports);
}

/**
 * Takes the stage of an earlier deploy away where this one has none. The deploy API has changed its id since, so that an apply
 * alone would take away the address, and leave the id.
 */
async function withdrawStage(rollout: JsonObject, { client, call }: ApplyPorts): Promise<void> {
  if (objectAt(rollout, 'spec')['bapi'] !== undefined) return;
  const type = resourceTypes.statefulsetRollouts;
  const key = keyOf(rollout);
  try {
    const stored = await client.get(type, key, call);
    if (objectAt(stored, 'spec')['bapi'] === undefined) return;
    const body = { kind: 'merge', document: { spec: { bapi: null } } } as const;
    await client.patch(type, key, { body, fieldManager, ...call });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/**
 * Applies `object` at the server's side, which takes its fields from others that have them: a deploy is the word of who
 * starts it.
 */
async function applyObject(
  type: ResourceType,
  object: JsonObject,
  ports: ApplyPorts,
): Promise<KubernetesObject> {
  const { client, call } = ports;
  const { takes = 'all' } = ports;
  const body = { kind: 'apply', document: object } as const;
  const write = { body, fieldManager, ...call };
  try {
    return await client.patch(type, keyOf(object), { ...write, isForced: takes === 'all' });
  } catch (error) {
    const owners = ownersIn(error);
    const foreign = owners.find((owner) => owner !== fieldManager);
    if (foreign !== undefined) {
      const { namespace, name } = keyOf(object);
      const message = `${type.kind} "${namespace}/${name}" has fields of "${foreign}", which are not taken from it: ${errorOf(error).message}`;
      throw new ForeignFieldsError(message, { cause: error });
    }
    // What this program has patched since is owned by it as well, under another operation.
    if (owners.length > 0) return client.patch(type, keyOf(object), { ...write, isForced: true });
    // Servers that keep no book of fields, as the embedded one, say so.
    if (!(error instanceof ApiError) || error.status !== 415) throw error;
    return createOrReplace(type, object, ports);
  }
}

/** Returns who has the fields that an apply did not get; none where it failed for something else. */
function ownersIn(error: unknown): readonly string[] {
  if (!isConflict(error) || !(error instanceof ApiError)) return [];
  const { causes } = error.details;
  if (!isJsonArray(causes)) return [];
  return causes.flatMap((cause) => {
    if (!isJsonObject(cause) || cause['reason'] !== 'FieldManagerConflict') return [];
    const text = stringAt(cause, 'message') ?? '';
    return [/^conflict with "([^"]*)"/.exec(text)?.[1] ?? text];
  });
}

async function createOrReplace(
  type: ResourceType,
  object: JsonObject,
  { client, call }: ApplyPorts,
): Promise<KubernetesObject> {
  const key = keyOf(object);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const stored = await client.get(type, key, call);
      return await client.replace(type, key, { body: merged(stored, object), ...call });
    } catch (error) {
      if (isNotFound(error))
        return client.create(type, key, { body: object, fieldManager, ...call });
      if (!isConflict(error) || attempt === mostAttempts) throw error;
    }
  }
}

/** Keeps what others have put into the metadata. */
function merged(stored: KubernetesObject, wanted: JsonObject): JsonObject {
  const { metadata } = stored;
  const { labels, annotations } = objectAt(wanted, 'metadata');
  return {
    ...stored,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...(isJsonObject(labels) && labels) },
      annotations: { ...metadata.annotations, ...(isJsonObject(annotations) && annotations) },
    },
    spec: wanted['spec'],
  };
}

/** Returns the key of an object that is about to be written. */
export function keyOf(object: JsonObject): { readonly namespace: string; readonly name: string } {
  const metadata = objectAt(object, 'metadata');
  return {
    namespace: stringAt(metadata, 'namespace') ?? 'default',
    name: stringAt(metadata, 'name') ?? '',
  };
}
