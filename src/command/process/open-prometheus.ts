import type { Clock } from '#base/clock.ts';
import { problemText } from '#base/parsed.ts';
import { createPrometheus, type Prometheus } from '#check/prometheus/prometheus.ts';
import type { QueryConfig } from '#config/flags/query-flags.ts';
import { parseAllowedHosts } from '#kubernetes/outgoing/allowed-hosts.ts';

/** Returns what asks the servers of Prometheus that `queries` permits. @throws {Error} all that is wrong with the list of hosts */
export function openPrometheus(
  { allowedHosts, permitsLoopback }: QueryConfig,
  { clock }: { readonly clock: Clock },
): Prometheus {
  const hosts = parseAllowedHosts(allowedHosts, '-query-allowed-hosts');
  if (hosts.kind === 'invalid') throw new Error(hosts.problems.map(problemText).join('\n'));
  return createPrometheus({ clock, env: process.env, hosts: hosts.value, permitsLoopback });
}
