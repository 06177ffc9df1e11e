/** What an API server committed, in order, and the state that follows from it. */
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';

/** A commit whose author is not known yet. */
export type StoredCommit = Omit<Commit, 'user' | 'callId'>;

/** Where a stored object is. */
export interface StoredKey {
  /** As in `statefulsets.apps`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** One version of an object, or its end. */
export interface StoredVersion {
  readonly key: StoredKey;
  readonly revision: number;
  /** Absent when the object was removed. */
  readonly after?: JsonObject;
}

/** The namespaced types that are followed, by plural, and what the history calls them. */
export const recordedTypes: Readonly<Record<string, string>> = {
  configmaps: 'configmaps',
  controllerrevisions: 'controllerrevisions.apps',
  persistentvolumeclaims: 'persistentvolumeclaims',
  poddisruptionbudgets: 'poddisruptionbudgets.policy',
  pods: 'pods',
  serviceaccounts: 'serviceaccounts',
  statefulsets: 'statefulsets.apps',
};

/** Custom resources that are followed in etcd, whose keys name the group too, by `<group>/<plural>`. */
export const recordedCustomTypes: Readonly<Record<string, string>> = {
  'bedrock.operator.slack.com/statefulsetrollouts':
    'statefulsetrollouts.bedrock.operator.slack.com',
  'rollout-operator.grafana.com/replicatemplates': 'replicatemplates.rollout-operator.grafana.com',
  'rollout-operator.grafana.com/zoneawarepoddisruptionbudgets':
    'zoneawarepoddisruptionbudgets.rollout-operator.grafana.com',
  'sts.plus/phasedrollouts': 'phasedrollouts.sts.plus',
  'zonecontrol.k8s.aws/zoneawareupdates': 'zoneawareupdates.zonecontrol.k8s.aws',
  'zonecontrol.k8s.aws/zonedisruptionbudgets': 'zonedisruptionbudgets.zonecontrol.k8s.aws',
};

/** Keeps commits and state; the follower of a cluster feeds it. */
export class CommitLog {
  readonly commits: StoredCommit[] = [];
  readonly #objects = new Map<string, JsonObject>();
  readonly #listeners = new Set<(commit: StoredCommit) => void>();
  readonly #now: () => Instant;
  #failure: Error | undefined;

  constructor(now: () => Instant) {
    this.#now = now;
  }

  /** The newest stored version of an object. @throws {Error} when the recording broke off */
  stored(resource: string, namespace: string, name: string): JsonObject | undefined {
    if (this.#failure !== undefined) throw this.#failure;
    return this.#objects.get(`${resource}/${namespace}/${name}`);
  }

  /** Names of all stored objects of `resource` in `namespace`. @throws {Error} when the recording broke off */
  names(resource: string, namespace: string): readonly string[] {
    if (this.#failure !== undefined) throw this.#failure;
    const prefix = `${resource}/${namespace}/`;
    return [...this.#objects.keys()]
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.slice(prefix.length));
  }

  /** Calls `listener` after each commit. @returns a function that ends that */
  onCommit(listener: (commit: StoredCommit) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Takes the next version. */
  take({ key, revision, after }: StoredVersion): void {
    const id = `${key.resource}/${key.namespace}/${key.name}`;
    const before = this.#objects.get(id);
    if (after === undefined) this.#objects.delete(id);
    else this.#objects.set(id, after);
    const commit: StoredCommit = Object.freeze({
      at: this.#now(),
      revision,
      verb: after === undefined ? 'delete' : before === undefined ? 'create' : 'update',
      ...key,
      uid: uidOf(after ?? before),
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    });
    this.commits.push(commit);
    for (const listener of this.#listeners) listener(commit);
  }

  /** The following broke off: later callers get the reason. */
  fail(error: Error): void {
    this.#failure ??= error;
  }
}

function uidOf(object: JsonObject | undefined): string {
  const metadata = object?.['metadata'];
  const uid = isJsonObject(metadata) ? metadata['uid'] : undefined;
  return typeof uid === 'string' ? uid : '';
}
