/** How the operator of Prometheus scrapes ours. */
import { name, plain } from './deployment.ts';

const [port] = plain.ports;

/** A ServiceMonitor for the Service with `labels`. */
export function serviceMonitor(labels: object): object {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      endpoints: [{ port: port?.name, scheme: 'http' }],
    },
  };
}

/** A Service for it, where there is none: no address of its own, as each replica is scraped. */
export function metricsService(labels: object): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `${name}-metrics`, labels: { ...labels, metrics: 'true' } },
    spec: {
      clusterIP: 'None',
      selector: labels,
      ports: [
        { name: port?.name, port: port?.containerPort, protocol: 'TCP', targetPort: port?.name },
      ],
    },
  };
}
