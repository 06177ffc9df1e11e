import { isJsonObject } from '#base/json.ts';
import { problemText } from '#base/parsed.ts';
import { isNotFound } from '#kubernetes/api-error.ts';
import type { Client } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { callOf, type Deadline } from './deadline.ts';
import { denyForFailure, overloadText } from './dependency.ts';
import { labelsOf } from './parse-workload.ts';
import {
  type AdmissionRequest,
  allow,
  allowWithWarning,
  type Decision,
  deny,
  type Webhook,
} from './review.ts';
import { webhookPaths } from './webhook-paths.ts';

/** Evictions that ask the API server at once. */
const most = 100;

const notBuilt = 'this version of the operator does not have zone-aware pod disruption budgets';

/**
 * Stands in for the eviction webhook until budgets are built (D-13): a pod that a budget selects is not evicted, nor one
 * of which that cannot be found out; any other pod is none of its business. All is read live.
 */
export function podEvictionWithoutBudgets(
  client: Client,
  limit = new ConcurrencyLimit(most),
): Webhook {
  return {
    path: webhookPaths.podEviction,
    patience: undefined,
    judge: async (request, context) => {
      const refused = notAnEviction(request);
      if (refused !== undefined) return refused;
      const release = limit.acquire();
      if (release === undefined) return overloaded(request);
      try {
        return await evictionDecision(request, client, context.deadline());
      } finally {
        release();
      }
    },
  };
}

/** 429 makes whoever evicts try again, as kubectl drain does. */
function overloaded(request: AdmissionRequest): Decision {
  const message = overloadText(`eviction of pod ${request.namespace}/${request.name}`);
  return { isAllowed: false, message, code: 429, doubt: 'Overloaded' };
}

/** What is asked besides evictions is denied in the words of the peer (E1…E3). */
function notAnEviction({
  operation,
  subResource,
  namespace,
  name,
}: AdmissionRequest): Decision | undefined {
  if (operation !== 'CREATE') return deny(`request operation is not create, got: ${operation}`);
  if (subResource !== 'eviction') {
    return deny(`request SubResource is not eviction, got: ${subResource}`);
  }
  if (namespace === '' || name === '') {
    return deny('request did not include both a namespace and a name');
  }
  return undefined;
}

/** The pod is read only where a budget may govern it, so that a Role without `get` on pods does until there is one. */
async function evictionDecision(
  request: AdmissionRequest,
  client: Client,
  deadline: Deadline,
): Promise<Decision> {
  const { namespace, name } = request;
  let what = 'the budgets cannot be listed';
  try {
    const found = await listBudgets(client, namespace, deadline);
    if (found.length === 0) return allow;
    what = 'the pod cannot be read';
    const pod = await client
      .get(resourceTypes.pods, { namespace, name }, callOf(deadline))
      .catch(undefinedIfAbsent);
    // There is nothing to evict, as the API server will say.
    if (pod === undefined) return allow;
    return budgetDecision(request, pod, found);
  } catch (error) {
    return denyForFailure(`${evictionText(request)}: ${what}`, error);
  }
}

/** The budgets of `namespace`; none where the server does not have the type. @throws what the client throws */
async function listBudgets(
  client: Client,
  namespace: string,
  deadline: Deadline,
): Promise<readonly KubernetesObject[]> {
  const list = await client
    .list(resourceTypes.zoneAwarePodDisruptionBudgets, { namespace }, callOf(deadline))
    .catch(undefinedIfAbsent);
  return list?.items ?? [];
}

function undefinedIfAbsent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

function budgetDecision(
  request: AdmissionRequest,
  pod: KubernetesObject,
  found: readonly KubernetesObject[],
): Decision {
  const { phase, isTerminating } = parsePod(pod);
  // No budget counts on such a pod, so that the peer lets it go, too (E5).
  if (isTerminating || phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending') {
    return allowWithWarning('pod is not ready');
  }
  const labels = labelsOf(pod);
  if (labels.kind === 'invalid') {
    return denyForFailure(
      `${evictionText(request)}: the pod cannot be read`,
      new Error(problemText(labels.problem)),
    );
  }
  const judged = found.map((budget) => ({ budget, governs: governs(budget, labels.value) }));
  const governing =
    judged.find((each) => each.governs === 'yes') ?? judged.find((each) => each.governs !== 'no');
  return governing === undefined ? allow : evictionRefused(request, governing);
}

/** Whether a budget selects a pod; `unclear` where its selector cannot be read. */
type Governs = 'yes' | 'no' | 'unclear';

/** By `matchLabels` alone, as the peer (R4); empty ones select every pod (R6). */
function governs(budget: KubernetesObject, labels: ReadonlyMap<string, string>): Governs {
  const { spec } = budget;
  const selector = isJsonObject(spec) ? spec['selector'] : undefined;
  const wanted = isJsonObject(selector) ? selector['matchLabels'] : undefined;
  if (!isJsonObject(wanted)) return 'unclear';
  const values = Object.entries(wanted);
  if (values.some(([, value]) => typeof value !== 'string')) return 'unclear';
  return values.every(([key, value]) => labels.get(key) === value) ? 'yes' : 'no';
}

function evictionText({ namespace, name }: AdmissionRequest): string {
  return `eviction of pod ${namespace}/${name} is not allowed`;
}

function evictionRefused(
  request: AdmissionRequest,
  { budget, governs: how }: { readonly budget: KubernetesObject; readonly governs: Governs },
): Decision {
  const named = `the ZoneAwarePodDisruptionBudget "${budget.metadata.name}"`;
  const selects = how === 'yes' ? 'selects it' : 'has a selector that cannot be read';
  return {
    isAllowed: false,
    code: 429,
    message: `${evictionText(request)}: ${named} ${selects}, and ${notBuilt}`,
    causes: [{ reason: 'CapabilityNotBuilt', message: notBuilt }],
  };
}
