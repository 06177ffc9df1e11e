import type { LogFields } from '#base/logger.ts';
import { type BatchSettings, readBatch, readLimits, type SpanLimits } from './batch-settings.ts';
import { type JaegerSettings, readJaeger } from './jaeger-settings.ts';
import { type OtlpSettings, readOtlp } from './otlp-settings.ts';
import { readPropagation } from './propagation-settings.ts';
import { type ReadSampler, readSampler, type SamplerSettings } from './sampler-settings.ts';
import type { TracingNote } from './tracing-note.ts';
import { type Environment, TracingVariables } from './tracing-variables.ts';

/** What is traced, and where it goes. */
export interface TracingSettings {
  /** `service.name` of the spans, and what else is said of this process. */
  readonly resource: Readonly<Record<string, string>>;
  readonly otlp: OtlpSettings;
  readonly sampler: SamplerSettings;
  /** Whether the trace goes on in what is asked of others, and comes from who asks. */
  readonly isPropagated: boolean;
  readonly batch: BatchSettings;
  readonly limits: SpanLimits;
}

/** What the environment says about tracing; off: nothing is recorded, nor sent. */
export type TracingChoice =
  | { readonly kind: 'off'; readonly notes: readonly TracingNote[] }
  | {
      readonly kind: 'on';
      readonly settings: TracingSettings;
      readonly notes: readonly TracingNote[];
    };

/** Any of them asks for tracing by OpenTelemetry (EN-4); a sampler alone does not. */
const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const;
const asking = ['OTEL_TRACES_EXPORTER', ...endpoints] as const;

const off = { kind: 'off', notes: [] } as const;
/** The specification's sampler where none is named. */
const everything: ReadSampler = { settings: { root: 'all', isParentBased: true } };

/**
 * Returns what `env` says about tracing (EN-3, EN-4). What is asked for and cannot be done is a warning that says what to
 * set instead, and never keeps the operator from working.
 *
 * @throws {TracingVariableError} where a variable that counts cannot be read
 */
export function readTracing(env: Environment): TracingChoice {
  const variables = new TracingVariables(env);
  if (variables.text('OTEL_SDK_DISABLED')?.trim().toLowerCase() === 'true') {
    return silent('OTEL_SDK_DISABLED');
  }
  const jaeger = readJaeger(variables);
  const unasked = jaeger === undefined ? off : { ...off, notes: [jaeger.unsent] };
  const counting = jaeger === undefined ? asking : endpoints;
  if (variables.firstOf(...counting) === undefined) return unasked;
  const [exporting] = asking;
  const exporter = variables.word(exporting, ['otlp', 'none', 'console'] as const);
  if (exporter === 'none') return silent(exporting);
  if (exporter === 'console') return notSent('spans are not written to the console', exporting);
  const otlp = readOtlp(variables);
  if (otlp.kind === 'spoken') return traced(variables, otlp.settings, jaeger);
  return notSent(`spans are not sent by ${otlp.protocol}`, otlp.variable, {
    set_instead: 'OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, and an endpoint with its port, 4318',
  });
}

function traced(
  variables: TracingVariables,
  otlp: OtlpSettings,
  jaeger: JaegerSettings | undefined,
): TracingChoice {
  const sampler = readSampler(variables) ?? jaeger?.sampler ?? everything;
  const propagation = readPropagation(variables);
  const notes = [jaeger?.otherwise, sampler.note, propagation.note];
  return {
    kind: 'on',
    settings: {
      resource: {
        ...jaeger?.tags,
        ...variables.pairs('OTEL_RESOURCE_ATTRIBUTES'),
        'service.name': serviceName(variables),
      },
      otlp,
      sampler: sampler.settings,
      isPropagated: propagation.isPropagated,
      batch: readBatch(variables, jaeger?.maxQueueSize),
      limits: readLimits(variables),
    },
    notes: notes.filter((note) => note !== undefined),
  };
}

function serviceName(variables: TracingVariables): string {
  const named = variables.firstOf('OTEL_SERVICE_NAME', 'JAEGER_SERVICE_NAME');
  return named?.text ?? 'rollout-operator';
}

function silent(variable: string): TracingChoice {
  const message = 'tracing is switched off';
  return { kind: 'off', notes: [{ level: 'info', message, fields: { variable } }] };
}

function notSent(what: string, variable: string, more: LogFields = {}): TracingChoice {
  const message = `${what} by this program, no traces are sent`;
  const fields = { variable, set_instead: 'OTEL_TRACES_EXPORTER=otlp', ...more };
  return { kind: 'off', notes: [{ level: 'warn', message, fields }] };
}
