import { isJsonObject } from '#base/json.ts';

/** A call that someone's cluster check turned away (ME-8). */
export interface PodClusterRejection {
  /** The cluster that we named. */
  readonly requestCluster: string;
  /** The route that the rejection names. */
  readonly route: string;
  readonly message: string;
}

/** The rejection that an answer is; undefined for any other 511, which stays an ordinary answer (X6). */
export function clusterRejectionOf(
  answer: { readonly status: number; readonly contentType: string; readonly body: string },
  requestCluster: string,
): PodClusterRejection | undefined {
  if (answer.status !== 511 || !/^application\/json\b/i.test(answer.contentType)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(answer.body);
  } catch {
    // Not the peers' check, then: some captive portal.
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { cluster_validation_error_message: message, route } = value;
  if (typeof message !== 'string') return undefined;
  return { requestCluster, route: typeof route === 'string' ? route : '', message };
}
