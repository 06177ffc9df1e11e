import { type ReadSampler, readJaegerSampler } from './sampler-settings.ts';
import type { TracingNote } from './tracing-note.ts';
import { refusedText, refusedUrl, type TracingVariables } from './tracing-variables.ts';

/** What Jaeger's variables ask for. Its protocol is not spoken: what it receives by OTLP is sent so, if it is said where. */
export interface JaegerSettings {
  /** For where no OTLP endpoint is set. */
  readonly unsent: TracingNote;
  /** For where one is. */
  readonly otherwise: TracingNote;
  readonly sampler: ReadSampler;
  readonly tags: Readonly<Record<string, string>>;
  readonly maxQueueSize: number | undefined;
}

/** Any of them asks for tracing by Jaeger (EN-4). */
const asking = [
  'JAEGER_AGENT_HOST',
  'JAEGER_ENDPOINT',
  'JAEGER_SAMPLER_MANAGER_HOST_PORT',
] as const;

/** Reads Jaeger's variables; undefined where none of them asks for tracing. @throws {TracingVariableError} */
export function readJaeger(variables: TracingVariables): JaegerSettings | undefined {
  const asked = asking.filter((name) => variables.text(name) !== undefined);
  if (asked.length === 0) return undefined;
  const host = collectorOf(variables);
  return {
    unsent: {
      level: 'warn',
      message: "Jaeger's own protocol is not spoken by this program, no traces are sent",
      fields: {
        variables: asked,
        set_instead: `OTEL_EXPORTER_OTLP_ENDPOINT=http://${host}:4318`,
      },
    },
    otherwise: {
      level: 'warn',
      message: "Jaeger's own protocol is not spoken by this program, traces are sent by OTLP",
      fields: { variables: asked },
    },
    sampler: readJaegerSampler(variables),
    tags: tagsOf(variables),
    maxQueueSize: variables.whole('JAEGER_REPORTER_MAX_QUEUE_SIZE', 1),
  };
}

/** Returns the host that traces were sent to so far: Jaeger takes OTLP there since its version 1.35. */
function collectorOf(variables: TracingVariables): string {
  const endpoint = variables.text('JAEGER_ENDPOINT');
  if (endpoint === undefined) return variables.text('JAEGER_AGENT_HOST') ?? 'localhost';
  const url = URL.parse(endpoint);
  if (url !== null) return url.hostname === '' ? '<collector>' : url.hostname;
  throw refusedUrl('JAEGER_ENDPOINT', 'http://collector:14268/api/traces', endpoint);
}

/** Returns `JAEGER_TAGS`: `key=value` between commas; `${name:default}` stands for a variable. */
function tagsOf(variables: TracingVariables): Readonly<Record<string, string>> {
  const name = 'JAEGER_TAGS';
  const tags: Record<string, string> = {};
  for (const pair of (variables.text(name) ?? '').split(',')) {
    if (pair === '') continue;
    const [, key = '', text = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
    const value = substituted(text.trim(), variables);
    if (value === '')
      throw refusedText(name, 'pairs such as "key=value,other=${NAME:default}"', pair);
    tags[key.trim()] = value;
  }
  return tags;
}

function substituted(text: string, variables: TracingVariables): string {
  const [, name, fallback = ''] = /^\$\{([^:]*)(?::(.*))?\}$/s.exec(text) ?? [];
  return name === undefined ? text : (variables.text(name) ?? fallback);
}
