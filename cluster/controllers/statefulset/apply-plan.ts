import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import type { Client, ObjectKey } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Lister } from '#kubernetes/informer/informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isAlreadyExists, isConflict, isNotFound } from '#kubernetes/transport/api-error.ts';
import { canonicalJson, objectAt, textAt } from '../../json/read-json.ts';
import type { OwnershipAction } from './ownership.ts';
import type { ActionGroup, PodAction } from './passes.ts';
import type { StatefulSetPlan } from './plan-statefulset.ts';
import { ownerReferenceTo, type RevisionAction } from './revisions.ts';
import type { SetStatus, SetView } from './views.ts';

/** What writing a plan needs. */
export interface ApplyIo {
  readonly client: Client;
  readonly clock: Clock;
  readonly sets: Lister<SetView>;
  readonly events: EventRecorder;
}

function keyOf({ namespace, name }: SetView): ObjectKey {
  return { namespace, name };
}

const statusAttempts = 5;
const statusRetryDelay = millis(10);

function note(io: ApplyIo, set: SetView, event: readonly [reason: string, message: string]): void {
  const { namespace, name, uid } = set;
  const [reason, message] = event;
  const isBad = reason === 'FailedCreate' || reason === 'RecreatingFailedPod';
  io.events.record({
    about: { apiVersion: 'apps/v1', kind: 'StatefulSet', namespace, name, uid },
    type: isBad ? 'Warning' : 'Normal',
    reason,
    message,
  });
}

/** Asserts, by a live read, that a set may adopt: the cached set may have been deleted, or re-created under its name (SS-3). */
async function assertMayAdopt(io: ApplyIo, set: SetView): Promise<void> {
  const live = await io.client.get(resourceTypes.statefulSets, keyOf(set));
  if (live.metadata.uid === set.uid && live.metadata.deletionTimestamp === undefined) return;
  throw new Error(
    `Cannot adopt for StatefulSet "${set.namespace}/${set.name}" as it is being deleted or has another uid than ${set.uid}`,
  );
}

async function applyOwnership(io: ApplyIo, set: SetView, action: OwnershipAction): Promise<void> {
  const isRelease = action.kind === 'release-pod';
  const owner = isRelease ? { $patch: 'delete', uid: set.uid } : ownerReferenceTo(set);
  const document = { metadata: { uid: action.uid, ownerReferences: [owner] } };
  const type =
    action.kind === 'adopt-revision' ? resourceTypes.controllerRevisions : resourceTypes.pods;
  const key = { namespace: set.namespace, name: action.name };
  try {
    await io.client.patch(type, key, { body: { kind: 'strategic', document } });
  } catch (error) {
    if (!isRelease || !isNotFound(error)) throw error;
  }
}

/** Writes the revision. @returns whether the revision is there; false when its name is taken by other data (SS-4) */
async function applyRevision(io: ApplyIo, set: SetView, action: RevisionAction): Promise<boolean> {
  const type = resourceTypes.controllerRevisions;
  const key = { namespace: set.namespace, name: action.name };
  if (action.kind === 'raise-revision') {
    const document = { revision: action.revision };
    await io.client.patch(type, key, { body: { kind: 'merge', document } });
    return true;
  }
  try {
    await io.client.create(type, key, { body: action.body });
    return true;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const present = await io.client.get(type, key);
    return canonicalJson(present['data']) === canonicalJson(action.body['data']);
  }
}

async function createPod(io: ApplyIo, set: SetView, body: JsonObject): Promise<void> {
  const name = textAt(body, 'metadata', 'name');
  try {
    const key = { namespace: set.namespace, name };
    await io.client.create(resourceTypes.pods, key, { body });
  } catch (error) {
    // A pod of a former set of the name may still be there: no news, and tried again as any failure.
    if (isAlreadyExists(error)) throw error;
    const why = errorOf(error).message;
    const message = `Create Pod ${name} in StatefulSet ${set.name} failed error: ${why}`;
    note(io, set, ['FailedCreate', message]);
    throw error;
  }
  note(io, set, ['SuccessfulCreate', `Create Pod ${name} in StatefulSet ${set.name} successful`]);
}

async function createClaim(io: ApplyIo, set: SetView, body: JsonObject): Promise<void> {
  try {
    const key = { namespace: set.namespace, name: textAt(body, 'metadata', 'name') };
    await io.client.create(resourceTypes.persistentVolumeClaims, key, { body });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function deletePod(
  io: ApplyIo,
  set: SetView,
  action: PodAction & { readonly kind: 'delete-pod' },
): Promise<void> {
  const key = { namespace: set.namespace, name: action.name };
  if (action.why === 'failed') {
    const message = `StatefulSet ${set.namespace}/${set.name} is recreating failed Pod ${action.name}`;
    note(io, set, ['RecreatingFailedPod', message]);
  }
  try {
    // The real controller sends no preconditions either (SS-22): a lagging cache can hit the next incarnation.
    await io.client.delete(resourceTypes.pods, key, { preconditions: {} });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return;
  }
  const message = `Delete Pod ${action.name} in StatefulSet ${set.name} successful`;
  note(io, set, ['SuccessfulDelete', message]);
}

async function applyAction(io: ApplyIo, set: SetView, action: PodAction): Promise<void> {
  switch (action.kind) {
    case 'create-pod':
      await createPod(io, set, action.body);
      return;
    case 'create-claim':
      await createClaim(io, set, action.body);
      return;
    case 'delete-pod':
      await deletePod(io, set, action);
      return;
    case 'label-pod': {
      const key = { namespace: set.namespace, name: action.name };
      const document = { metadata: { uid: action.uid, labels: action.labels } };
      await io.client.patch(resourceTypes.pods, key, { body: { kind: 'merge', document } });
    }
  }
}

/** Writes one group at once; throws the first failure after all of the group have ended (SS-13). */
async function applyGroup(io: ApplyIo, set: SetView, group: ActionGroup): Promise<void> {
  const outcomes = await Promise.allSettled(
    group.map(async (ofPod) => {
      for (const action of ofPod) await applyAction(io, set, action);
    }),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Replaces the status; a conflict is tried again with what the cache then shows (SS-19). */
async function writeStatus(io: ApplyIo, set: SetView, status: SetStatus): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const latest = io.sets.get(set.namespace, set.name) ?? set;
    if (latest.uid !== set.uid) return;
    const merged: JsonObject = { ...objectAt(latest.object, 'status'), ...status };
    const body: JsonObject = { ...latest.object, status: merged };
    try {
      await io.client.replace(resourceTypes.statefulSets, keyOf(set), {
        body,
        subresource: 'status',
      });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === statusAttempts) throw error;
      await io.clock.sleep(statusRetryDelay, { owner: 'statefulset-status-retry' });
    }
  }
}

async function applyGroups(
  io: ApplyIo,
  set: SetView,
  groups: readonly ActionGroup[],
): Promise<{ readonly failure: unknown } | undefined> {
  try {
    for (const group of groups) await applyGroup(io, set, group);
    return undefined;
  } catch (failure) {
    return { failure };
  }
}

async function deleteRevision(io: ApplyIo, set: SetView, name: string): Promise<void> {
  const key = { namespace: set.namespace, name };
  try {
    await io.client.delete(resourceTypes.controllerRevisions, key, { preconditions: {} });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/**
 * Carries out `plan` in its order; the status is written although a pod failed.
 *
 * @returns `collision` when the new revision's name is taken by other data: nothing else was written then
 * @throws the first write that failed, when all that may still be done is done
 */
export async function applyPlan(
  io: ApplyIo,
  set: SetView,
  plan: StatefulSetPlan,
): Promise<'applied' | 'collision'> {
  if (plan.ownership.some((action) => action.kind !== 'release-pod')) await assertMayAdopt(io, set);
  await Promise.all(plan.ownership.map((action) => applyOwnership(io, set, action)));
  if (plan.revision !== undefined && !(await applyRevision(io, set, plan.revision))) {
    return 'collision';
  }
  const failed = await applyGroups(io, set, plan.groups);
  if (plan.isStatusStale) await writeStatus(io, set, plan.status);
  if (failed !== undefined) throw failed.failure;
  for (const name of plan.expiredRevisions) await deleteRevision(io, set, name);
  return 'applied';
}
