/** What series of an installation look like, and what cases of alerts say of them. */

/** Series by name and labels, with their values as promtool reads them: one sample a minute from minute 0. */
export type Series = Readonly<Record<string, string>>;

/** One moment in which one alert fires once. */
export interface FiringCase {
  readonly alert: string;
  /** What tells it from other cases of the same alert. */
  readonly when?: string;
  readonly series: Series;
  /** In which minute. */
  readonly at: number;
  readonly severity: 'critical' | 'warning' | 'info';
  /** Labels besides those of the installation; undefined where it has not even those. */
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly description: string;
}

/** One moment in which one alert is silent, although it is near. */
export interface SilentCase {
  readonly alert: string;
  readonly series: Series;
  readonly at: number;
}

/** Labels of the installation that all series have. */
export const installation = { cluster: 'eu', namespace: 'mimir', job: 'rollout-operator' } as const;

/** Labels of another one that the same Prometheus scrapes. */
export const another = { cluster: 'eu', namespace: 'loki', job: 'rollout-operator' } as const;

/** The name of a series of the installation with more labels, or with others in their place. */
export function of(metric: string, labels: Readonly<Record<string, string>> = {}): string {
  const all = Object.entries({ ...installation, ...labels });
  return `${metric}{${all.map(([name, value]) => `${name}="${value}"`).join(',')}}`;
}

export const api = 'rollout_operator_kubernetes_api_client_request_duration_seconds_count';
export const podRequests = 'rollout_operator_pod_http_client_request_duration_seconds_count';
export const reviews = 'rollout_operator_request_duration_seconds';
export const blocked = 'rollout_operator_group_blocked';
export const pods = 'rollout_operator_statefulset_pods';
export const ingester = { rollout_group: 'ingester' } as const;
export const zone = { ...ingester, statefulset: 'ingester-zone-a' } as const;
export const outcomes = 'rollout_operator_admission_reviews_total';
export const route = 'admission_no_downscale';
export const review = { method: 'POST', route, ws: 'false' } as const;

export const lastSuccess = 'rollout_operator_last_successful_group_reconcile_timestamp_seconds';
