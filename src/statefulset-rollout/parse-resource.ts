import type { JsonObject } from '#base/json.ts';
import type { Parsed } from '#base/parsed.ts';
import type { Cached } from '#kubernetes/informer/informer.ts';
import {
  arrayAt,
  identityIn,
  integerAt,
  objectAt,
  stringAt,
  stringMapAt,
  stringsIn,
} from '#statefulset/parse-fields.ts';
import type { StatefulsetRolloutSpec } from './api.ts';
import type { RolloutProgress } from './progress.ts';
import type { WantedRollout } from './snapshot.ts';
import { parseStatefulsetRollout } from './spec/parse-spec.ts';
import { wantedRollout } from './spec/rollout-key.ts';
import { parseProgress } from './status.ts';

/** Finalizer of a StatefulsetRollout: while it is there, the object owns a set, or may. */
export const finalizer = 'bedrock.operator.slack.com/statefulset-rollout';
/** By which the API server leaves alone what an object owns that is deleted. */
const orphanFinalizer = 'orphan';

/** A StatefulsetRollout as this program keeps it. */
export interface RolloutView extends Cached {
  readonly generation: number;
  readonly createdAt: string;
  readonly isDeleting: boolean;
  readonly finalizers: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Parsed<StatefulsetRolloutSpec>;
  /** What it comes to; undefined where it cannot be read. */
  readonly wanted: WantedRollout | undefined;
  readonly progress: RolloutProgress;
  readonly observedGeneration: number;
  /** `status` as it is there. */
  readonly writtenStatus: JsonObject;
}

/** Reads a StatefulsetRollout as the API server sent it. Total: what cannot be read is reported in `spec`, or counts as not written. */
export function parseRollout(object: JsonObject): RolloutView {
  const metadata = objectAt(object, 'metadata');
  const writtenStatus = objectAt(object, 'status');
  const spec = parseStatefulsetRollout(object);
  return Object.freeze({
    ...identityIn(metadata),
    generation: integerAt(metadata, 'generation') ?? 0,
    createdAt: stringAt(metadata, 'creationTimestamp') ?? '',
    isDeleting: stringAt(metadata, 'deletionTimestamp') !== undefined,
    finalizers: stringsIn(arrayAt(metadata, 'finalizers')),
    labels: stringMapAt(metadata, 'labels'),
    annotations: stringMapAt(metadata, 'annotations', (key) => key.startsWith('slack.com/')),
    spec,
    wanted: spec.kind === 'valid' ? wantedRollout(spec.value) : undefined,
    progress: parseProgress(object),
    observedGeneration: integerAt(writtenStatus, 'observedGeneration') ?? 0,
    writtenStatus,
  });
}

/** Reports whether `rollout` is deleted in a way that leaves its set alone. */
export function isOrphaning({ finalizers }: RolloutView): boolean {
  return finalizers.includes(orphanFinalizer);
}
