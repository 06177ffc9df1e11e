import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isConflict, isNotFound } from '#kubernetes/transport/api-error.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import { fieldManager } from '../bedrock/deploy/apply-resources.ts';
import { type DeployRecord, deployLabel, formatRecord, recordAnnotation } from './deploy-record.ts';
import { recordOf } from './parse-deploy-record.ts';

/** Where deploys are made, looked for and changed: in these namespaces alone, or in all. */
export type AllowedNamespaces = readonly string[] | 'all';

/** A deploy as it is in the cluster. */
export interface StoredDeploy {
  readonly object: KubernetesObject;
  readonly record: DeployRecord;
}

/** A change of a deploy: its record, and the fields of the spec that change with it. */
export interface DeployChange {
  readonly record: DeployRecord;
  readonly spec: JsonObject;
}

/** What a change is made of, or the answer that there is none. */
export type Decided<Answer> =
  | { readonly kind: 'change'; readonly change: DeployChange }
  | { readonly kind: 'none'; readonly answer: Answer };

const type = resourceTypes.statefulsetRollouts;
const timeout = seconds(8);
/** The operator writes the status all the time, and each write is another version. */
const mostAttempts = 8;

/** A deploy that others changed so often that no change of ours came through. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** Reads and writes deploys; remembers nothing, so that a restart loses nothing. */
export class DeployStore {
  readonly #client: Client;

  readonly #namespaces: AllowedNamespaces;

  constructor(client: Client, namespaces: AllowedNamespaces) {
    this.#client = client;
    this.#namespaces = namespaces;
  }

  /** Reports whether deploys may be in `namespace`. */
  isAllowed(namespace: string): boolean {
    return this.#namespaces === 'all' || this.#namespaces.includes(namespace);
  }

  /** Returns the deploy that a StatefulsetRollout is of; undefined where it is of none, or is not there. @throws what the client throws */
  async at(key: {
    readonly namespace: string;
    readonly name: string;
  }): Promise<StoredDeploy | undefined> {
    try {
      return deployIn(await this.#client.get(type, key, { timeout }));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Returns the deploy `id`; undefined where there is none any more. @throws what the client throws */
  async find(id: string): Promise<StoredDeploy | undefined> {
    const labelSelector = `${deployLabel}=${id}`;
    const scopes = this.#namespaces === 'all' ? [undefined] : this.#namespaces;
    const lists = await Promise.all(
      scopes.map((namespace) => {
        const query = { labelSelector, ...(namespace !== undefined && { namespace }) };
        return this.#client.list(type, query, { timeout });
      }),
    );
    const found = lists.flatMap(({ items }) => items.flatMap((object) => deployIn(object) ?? []));
    return found.find(({ record }) => record.id === id);
  }

  /**
   * Changes the deploy `id` by compare-and-swap: what is decided is decided on what is stored.
   *
   * @returns the deploy after the change, the answer in place of a change, or undefined where there is no such deploy
   * @throws {BusyError} or what the client throws
   */
  async change<Answer>(
    id: string,
    decide: (deploy: StoredDeploy) => Decided<Answer>,
  ): Promise<
    | { readonly kind: 'changed'; readonly deploy: StoredDeploy }
    | { readonly kind: 'none'; readonly answer: Answer }
    | undefined
  > {
    for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
      const found = await this.find(id);
      if (found === undefined) return undefined;
      const decided = decide(found);
      if (decided.kind === 'none') return decided;
      const object = await this.#write(found.object, decided.change);
      if (object !== undefined)
        return { kind: 'changed', deploy: { object, record: decided.change.record } };
    }
    throw new BusyError('The deploy is changed by others all the time: try again');
  }

  /** Writes the stage. @returns undefined where it has changed meanwhile */
  async #write(
    { metadata }: KubernetesObject,
    { record, spec }: DeployChange,
  ): Promise<KubernetesObject | undefined> {
    const { name, namespace = 'default', resourceVersion } = metadata;
    const annotations = { [recordAnnotation]: formatRecord(record) };
    const document = { metadata: { resourceVersion, annotations }, spec };
    const body = { kind: 'merge', document } as const;
    try {
      return await this.#client.patch(type, { namespace, name }, { body, fieldManager, timeout });
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return undefined;
      throw error;
    }
  }
}

function deployIn(object: KubernetesObject): StoredDeploy | undefined {
  const record = recordOf(object);
  return record !== undefined && isInPlace(object, record) ? { object, record } : undefined;
}

/** Reports whether the stage is as recorded: to deploy by other means leaves the record behind, and takes the stage away. */
function isInPlace(object: KubernetesObject, { phases, current }: DeployRecord): boolean {
  const { stageId } = objectAt(objectAt(object, 'spec'), 'bapi');
  return stageId === phases[current]?.stageId;
}
