import type { LogFields, LogLevel } from '#base/logger.ts';

/** What the environment says about tracing, and what the operator says about that. */
export interface TracingSetup {
  /** `OTEL_SERVICE_NAME`, else `JAEGER_SERVICE_NAME`, else `rollout-operator` (EN-3). */
  readonly serviceName: string;
  readonly backend: 'none' | 'jaeger' | 'opentelemetry';
  /** The event to log at the start; undefined when no back-end is configured. */
  readonly event:
    | { readonly level: LogLevel; readonly message: string; readonly fields: LogFields }
    | undefined;
}

const jaegerVariables = [
  'JAEGER_AGENT_HOST',
  'JAEGER_ENDPOINT',
  'JAEGER_SAMPLER_MANAGER_HOST_PORT',
] as const;

const openTelemetryVariables = [
  'OTEL_TRACES_EXPORTER',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
] as const;

/**
 * Which tracing back-end `env` configures (EN-4). Tracing is not built in this version: a configured back-end
 * is named in one warning and never keeps the operator from becoming ready. Endpoints are not logged, as they
 * may hold credentials.
 */
export function tracingSetup(env: Readonly<Record<string, string | undefined>>): TracingSetup {
  const serviceName = env['OTEL_SERVICE_NAME'] || env['JAEGER_SERVICE_NAME'] || 'rollout-operator';
  const jaeger = jaegerVariables.filter((name) => isSet(env[name]));
  if (jaeger.length > 0) return configured(serviceName, 'jaeger', jaeger);
  const openTelemetry = openTelemetryVariables.filter((name) => isSet(env[name]));
  if (openTelemetry.length > 0) return configured(serviceName, 'opentelemetry', openTelemetry);
  return { serviceName, backend: 'none', event: undefined };
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

function configured(
  serviceName: string,
  backend: 'jaeger' | 'opentelemetry',
  variables: readonly string[],
): TracingSetup {
  return {
    serviceName,
    backend,
    event: {
      level: 'warn',
      message: 'tracing is configured but not built in this version, no traces are sent',
      fields: { backend, service: serviceName, variables },
    },
  };
}
