import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { shiftTimestamp, timestamp } from '../../clock/timestamp.ts';
import {
  isSameJson,
  metadataOf,
  numberField,
  objectField,
  textField,
  textsField,
  without,
} from '../../json/json-fields.ts';
import type { ResourceRow } from '../../resource-row.ts';
import type { DeleteOptions, Propagation } from './delete-options.ts';
import { isHeld } from './namespace-lifecycle.ts';
import { nextGeneration } from './updated-object.ts';

/** What a delete does to the stored object (OB-8). */
export type DeletionPlan =
  | { readonly kind: 'remove' }
  /** A pod that has nothing to wait for: a version that shows it without grace, then its removal. */
  | { readonly kind: 'mark-and-remove'; readonly object: JsonObject }
  /** The object stays and shows that it is being deleted. */
  | { readonly kind: 'mark'; readonly object: JsonObject }
  /** It is being deleted already, and this request does not hasten it. */
  | { readonly kind: 'unchanged' };

/** The request for a deletion. */
export interface DeletionRequest {
  readonly options: DeleteOptions;
  readonly now: Instant;
}

/** Returns what to do with `stored`. */
export function planDeletion(
  row: ResourceRow,
  stored: JsonObject,
  request: DeletionRequest,
): DeletionPlan {
  const isBegun = metadataOf(stored)['deletionTimestamp'] !== undefined;
  return isBegun ? planAgain(row, stored, request) : planFirst(row, stored, request);
}

function planFirst(row: ResourceRow, stored: JsonObject, request: DeletionRequest): DeletionPlan {
  const object = withPropagation(stored, request.options.propagation);
  if (row.beginDeletion !== undefined) {
    const at = timestamp(request.now);
    return planWaiting(row, row.beginDeletion(object, at), at);
  }
  const period = row.isGraceful ? gracePeriodOf(stored, request.options) : 0;
  const isImmediate = period === 0 && !isHeld(row, object);
  if (isImmediate && !row.isGraceful) return { kind: 'remove' };
  const marked = {
    ...object,
    metadata: {
      ...metadataOf(object),
      deletionTimestamp: shiftTimestamp(timestamp(request.now), period),
      deletionGracePeriodSeconds: period,
    },
  };
  const generation = numberField(metadataOf(stored), 'generation') ?? 0;
  const kind = isImmediate ? 'mark-and-remove' : 'mark';
  return { kind, object: generation > 0 ? nextGeneration(marked) : marked };
}

/** Plans what waits for its content: it has no period, and its generation is not counted. */
function planWaiting(row: ResourceRow, begun: JsonObject, at: string): DeletionPlan {
  if (!isHeld(row, begun)) return { kind: 'remove' };
  const object = { ...begun, metadata: { ...metadataOf(begun), deletionTimestamp: at } };
  return { kind: 'mark', object };
}

function planAgain(row: ResourceRow, stored: JsonObject, request: DeletionRequest): DeletionPlan {
  const metadata = metadataOf(stored);
  const current = numberField(metadata, 'deletionGracePeriodSeconds') ?? 0;
  // What only waits for its finalizers is marked again, which changes nothing, but webhooks are asked (AD-11).
  if (current === 0)
    return isHeld(row, stored) ? { kind: 'mark', object: stored } : { kind: 'remove' };
  const { gracePeriodSeconds } = request.options;
  if (gracePeriodSeconds === undefined) return { kind: 'unchanged' };
  const period = gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds;
  if (period >= current) return { kind: 'unchanged' };
  const deletionTimestamp = shiftTimestamp(
    textField(metadata, 'deletionTimestamp'),
    period - current,
  );
  const shortened = { ...metadata, deletionTimestamp, deletionGracePeriodSeconds: period };
  const isImmediate = period === 0 && !isHeld(row, stored);
  const kind = isImmediate ? 'mark-and-remove' : 'mark';
  return { kind, object: { ...stored, metadata: shortened } };
}

function gracePeriodOf(stored: JsonObject, options: DeleteOptions): number {
  const spec = objectField(stored, 'spec');
  const phase = textField(objectField(stored, 'status'), 'phase');
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  if (textField(spec, 'nodeName') === '' || isOver) return 0;
  const period =
    options.gracePeriodSeconds ?? numberField(spec, 'terminationGracePeriodSeconds') ?? 0;
  return period < 0 ? 1 : period;
}

const PROPAGATION_FINALIZERS = ['foregroundDeletion', 'orphan'];

function finalizerOf(propagation: Propagation): readonly string[] {
  if (propagation === 'Foreground') return ['foregroundDeletion'];
  return propagation === 'Orphan' ? ['orphan'] : [];
}

function withPropagation(stored: JsonObject, propagation: Propagation | undefined): JsonObject {
  if (propagation === undefined) return stored;
  const metadata = metadataOf(stored);
  const old = textsField(metadata, 'finalizers');
  const finalizers = [
    ...old.filter((name) => !PROPAGATION_FINALIZERS.includes(name)),
    ...finalizerOf(propagation),
  ];
  if (isSameJson(old, finalizers)) return stored;
  const bare = without(metadata, 'finalizers');
  return { ...stored, metadata: finalizers.length === 0 ? bare : { ...bare, finalizers } };
}
