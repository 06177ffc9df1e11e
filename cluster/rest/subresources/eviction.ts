import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { requestsOf } from '../../clock/activity.ts';
import { timestamp } from '../../clock/timestamp.ts';
import { StatusError } from '../../errors/status-error.ts';
import { badRequest, notFound } from '../../errors/status-errors.ts';
import { metadataOf, objectField, textField, textMapField } from '../../json/json-fields.ts';
import type { ResourceRow } from '../../resource-row.ts';
import { selectorText } from '../../selector/selector-text.ts';
import { STALE } from '../../store/store.ts';
import type { Version } from '../../store/version.ts';
import { collectionOf, commit, keyOf } from '../request/commit.ts';
import { checkKind, decodeAnyBody } from '../request/decode-body.ts';
import {
  type ApiCall,
  type Reply,
  replyWith,
  type ServerContext,
} from '../request/server-context.ts';
import { deleteNamed } from '../verbs/delete.ts';
import { type DeleteOptions, readDeleteOptions } from '../verbs/delete-options.ts';
import { clientMetadata } from '../verbs/metadata.ts';
import {
  judgeEviction,
  violation,
  withDisruption,
  withDisruptionTarget,
} from './judge-eviction.ts';

/** Attempts to write a budget's status, and the time between them (SU-9). */
const BUDGET_ATTEMPTS = 20;
const BUDGET_PAUSE = seconds(0.5);

const SERVER = Object.freeze({
  name: 'system:apiserver',
  groups: Object.freeze(['system:authenticated', 'system:masters']),
});

interface Eviction {
  readonly context: ServerContext;
  /** The delete of the pod. */
  readonly call: ApiCall;
  readonly options: DeleteOptions;
}

/**
 * Answers POST to a pod's /eviction: deletes it as far as the disruption budgets allow (SU-4). Webhooks see the Eviction,
 * never the deletion.
 *
 * @throws {StatusError}
 */
export async function evictPod(context: ServerContext, call: ApiCall): Promise<Reply> {
  const { name, namespace } = call.route;
  const given = decodeAnyBody(call);
  checkKindOfEviction(given);
  checkNamespaceOfEviction(call, given);
  const metadata = { ...clientMetadata(metadataOf(given)), namespace };
  const body = { ...given, kind: 'Eviction', apiVersion: 'policy/v1', metadata };
  const attributes = { call, operation: 'CREATE', name } as const;
  const eviction = (await context.admission?.mutate({ ...attributes, object: body })) ?? body;
  if (textField(metadataOf(eviction), 'name') !== name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const options = readDeleteOptions(objectField(eviction, 'deleteOptions'), call.route.query);
  await context.admission?.validate({ ...attributes, object: eviction });
  const route = { ...call.route, subresource: undefined, verb: 'delete' } as const;
  const isDryRun = call.isDryRun || options.isDryRun;
  return evict({ context, call: { ...call, route, isDryRun }, options });
}

function checkKindOfEviction(body: JsonObject): void {
  const apiVersion = textField(body, 'apiVersion');
  const given = apiVersion === 'policy/v1beta1' ? { ...body, apiVersion: '' } : body;
  checkKind(given, { apiVersion: 'policy/v1', kind: 'Eviction' });
}

function checkNamespaceOfEviction(call: ApiCall, body: JsonObject): void {
  const bodyNamespace = textField(metadataOf(body), 'namespace');
  if (bodyNamespace !== '' && bodyNamespace !== call.route.namespace) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
}

async function evict(eviction: Eviction): Promise<Reply> {
  const { context, call } = eviction;
  for (let attempt = 1; ; attempt += 1) {
    const pod = podOf(eviction);
    const verdict = judgeEviction(pod.object, budgetsOf(eviction, pod.object));
    switch (verdict.kind) {
      case 'ambiguous':
        return replyWith(500, ambiguous());
      case 'refuse':
        throw verdict.error;
      case 'delete':
        return remove(eviction, pod, verdict.isGuarded);
      default:
    }
    if (await takesDisruption(eviction, verdict.budget)) return remove(eviction, pod, false);
    if (attempt >= BUDGET_ATTEMPTS) throw timedOut(call);
    const pause = context.clock.sleep(BUDGET_PAUSE, { owner: 'eviction' });
    await context.activity.parked(requestsOf(call.request.client), pause);
  }
}

function podOf({ context, call }: Eviction): Version {
  const { row, name } = call.route;
  const version = collectionOf(context, call).get(keyOf(call, name));
  if (version === undefined) throw notFound(row, name);
  return version;
}

function budgetRowOf(context: ServerContext): ResourceRow {
  const row = context.rows.find('policy/v1', 'poddisruptionbudgets');
  if (row === undefined) throw new Error('Cannot evict as PodDisruptionBudgets are not served');
  return row;
}

/** Returns the call as one on the budget `name`, for what the server itself writes on the way. */
function budgetCall({ context, call }: Eviction, name: string): ApiCall {
  return { ...call, route: { ...call.route, row: budgetRowOf(context), name } };
}

/** Returns the budgets of the pod's namespace that select it: an absent selector none, an empty one all (SU-6). */
function budgetsOf(eviction: Eviction, pod: JsonObject): readonly JsonObject[] {
  const { context, call } = eviction;
  const labels = textMapField(metadataOf(pod), 'labels');
  return collectionOf(context, budgetCall(eviction, ''))
    .list(call.route.namespace)
    .map(({ object }) => object)
    .filter((budget) => {
      const spec = objectField(budget, 'spec');
      if (spec['selector'] === undefined) return false;
      const text = selectorText(objectField(spec, 'selector'));
      return text === '' || context.rules.parseLabelSelector(text)(labels);
    });
}

/** Writes the disruption into the budget, in a request of the server's own, which webhooks see. @returns false when another write came first */
async function takesDisruption(eviction: Eviction, budget: JsonObject): Promise<boolean> {
  const { context, call } = eviction;
  const over = budgetCall(eviction, textField(metadataOf(budget), 'name'));
  const key = keyOf(over, over.route.name);
  const before = collectionOf(context, over).get(key);
  if (before?.object !== budget) return false;
  const now = timestamp(context.clock.now());
  const after = withDisruption(budget, { pod: call.route.name, now });
  if (context.admission !== undefined && !call.isDryRun) {
    const { name } = over.route;
    const objects = { object: after, oldObject: budget };
    const attributes = { call: asServer(over), operation: 'UPDATE', name, ...objects } as const;
    await context.admission.mutate(attributes);
    await context.admission.validate(attributes);
  }
  return commit(context, over, { key, before, after }) !== STALE;
}

/** Returns the request by which the server itself writes the status of a budget. */
function asServer(call: ApiCall): ApiCall {
  const { route, request } = call;
  const subresource = route.row.subresources.find(({ name }) => name === 'status');
  const query = new URLSearchParams();
  return {
    ...call,
    route: { ...route, subresource, verb: 'update', query },
    request: { ...request, user: SERVER },
  };
}

async function remove(eviction: Eviction, pod: Version, isGuarded: boolean): Promise<Reply> {
  const { context, call, options } = eviction;
  const { name } = call.route;
  const isLeaving = metadataOf(pod.object)['deletionTimestamp'] !== undefined;
  const marked = isLeaving ? pod : mark(eviction, pod);
  const resourceVersion = isGuarded ? String(marked.revision) : options.resourceVersion;
  const isBare = !isGuarded || call.isDryRun;
  const guarded = isBare ? options : { ...options, resourceVersion };
  try {
    await deleteNamed(context, call, { name, options: guarded, isAdmitted: true });
  } catch (error) {
    const isGuardConflict = isGuarded && error instanceof StatusError && error.code === 409;
    throw isGuardConflict ? violation('The pod has changed meanwhile.', 10) : error;
  }
  return replyWith(201, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    code: 201,
  });
}

/** Returns the pod with the condition DisruptionTarget. */
function mark({ context, call }: Eviction, pod: Version): Version {
  const after = withDisruptionTarget(pod.object, timestamp(context.clock.now()));
  const marked = commit(context, call, { key: pod.key, before: pod, after });
  return marked === STALE ? pod : marked;
}

function ambiguous(): JsonObject {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message:
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    code: 500,
  };
}

function timedOut(call: ApiCall): StatusError {
  const { name } = call.route;
  return new StatusError(
    { code: 504, reason: 'Timeout' },
    `Timeout: couldn't update PodDisruptionBudget of pod "${name}" due to conflicts`,
  );
}
