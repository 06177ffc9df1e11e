import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, jsonIn } from '#base/json.ts';
import { unlessSent } from '#control/write/unless-sent.ts';
import type { Client } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isInvalid } from '#kubernetes/transport/api-error.ts';
import { integerAt, objectAt, stringAt } from '#statefulset/parse-fields.ts';
import { parseStatefulSet } from '#statefulset/parse-statefulset.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { StatefulsetRolloutSpec } from '../api.ts';
import { isMarked } from '../owners.ts';
import type { RolloutView } from '../parse-resource.ts';
import { isPinned } from '../plan/plan-pinned-set.ts';
import type { SetComparison, SetValidation } from '../snapshot.ts';
import { partitionFor, pinningOf, strategyOf } from './pinned-set.ts';
import { replicasOf } from './replicas-owner.ts';
import { diffOfSets, type SetDiff } from './set-diff.ts';
import { appliedAnnotation, rolloutAnnotation, wantedSet } from './wanted-set.ts';

/** Parts of a set's spec that the API server lets be changed. */
const mutable: ReadonlySet<string> = new Set([
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'persistentVolumeClaimRetentionPolicy',
  'ordinals',
  'revisionHistoryLimit',
]);
/** Characters of what the API server says. */
const longestMessage = 900;

/** What was read of a set, and holds while neither it nor what is wanted has changed. */
interface Sight {
  readonly of: string;
  readonly comparison: SetComparison;
  /** What makes it as it is wanted, and the revision that it was made on. */
  readonly patch: JsonObject;
  readonly revision: string;
}

/** A difference that stayed although it was written. */
interface Stubborn {
  readonly generation: number;
  readonly rollout: number;
  readonly paths: readonly string[];
}

/** What is known of the sets of StatefulsetRollouts beyond their views: read when a decision needs it, one set at a time. */
export class SetSights {
  readonly #client: Client;
  readonly #onIgnored: (rollout: RolloutView, paths: readonly string[]) => void;
  /** By uid of the resource. */
  readonly #sights = new Map<string, Sight>();
  readonly #validations = new Map<string, { readonly of: string; readonly said: SetValidation }>();
  readonly #stubborn = new Map<string, Stubborn>();

  /** @param onIgnored called with a difference that the API server keeps although it is written */
  constructor(
    ports: { readonly client: Client },
    onIgnored: (rollout: RolloutView, paths: readonly string[]) => void,
  ) {
    this.#client = ports.client;
    this.#onIgnored = onIgnored;
  }

  comparison(rollout: RolloutView, set: StatefulSetView): SetComparison {
    return this.#sight(rollout, set)?.comparison ?? { kind: 'unread' };
  }

  /** Returns what the patch was made on that makes the set as it is wanted; undefined where it has changed since. */
  patch(
    rollout: RolloutView,
    set: StatefulSetView,
  ): { readonly document: JsonObject; readonly revision: string } | undefined {
    const sight = this.#sight(rollout, set);
    return sight && { document: sight.patch, revision: sight.revision };
  }

  validation({ uid, generation }: RolloutView): SetValidation {
    const found = this.#validations.get(uid);
    return found?.of === `${generation}` ? found.said : { kind: 'unasked' };
  }

  #sight(rollout: RolloutView, set: StatefulSetView): Sight | undefined {
    const found = this.#sights.get(rollout.uid);
    return found?.of === sightOf(rollout, set) ? found : undefined;
  }

  /** Reads the set and compares it with what is wanted. @throws what the requests fail with */
  async compare(
    rollout: RolloutView,
    spec: StatefulsetRolloutSpec,
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace, uid } = rollout;
    const key = { namespace, name: spec.set.name };
    const live = await this.#client.get(resourceTypes.statefulSets, key, { signal });
    const replicas = await replicasOf(rollout, spec, { client: this.#client, signal });
    const strategy = pinningOf(rollout, live);
    const wish = { namespace, rollout: rollout.name, replicas, ...(strategy && { strategy }) };
    const wanted = wantedSet(spec.set, wish);
    const last = lastWanted(live);
    const diff = diffOfSets({ last, live, wanted });
    const partition = strategy && partitionFor(live, wanted, diff);
    const atOwnPace = strategy && partitionFor(live, wanted, { paths: [] });
    const found = {
      ...comparisonOf(diff, spec, atOwnPace),
      ...(partition !== undefined && { partition }),
    };
    const comparison = this.#unlessStubborn(rollout, live, found);
    const metadata = { uid: live.metadata.uid, resourceVersion: live.metadata.resourceVersion };
    this.#sights.set(uid, {
      of: sightOf(rollout, {
        uid: live.metadata.uid,
        generation: integerAt(objectAt(live, 'metadata'), 'generation') ?? 0,
        isOurs: isMarkedObject(live, rollout),
        isPinning: strategy !== undefined,
      }),
      comparison,
      patch: patchOf(diff, metadata, partition),
      revision: live.metadata.resourceVersion,
    });
  }

  /**
   * Returns `comparison`, but for what was written, made no new generation, and still differs: the API server takes it for
   * the same.
   */
  #unlessStubborn(
    rollout: RolloutView,
    live: KubernetesObject,
    comparison: SetComparison,
  ): SetComparison {
    const before = this.#stubborn.get(rollout.uid);
    if (comparison.kind !== 'differs' || before === undefined) return comparison;
    const generation = integerAt(objectAt(live, 'metadata'), 'generation') ?? 0;
    const isSame =
      before.generation === generation &&
      before.rollout === rollout.generation &&
      isDeepStrictEqual(before.paths, comparison.paths);
    if (!isSame) return comparison;
    this.#onIgnored(rollout, comparison.paths);
    return { kind: 'equal' };
  }

  /** Notes that the set was written as it is wanted, and stored as `stored`. */
  written(rollout: RolloutView, stored: KubernetesObject): void {
    const { uid } = rollout;
    const comparison = this.#sights.get(uid)?.comparison;
    const generation = integerAt(objectAt(stored, 'metadata'), 'generation') ?? 0;
    const paths = comparison?.kind === 'differs' ? comparison.paths : [];
    this.#stubborn.set(uid, { generation, rollout: rollout.generation, paths });
    this.#sights.delete(uid);
  }

  /** Notes that only the partition of the set was written, on the very state that was read, and stored as `stored`. */
  repartitioned(rollout: RolloutView, set: StatefulSetView, stored: KubernetesObject): void {
    const sight = this.#sight(rollout, set);
    this.#sights.delete(rollout.uid);
    if (sight?.comparison.kind !== 'equal' || !isPinned(rollout.progress, set)) return;
    const next = parseStatefulSet(stored);
    const of = sightOf(rollout, next);
    this.#sights.set(rollout.uid, { ...sight, of, revision: next.resourceVersion });
  }

  /** Notes that what was read cannot be relied on any more. */
  outdated({ uid }: RolloutView): void {
    this.#sights.delete(uid);
  }

  /** Asks the API server whether it would take what is wanted. @throws what the request fails with, but for a refusal */
  async validate(
    rollout: RolloutView,
    spec: StatefulsetRolloutSpec,
    { set, signal }: { readonly set: StatefulSetView | undefined; readonly signal: AbortSignal },
  ): Promise<void> {
    const { uid, generation } = rollout;
    let said: SetValidation = { kind: 'accepted' };
    try {
      await this.#dryRun(rollout, spec, { set, signal });
    } catch (error) {
      if (!isInvalid(error)) throw error;
      said = { kind: 'refused', message: error.message.slice(0, longestMessage) };
    }
    this.#validations.set(uid, { of: `${generation}`, said });
  }

  async #dryRun(
    rollout: RolloutView,
    spec: StatefulsetRolloutSpec,
    { set, signal }: { readonly set: StatefulSetView | undefined; readonly signal: AbortSignal },
  ): Promise<void> {
    const { namespace } = rollout;
    const { name, replicas } = spec.set;
    const options = { ...unlessSent(signal), isDryRun: true };
    const patch = set === undefined ? undefined : this.patch(rollout, set);
    if (patch !== undefined) {
      // Only the fields count: of the very state that was read the write itself makes sure.
      const { metadata: _metadata, ...document } = patch.document;
      const body = { kind: 'strategic', document } as const;
      await this.#client.patch(
        resourceTypes.statefulSets,
        { namespace, name },
        { body, ...options },
      );
      return;
    }
    const body = wantedSet(spec.set, { namespace, rollout: rollout.name, replicas });
    await this.#client.create(resourceTypes.statefulSets, { namespace }, { body, ...options });
  }

  forget(uid: string): void {
    this.#sights.delete(uid);
    this.#validations.delete(uid);
    this.#stubborn.delete(uid);
  }
}

function sightOf(
  rollout: RolloutView,
  set:
    | StatefulSetView
    | {
        readonly uid: string;
        readonly generation: number;
        readonly isOurs: boolean;
        readonly isPinning: boolean;
      },
): string {
  const { isOurs, isPinning } =
    'isOurs' in set
      ? set
      : { isOurs: isMarked(set, rollout), isPinning: isPinned(rollout.progress, set) };
  return [rollout.generation, set.uid, set.generation, isOurs, isPinning].join('/');
}

/** @param partition that is written, too; undefined: it stays as it is */
function patchOf(
  { patch }: SetDiff,
  metadata: JsonObject,
  partition: number | undefined,
): JsonObject {
  const updateStrategy = partition === undefined ? undefined : strategyOf(partition);
  const spec = { ...objectAt(patch, 'spec'), ...(updateStrategy && { updateStrategy }) };
  return {
    ...patch,
    ...(Object.keys(spec).length > 0 && { spec }),
    metadata: { ...objectAt(patch, 'metadata'), ...metadata },
  };
}

function isMarkedObject(live: KubernetesObject, { namespace, name }: RolloutView): boolean {
  const annotations = objectAt(objectAt(live, 'metadata'), 'annotations');
  return annotations[rolloutAnnotation] === `${namespace}/${name}`;
}

/** Returns what this operator wanted of the set when it wrote it last; undefined where it has not, or that was too large. */
function lastWanted(live: KubernetesObject): JsonObject | undefined {
  const annotations = objectAt(objectAt(live, 'metadata'), 'annotations');
  const text = stringAt(annotations, appliedAnnotation);
  const last = text === undefined ? undefined : jsonIn(text);
  return isJsonObject(last) ? last : undefined;
}

/** @param partition with which replicas alone would be written */
function comparisonOf(
  { paths }: SetDiff,
  { set }: StatefulsetRolloutSpec,
  partition: number | undefined,
): SetComparison {
  const isScale = paths.includes('spec.replicas') && set.replicas !== undefined;
  const scale = isScale
    ? { to: set.replicas, ...(partition !== undefined && { partition }) }
    : undefined;
  const immutable = paths.filter((path) => {
    const [part, field = ''] = path.split('.');
    return part === 'spec' && !mutable.has(field.replace(/\[.*/, ''));
  });
  if (immutable.length > 0) {
    const isSelectorEqual = !immutable.some((path) => path.startsWith('spec.selector'));
    return { kind: 'immutable', paths: immutable, isSelectorEqual, ...(scale && { scale }) };
  }
  if (paths.length === 0) return { kind: 'equal' };
  if (paths.length === 1 && scale !== undefined) return { kind: 'replicas', ...scale };
  return { kind: 'differs', paths, ...(scale && { scale }) };
}
