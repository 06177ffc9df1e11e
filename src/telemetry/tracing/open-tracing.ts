import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { atMost } from '#base/async/at-most.ts';
import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import { lostSpans, type SpanLoss } from './lost-spans.ts';
import { OtlpExporter, type PostSpans } from './otlp-exporter.ts';
import type { SamplerSettings } from './sampler-settings.ts';
import { SdkTracing } from './sdk-tracing.ts';
import type { Tracing } from './tracing.ts';
import type { TracingSettings } from './tracing-settings.ts';

/** Tracing that runs. */
export interface RunningTracing {
  readonly tracing: Tracing;
  /** Sends what has ended, for a short while at most, and ends all that it holds. Never rejects. */
  close(): Promise<void>;
}

/** What {@link openTracing} works with. */
export interface TracingParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly post: PostSpans;
  /** Counts `spans` that were lost. */
  readonly countLost: (why: SpanLoss, spans: number) => void;
  /** How long the end waits for the collector. @default 2 s */
  readonly patience?: Millis;
}

const defaultPatience = seconds(2);
/** Spans that wait at most, and how long a batch takes at most, as the specification has it. */
const defaultQueue = 2_048;
const defaultExportTimeout = 30_000;

/** Begins to trace. This module brings the SDK of OpenTelemetry with it: a process that does not trace never loads it. */
export function openTracing(settings: TracingSettings, parts: TracingParts): RunningTracing {
  const { clock, log, post, countLost: count, patience = defaultPatience } = parts;
  const { maxQueueSize: most = defaultQueue, exportTimeoutMillis } = settings.batch;
  const otlp = { ...settings.otlp, timeout: sooner(settings.otlp.timeout, exportTimeoutMillis) };
  const exporter = new OtlpExporter({ settings: otlp, most, post, clock, log });
  const selfObsMeterProvider = lostSpans({ clock, log, count });
  const processor = { exporter, selfObsMeterProvider, ...stated(settings.batch) };
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ ...settings.resource })),
    sampler: samplerOf(settings.sampler),
    spanLimits: stated(settings.limits),
    spanProcessors: [new BatchSpanProcessor(processor)],
  });
  const propagator = settings.isPropagated ? new W3CTraceContextPropagator() : undefined;
  return {
    tracing: new SdkTracing(provider.getTracer('rollout-operator'), propagator),
    close: async () => {
      // What could not be sent was reported by the exporter.
      const ended = provider.shutdown().catch(() => undefined);
      // The SDK waits for the batches that it sends now, not for those that are under way.
      const sent = ended.then(() => exporter.shutdown());
      await atMost(patience, sent, { clock, signal: new AbortController().signal });
      exporter.end();
      await sent;
    },
  };
}

/** The SDK forgets a batch after its own time, and would send others in parallel. */
function sooner(timeout: Millis, exportTimeout: number = defaultExportTimeout): Millis {
  return millis(Math.min(timeout, exportTimeout));
}

function samplerOf({ root, isParentBased }: SamplerSettings): Sampler {
  const sampler = rootSampler(root);
  return isParentBased ? new ParentBasedSampler({ root: sampler }) : sampler;
}

function rootSampler(root: SamplerSettings['root']): Sampler {
  if (root === 'all') return new AlwaysOnSampler();
  return root === 'none' ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(root);
}

/** Returns the members that are not undefined. */
function stated<Name extends string>(
  numbers: Readonly<Record<Name, number | undefined>>,
): Partial<Record<Name, number>> {
  const given: Partial<Record<Name, number>> = {};
  for (const name in numbers) {
    const number = numbers[name];
    if (number !== undefined) given[name] = number;
  }
  return given;
}
