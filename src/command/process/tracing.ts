import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { openTransport } from '#kubernetes/connect/connection.ts';
import type { ByteTransport } from '#kubernetes/transport/http-transport.ts';
import type { Environment } from '#kubernetes/transport/proxy.ts';
import type { MetricsRegistry } from '#telemetry/metrics.ts';
import type { SpanLoss } from '#telemetry/tracing/lost-spans.ts';
import type { RunningTracing } from '#telemetry/tracing/open-tracing.ts';
import type { PostSpans } from '#telemetry/tracing/otlp-exporter.ts';
import type { OtlpSettings, TracingFile } from '#telemetry/tracing/otlp-settings.ts';
import { readTracing } from '#telemetry/tracing/tracing-settings.ts';

/** What tracing is opened with. */
interface TracingPorts {
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricsRegistry;
}

/**
 * Begins to trace if the environment asks for it, and says so, or why not. Only then is the SDK loaded.
 *
 * @returns undefined where nothing is traced
 * @throws {Error} one sentence, where the environment asks for it in a way that cannot be read
 */
export async function tracingOf({
  env,
  clock,
  log,
  registry,
}: TracingPorts): Promise<RunningTracing | undefined> {
  const choice = readTracing(env);
  for (const { level, message, fields } of choice.notes) log[level](message, fields);
  if (choice.kind === 'off') return undefined;
  const { otlp, sampler } = choice.settings;
  const server = new URL(otlp.url.origin);
  const transport = openTransport({ server, tls: tlsOf(otlp) }, { clock, env });
  const { openTracing } = await import('#telemetry/tracing/open-tracing.ts').catch(withMissingFile);
  const countLost = lossCounter(registry);
  const post = poster(transport, otlp);
  const running = openTracing(choice.settings, { clock, log, post, countLost });
  log.info('tracing', {
    collector: otlp.url.host,
    protocol: `http/${otlp.encoding}`,
    sampler: `${sampler.isParentBased ? 'parent, else ' : ''}${sampler.root}`,
  });
  return {
    tracing: running.tracing,
    close: async () => {
      await running.close();
      await transport.close();
    },
  };
}

/** Throws `error`, or names the missing file: in a bundle the library is a file of its own, which may have been left behind. */
function withMissingFile(error: unknown): never {
  const { code, url }: NodeJS.ErrnoException & { readonly url?: unknown } = errorOf(error);
  if (code !== 'ERR_MODULE_NOT_FOUND' || typeof url !== 'string') throw error;
  throw new Error(
    `Cannot trace without the file ${fileURLToPath(url)}, which is missing: keep all files of the build in the folder of the program, or set OTEL_SDK_DISABLED=true`,
    { cause: error },
  );
}

const losses: readonly SpanLoss[] = ['QueueFull', 'NotSent'];

/** Declares the count of spans that are lost in `registry`; from 0 on, so that the first ones show in a rate. */
export function lossCounter(registry: MetricsRegistry): (why: SpanLoss, spans: number) => void {
  const lost = registry.counter({
    name: 'rollout_operator_lost_spans_total',
    help: 'Spans that no collector received, as too many waited to be sent or as it did not accept them.',
    labels: ['reason'],
  });
  for (const reason of losses) lost.add({ reason }, 0);
  return (reason, spans) => lost.add({ reason }, spans);
}

/** Far more than a collector has to say of what it refused. */
const longestAnswer = 1_048_576;

/** The server of `transport` is without the path: its requests have it, as it is. */
function poster(transport: ByteTransport, { url }: OtlpSettings): PostSpans {
  const path = `${url.pathname}${url.search}`;
  return async (post) => {
    try {
      return await transport.request({ ...post, method: 'POST', path, longestAnswer });
    } catch (error) {
      throw withoutQuery(errorOf(error), url);
    }
  };
}

/** Returns `error` as it may be shown: the query of `url` may hold a key. */
function withoutQuery({ message, cause }: Error, { pathname, search }: URL): Error {
  return new Error(
    message.replace(`${pathname}${search}`, () => pathname),
    { cause },
  );
}

function tlsOf({
  files,
}: OtlpSettings): () => Readonly<Partial<Record<'ca' | 'cert' | 'key', string>>> {
  const [ca, cert, key] = [files.ca, files.cert, files.key].map(textOf);
  const tls = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
  return () => tls;
}

function textOf(file: TracingFile | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file.path, 'utf8');
  } catch (error) {
    const { message } = errorOf(error);
    throw new Error(`Cannot set up tracing: ${file.variable} must name a PEM file: ${message}`, {
      cause: error,
    });
  }
}
