import type { Logger } from '#base/logger.ts';
import type { WholeResponse } from './http-response.ts';
import type { HttpServerMetrics } from './http-server-metrics.ts';

/** How the `X-Cluster` header of requests is checked (ME-40). */
export interface ClusterValidation {
  readonly isEnabled: boolean;
  /** Log and count, but serve. */
  readonly isSoft: boolean;
  /** What the header must be: the namespace. */
  readonly cluster: string;
  /** Literal fragments of paths that are exempt, besides {@link alwaysExempt}. */
  readonly excludedPaths: readonly string[];
  readonly excludedUserAgents: readonly RegExp[];
}

/** What the check reads of a request; an absent header is empty. */
export interface CheckedRequest {
  readonly path: string;
  readonly userAgent: string;
  readonly cluster: string;
}

/** Where a misdirected request is reported. */
export interface ClusterValidationReport {
  readonly metrics: Pick<HttpServerMetrics, 'countMisdirected'>;
  readonly logger: Logger;
  readonly routeOf: (path: string) => string;
}

/** Fragments of paths that scrapers and probes ask for: they know of no clusters. */
const alwaysExempt = ['/metrics', '/debug/pprof', '/ready', '/live'];

/** Network Authentication Required: the status by which the peers recognise this refusal. */
const misdirectedStatus = 511;

/** Reports whether `request` was meant for this operator, or is exempt from saying so. */
export function isForThisCluster(validation: ClusterValidation, request: CheckedRequest): boolean {
  if (!validation.isEnabled || request.cluster === validation.cluster) return true;
  const holds = (fragment: string): boolean => request.path.includes(fragment);
  if (alwaysExempt.some(holds) || validation.excludedPaths.some(holds)) return true;
  return validation.excludedUserAgents.some((pattern) => pattern.test(request.userAgent));
}

/** Returns the 511 for a request that is not for this cluster; undefined for any other, and in soft mode, which only reports. */
export function clusterRefusal(
  validation: ClusterValidation,
  request: CheckedRequest & { readonly method: string },
  report: ClusterValidationReport,
): WholeResponse | undefined {
  if (isForThisCluster(validation, request)) return undefined;
  const { path, method, userAgent, cluster: received } = request;
  const route = report.routeOf(path);
  report.metrics.countMisdirected({ route, expected: validation.cluster, received });
  report.logger.warn('request with a wrong cluster validation label', {
    path,
    method,
    user_agent: userAgent,
    cluster_validation_label: validation.cluster,
    request_cluster_validation_label: received,
    soft: validation.isSoft,
  });
  return validation.isSoft ? undefined : refusal(validation.cluster, received, route);
}

function refusal(expected: string, received: string, route: string): WholeResponse {
  const found = received === '' ? 'has none' : `has ${JSON.stringify(received)}`;
  const message = `The request must carry the header X-Cluster: ${expected}, but it ${found}`;
  return {
    status: misdirectedStatus,
    contentType: 'application/json',
    body: JSON.stringify({ cluster_validation_error_message: message, route }),
  };
}
