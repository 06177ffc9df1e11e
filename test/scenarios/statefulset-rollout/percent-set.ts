/** What a scenario of StatefulsetRollouts does with its resource and the set `db`, and how it tells where they stand. */
import assert from 'node:assert/strict';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { apiVersionOf, type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import type { Method } from '#kubernetes/transport/transport.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import type { Answer, Env } from '../env.ts';

const rollouts = resourceTypes.statefulsetRollouts;
const labels = { app: 'db' };

/** The pod template of the usual set. */
export function templateOf(image: string, more: JsonObject = {}): JsonObject {
  return {
    metadata: { labels },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', image, ...more }],
    },
  };
}

/** The set `db` as a resource carries it, with these fields of its spec. */
export function carried(image: string, more: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db' },
    spec: {
      replicas: 4,
      podManagementPolicy: 'Parallel',
      serviceName: 'db',
      selector: { matchLabels: labels },
      template: templateOf(image),
      ...more,
    },
  };
}

/** A StatefulsetRollout of {@link carried} to all of its pods, with these fields of its spec. */
export function rolloutOf(image: string, spec: JsonObject = {}, name = 'db'): JsonObject {
  return {
    apiVersion: apiVersionOf(rollouts),
    kind: rollouts.kind,
    metadata: { name },
    spec: { percent: 100, statefulset: carried(image), ...spec },
  };
}

/** A namespace of `env` with the definition, and a budget by which two pods may be away. */
export class PercentSet {
  readonly env: Env;

  private constructor(env: Env) {
    this.env = env;
  }

  /** @param maxUnavailable of the budget; undefined: there is none */
  static async open(
    env: Env,
    maxUnavailable: number | string | undefined = 2,
  ): Promise<PercentSet> {
    const set = new PercentSet(env);
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const { status } = await env.ask('POST', definitions, statefulsetRolloutDefinition);
    assert.ok(status === 201 || status === 409, `the definition was answered with ${status}`);
    await env.untilAnswered(set.path(rollouts), 200);
    if (maxUnavailable === undefined) return set;
    await set.make(resourceTypes.podDisruptionBudgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'db' },
      spec: { maxUnavailable, selector: { matchLabels: labels } },
    });
    return set;
  }

  /** The same, with the operator running and the set complete on `db:1`. */
  static async settled(env: Env, spec: JsonObject = {}): Promise<PercentSet> {
    const set = await PercentSet.open(env);
    await env.startOperator();
    await set.create('db:1', spec);
    await set.ended();
    return set;
  }

  /** Where the objects of `type` are in the namespace. */
  path(type: ResourceType, name = ''): string {
    const { group, plural } = type;
    const root = group === '' ? '/api/v1' : `/apis/${apiVersionOf(type)}`;
    const all = `${root}/namespaces/${this.env.namespace}/${plural}`;
    return name === '' ? all : `${all}/${name}`;
  }

  /** Sends a request that must be answered with success. */
  async sent(
    method: Method,
    path: string,
    ...rest: readonly [body?: JsonValue, headers?: Readonly<Record<string, string>>]
  ): Promise<Answer> {
    const answer = await this.env.run(this.env.ask(method, path, ...rest));
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer;
  }

  async make(type: ResourceType, body: JsonObject): Promise<JsonObject> {
    return (await this.sent('POST', this.path(type), body)).body as JsonObject;
  }

  async create(image: string, spec: JsonObject = {}): Promise<JsonObject> {
    return this.make(rollouts, rolloutOf(image, spec));
  }

  /** Edits the resource; resolves when that is seen, so that what is read next is no older. */
  async edit(spec: JsonObject): Promise<void> {
    const answer = await this.sent('PATCH', this.path(rollouts, 'db'), { spec });
    const generation = numberAt(answer.body as JsonObject, 'metadata', 'generation') ?? 0;
    await this.until('the edit is seen', () => {
      return (numberAt(this.rollout, 'metadata', 'generation') ?? 0) >= generation;
    });
  }

  /** Has the set carry `image`. */
  async setImage(image: string, more: JsonObject = {}): Promise<void> {
    await this.edit({ statefulset: carried(image), ...more });
  }

  async patchSet(document: JsonObject): Promise<void> {
    await this.sent('PATCH', this.path(resourceTypes.statefulSets, 'db'), document);
  }

  async patchBudget(spec: JsonObject): Promise<void> {
    await this.sent('PATCH', this.path(resourceTypes.podDisruptionBudgets, 'db'), { spec });
  }

  /** @param propagationPolicy what becomes of what it owns */
  async remove(type: ResourceType, name: string, propagationPolicy = 'Background'): Promise<void> {
    await this.sent('DELETE', this.path(type, name), {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy,
    });
  }

  get rollout(): JsonObject | undefined {
    return this.env.stored('statefulsetrollouts.bedrock.operator.slack.com', 'db');
  }

  get status(): JsonObject {
    return objectAt(this.rollout, 'status');
  }

  get phase(): string {
    return textAt(this.status, 'phase');
  }

  get reason(): string {
    return textAt(this.status, 'reason');
  }

  get set(): JsonObject | undefined {
    return this.env.stored('statefulsets.apps', 'db');
  }

  get generation(): number {
    return numberAt(this.set, 'metadata', 'generation') ?? 0;
  }

  /** A stored pod. */
  pod(ordinal: number): JsonObject | undefined {
    return this.env.stored('pods', `db-${ordinal}`);
  }

  /** Of the pods from the lowest to the highest, as many as the set is to have; empty for one that is not there. */
  get images(): readonly string[] {
    return this.#each((pod) => textAt(objectsAt(pod, 'spec', 'containers')[0], 'image'));
  }

  get uids(): readonly string[] {
    return this.#each((pod) => textAt(pod, 'metadata', 'uid'));
  }

  #each(read: (pod: JsonObject | undefined) => string): readonly string[] {
    const count = numberAt(this.set, 'spec', 'replicas') ?? 0;
    return Array.from({ length: count }, (_, ordinal) => read(this.pod(ordinal)));
  }

  /** Names of the pods that were told to go since `mark`, in order. */
  goneSince(mark: number): readonly string[] {
    const taken = this.env
      .history()
      .slice(mark)
      .filter(
        ({ resource, before, after }) => resource === 'pods' && isThere(before) && !isThere(after),
      );
    return taken.map(({ name }) => name);
  }

  /** Now, for {@link goneSince} and {@link mostAway}. */
  get mark(): number {
    return this.env.history().length;
  }

  /** The most pods that were not ready at once since `mark`, of those that were ready then. */
  mostAway(mark: number): number {
    const ready = new Set<string>();
    let [most, highest] = [0, 0];
    for (const [at, { resource, name, after }] of this.env.history().entries()) {
      if (resource !== 'pods') continue;
      if (isReady(after)) ready.add(name);
      else ready.delete(name);
      highest = Math.max(highest, ready.size);
      if (at >= mark) most = Math.max(most, highest - ready.size);
    }
    return most;
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    try {
      await this.env.until(what, holds);
    } catch (cause) {
      throw new Error(`${what}: ${JSON.stringify(this.status)}`, { cause });
    }
  }

  /** The rollout of the present generation has ended, in that phase. */
  async ended(phase: 'RolloutDone' | 'RolloutFailed' = 'RolloutDone'): Promise<void> {
    await this.until('the rollout has ended', () => {
      const generation = numberAt(this.rollout, 'metadata', 'generation');
      const isSeen = numberAt(this.status, 'observedGeneration') === generation;
      return isSeen && /^Rollout(?:Done|Failed)$/.test(this.phase);
    });
    assert.equal(this.phase, phase, this.reason);
  }

  /** Messages of the Events with that reason. */
  async messages(reason: string): Promise<readonly string[]> {
    const answer = await this.sent('GET', this.path(resourceTypes.events));
    return objectsAt(answer.body as JsonObject, 'items')
      .filter((event) => textAt(event, 'reason') === reason)
      .map((event) => textAt(event, 'message'));
  }
}

/** Whether the pod is there, and was not asked to go. */
function isThere(pod: JsonObject | undefined): boolean {
  return pod !== undefined && textAt(pod, 'metadata', 'deletionTimestamp') === '';
}

export function isReady(pod: JsonObject | undefined): boolean {
  const conditions = isThere(pod) ? objectsAt(pod, 'status', 'conditions') : [];
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

/** The value at the end of `path`, for what is compared as a whole. */
export function valueAt(object: JsonObject | undefined, ...path: string[]): JsonValue | undefined {
  const last = path.pop() ?? '';
  return objectAt(object, ...path)[last];
}
