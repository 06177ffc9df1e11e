import type { JsonObject } from '#base/json.ts';
import { notFound, preconditionFailed, staleResourceVersion } from '../../errors/status-errors.ts';
import { metadataOf, numberField, textField } from '../../json/json-fields.ts';
import { STALE } from '../../store/store.ts';
import type { Version } from '../../store/version.ts';
import { collectionOf, commit, keyOf } from '../request/commit.ts';
import { versionReply } from '../request/presentation.ts';
import {
  type ApiCall,
  type Reply,
  replyWith,
  type ServerContext,
} from '../request/server-context.ts';
import { successStatus } from '../request/status.ts';
import { type DeleteOptions, deleteOptionsObject, deleteOptionsOf } from './delete-options.ts';
import { type DeletionPlan, planDeletion } from './deletion.ts';
import { checkNamespaceDeletable, isNamespaceRow } from './namespace-lifecycle.ts';

const MAXIMUM_ATTEMPTS = 100;

/** What a delete left. */
export interface Deletion {
  readonly version: Version;
  /** Whether the object is still stored. */
  readonly stays: boolean;
}

/** Answers DELETE of one object (OB-8, OB-9). */
export async function deleteOne(context: ServerContext, call: ApiCall): Promise<Reply> {
  const options = deleteOptionsOf(call);
  const { uid, resourceVersion } = options;
  call.preconditions = {
    ...(uid === '' ? {} : { uid }),
    ...(resourceVersion === '' ? {} : { resourceVersion }),
  };
  const deletion = await deleteNamed(context, call, { name: call.route.name, options });
  const { row, name } = call.route;
  if (deletion.stays || row.answersDeleted) {
    const status = deletion.stays && options.orphanDependents === false ? 202 : 200;
    return versionReply(context, call, { status, version: deletion.version });
  }
  const storedUid = textField(metadataOf(deletion.version.object), 'uid');
  return replyWith(200, successStatus(row, name, storedUid));
}

/** Which object is deleted, and how. */
export interface DeletionTarget {
  readonly name: string;
  readonly options: DeleteOptions;
  /** Whether the webhooks have had their say already, as for an eviction (SU-4). @default false */
  readonly isAdmitted?: boolean;
}

/** Deletes the object `name` of the route's collection. @throws {StatusError} 403, 404, 409 */
export async function deleteNamed(
  context: ServerContext,
  call: ApiCall,
  target: DeletionTarget,
): Promise<Deletion> {
  const { row } = call.route;
  const { name, options } = target;
  const key = keyOf(call, name);
  checkNamespaceDeletable(row, name);
  const dry = options.isDryRun ? { ...call, isDryRun: true } : call;
  for (let attempt = 0; attempt < MAXIMUM_ATTEMPTS; attempt += 1) {
    const before = collectionOf(context, call).get(key);
    if (before === undefined) throw notFound(row, name);
    checkPreconditions(call, before.object, target);
    const plan = planDeletion(row, before.object, { options, now: context.clock.now() });
    if (plan.kind === 'unchanged') return { version: before, stays: true };
    const deletion = await carryOut(context, dry, { target, before, plan });
    if (deletion !== STALE) return deletion;
  }
  throw staleResourceVersion(row, name);
}

interface Step {
  readonly target: DeletionTarget;
  readonly before: Version;
  readonly plan: Exclude<DeletionPlan, { kind: 'unchanged' }>;
}

/** Returns the options as the server completes them on the way, which webhooks are shown. */
function completeOptions(call: ApiCall, { target, before, plan }: Step): DeleteOptions {
  const { row, name } = call.route;
  const { options } = target;
  const stored = metadataOf(before.object);
  if (isNamespaceRow(row)) return { ...options, uid: options.uid || textField(stored, 'uid') };
  const isFirst = row.isGraceful && stored['deletionTimestamp'] === undefined;
  // Of a collection, each object gets a copy, and webhooks see the original.
  if (plan.kind === 'remove' || !isFirst || name === '') return options;
  const period = numberField(metadataOf(plan.object), 'deletionGracePeriodSeconds');
  return { ...options, gracePeriodSeconds: period };
}

/** Commits what `plan` says. Without webhooks a mark and the removal after it happen in one turn, so that nothing comes between. */
async function carryOut(
  context: ServerContext,
  call: ApiCall,
  step: Step,
): Promise<Deletion | typeof STALE> {
  const { target, before, plan } = step;
  const { key } = before;
  const options = completeOptions(call, step);
  if (asksWebhooks(context, target)) await admit(context, call, { before, options });
  const after = plan.kind === 'remove' ? undefined : plan.object;
  const version = commit(context, call, { key, before, after });
  if (version === STALE) return STALE;
  if (plan.kind !== 'mark-and-remove') return { version, stays: after !== undefined };
  if (call.isDryRun) return { version, stays: false };
  if (asksWebhooks(context, target))
    return removeMarked(context, call, { before: version, options });
  const removed = commit(context, call, { key, before: version, after: undefined });
  return removed === STALE ? STALE : { version: removed, stays: false };
}

/** Removes what is marked once the webhooks were asked again (AD-11); whatever else is written meanwhile, it goes. */
async function removeMarked(context: ServerContext, call: ApiCall, step: Asked): Promise<Deletion> {
  const { options } = step;
  const { key } = step.before;
  for (let { before } = step; ; ) {
    await admit(context, call, { before, options });
    const removed = commit(context, call, { key, before, after: undefined });
    if (removed !== STALE) return { version: removed, stays: false };
    const now = collectionOf(context, call).get(key);
    if (now === undefined) return { version: before, stays: false };
    before = now;
  }
}

function asksWebhooks(context: ServerContext, target: DeletionTarget): boolean {
  return context.admission !== undefined && target.isAdmitted !== true;
}

interface Asked {
  readonly before: Version;
  readonly options: DeleteOptions;
}

async function admit(context: ServerContext, call: ApiCall, step: Asked): Promise<void> {
  const attributes = {
    call,
    operation: 'DELETE',
    name: call.route.name,
    oldObject: step.before.object,
    options: deleteOptionsObject(step.options),
  } as const;
  await context.admission?.mutate(attributes);
  await context.admission?.validate(attributes);
}

function checkPreconditions(call: ApiCall, stored: JsonObject, target: DeletionTarget): void {
  const { options, name } = target;
  const { row } = call.route;
  const metadata = metadataOf(stored);
  const uid = textField(metadata, 'uid');
  const version = textField(metadata, 'resourceVersion');
  if (options.uid !== '' && options.uid !== uid) {
    throw preconditionFailed(row, name, { member: 'UID', wanted: options.uid, seen: uid });
  }
  if (options.resourceVersion !== '' && options.resourceVersion !== version) {
    const wanted = options.resourceVersion;
    throw preconditionFailed(row, name, { member: 'ResourceVersion', wanted, seen: version });
  }
}
