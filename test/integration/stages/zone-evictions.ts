/** Evictions as an API server has them reviewed, in virtual time. */
import { startDeadline } from '#admission/review/deadline.ts';
import type { AdmissionRequest, Webhook } from '#admission/review/review.ts';
import { seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { evictionRequest } from '#support/admission/admission-requests.ts';
import type { Environment } from './virtual-environment.ts';

const namespace = 'demo';

/** Has the eviction of the pod `name` reviewed: an empty text, or code and message of the denial. */
export async function reviewEviction(
  { env, webhook }: { readonly env: Environment; readonly webhook: Webhook },
  name: string,
  rest: Partial<AdmissionRequest> = {},
): Promise<string> {
  const { clock } = env;
  const deadline = startDeadline(clock, clock.monotonic(), seconds(8));
  try {
    const request = { ...evictionRequest('a-0'), namespace, name, ...rest };
    const decision = await webhook.judge(request, { deadline: () => deadline });
    return decision.isAllowed ? '' : `${decision.code} ${decision.message}`;
  } finally {
    deadline.release();
  }
}

/** The same; a pod that may go goes. */
export async function evict(
  parts: { readonly env: Environment; readonly webhook: Webhook },
  name: string,
): Promise<string> {
  const answer = await reviewEviction(parts, name);
  if (answer !== '') return answer;
  await parts.env.client
    .delete(resourceTypes.pods, { namespace, name }, { preconditions: {} })
    .catch(() => undefined);
  return '';
}
