import type { MiddlewareHandler } from 'hono';
import type { Logger } from '#base/logger.ts';
import { textResponse } from './http-response.ts';
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

/** Where a misdirected request is told of. */
export interface ClusterValidationReport {
  readonly metrics: Pick<HttpServerMetrics, 'countMisdirected'>;
  readonly logger: Logger;
  readonly routeOf: (path: string) => string;
}

/** Fragments of paths that scrapers and probes ask for: they know of no clusters. */
const alwaysExempt = ['/metrics', '/debug/pprof', '/ready'];

/** Network Authentication Required: the status by which the peers recognise this refusal. */
const misdirectedStatus = 511;

/** Whether `request` was meant for this operator, or is exempt from saying so. */
export function isForThisCluster(validation: ClusterValidation, request: CheckedRequest): boolean {
  if (!validation.isEnabled || request.cluster === validation.cluster) return true;
  const holds = (fragment: string): boolean => request.path.includes(fragment);
  if (alwaysExempt.some(holds) || validation.excludedPaths.some(holds)) return true;
  return validation.excludedUserAgents.some((pattern) => pattern.test(request.userAgent));
}

/** Answers 511 to requests that are not for this cluster; in soft mode they are only reported. */
export function clusterValidation(
  validation: ClusterValidation,
  report: ClusterValidationReport,
): MiddlewareHandler {
  return async (context, next) => {
    const { path, method } = context.req;
    const received = context.req.header('x-cluster') ?? '';
    const userAgent = context.req.header('user-agent') ?? '';
    if (isForThisCluster(validation, { path, userAgent, cluster: received })) return next();
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
    if (validation.isSoft) return next();
    return refusal(validation.cluster, received, route);
  };
}

function refusal(expected: string, received: string, route: string): Response {
  const found = received === '' ? 'has none' : `has ${JSON.stringify(received)}`;
  const message = `The request must carry the header X-Cluster: ${expected}, but it ${found}`;
  return textResponse({
    status: misdirectedStatus,
    contentType: 'application/json',
    body: JSON.stringify({ cluster_validation_error_message: message, route }),
  });
}
