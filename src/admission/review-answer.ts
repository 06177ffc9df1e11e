import type { Decision, Review } from './review.ts';

/** The body that answers `review` (A6…A11): kind and version as asked, and the uid of the request. */
export function reviewAnswer({ apiVersion, request }: Review, decision: Decision): string {
  const head = `{"kind":"AdmissionReview","apiVersion":"${apiVersion}","response":`;
  return `${head}${responseOf(request.uid, decision)}}`;
}

function responseOf(uid: string, decision: Decision): string {
  const { isAllowed } = decision;
  const status = statusOf(decision);
  const warnings = isAllowed ? decision.warnings : undefined;
  // Most answers by far; worth the few microseconds that the general way takes.
  if (status === undefined && warnings === undefined) {
    return `{"uid":${JSON.stringify(uid)},"allowed":${isAllowed}}`;
  }
  return JSON.stringify({ uid, allowed: isAllowed, status, warnings });
}

/** `metadata` is empty, and always there (H5). */
function statusOf(decision: Decision): object | undefined {
  if (decision.message === undefined) return undefined;
  const { message } = decision;
  if (decision.isAllowed) return { metadata: {}, message };
  const { code, causes } = decision;
  return { metadata: {}, message, details: causes === undefined ? undefined : { causes }, code };
}
