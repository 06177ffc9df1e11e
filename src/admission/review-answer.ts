import type { Review, Verdict } from './review.ts';

/** The body that answers `review` (A6…A11): kind and version as asked, and the uid of the request. */
export function reviewAnswer({ apiVersion, request }: Review, verdict: Verdict): string {
  const head = `{"kind":"AdmissionReview","apiVersion":"${apiVersion}","response":`;
  return `${head}${responseOf(request.uid, verdict)}}`;
}

function responseOf(uid: string, verdict: Verdict): string {
  const { isAllowed } = verdict;
  const status = statusOf(verdict);
  const warnings = isAllowed ? verdict.warnings : undefined;
  // Most answers by far; worth the few microseconds that the general way takes.
  if (status === undefined && warnings === undefined) {
    return `{"uid":${JSON.stringify(uid)},"allowed":${isAllowed}}`;
  }
  return JSON.stringify({ uid, allowed: isAllowed, status, warnings });
}

/** `metadata` is empty, and always there (H5). */
function statusOf(verdict: Verdict): object | undefined {
  if (verdict.message === undefined) return undefined;
  const { message } = verdict;
  if (verdict.isAllowed) return { metadata: {}, message };
  const { code, causes } = verdict;
  return { metadata: {}, message, details: causes === undefined ? undefined : { causes }, code };
}
