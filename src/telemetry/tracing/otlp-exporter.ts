import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { SparseLog } from '#base/sparse-log.ts';
import { type Millis, millis } from '#base/units.ts';
import type { OtlpSettings } from './otlp-settings.ts';

/** One batch on its way to the collector. */
export interface SpanPost {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Time until the whole answer. */
  readonly timeout: Millis;
  /** Gives it up. */
  readonly signal: AbortSignal;
}

/** Posts to the collector. @throws where there is no whole answer */
export type PostSpans = (
  post: SpanPost,
) => Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>> }>;

/** What {@link OtlpExporter} works with. */
export interface OtlpExporterOptions {
  readonly settings: OtlpSettings;
  /** Most spans under way at once: the SDK sends a batch in addition to the others for each that fails. */
  readonly most: number;
  readonly post: PostSpans;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What a collector answers with that wants the same batch later, by the protocol. */
const later: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const firstWait = 1_000;
const longestWait = 5_000;

const compressed = promisify(gzip);

/**
 * Sends spans by OTLP over HTTP. The library's own exporter cannot be ended: its timers and connections keep the process
 * alive for as long as a collector that hangs pleases, and it takes no notice of a proxy.
 */
export class OtlpExporter implements SpanExporter {
  readonly #options: OtlpExporterOptions;
  readonly #failures: SparseLog;
  readonly #ending = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  #spansUnderWay = 0;

  constructor(options: OtlpExporterOptions) {
    this.#options = options;
    this.#failures = new SparseLog(options.log, options.clock);
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    const reported = this.#report(spans, done);
    this.#underWay.add(reported);
    void reported.finally(() => this.#underWay.delete(reported));
  }

  async #report(spans: ReadableSpan[], done: (result: ExportResult) => void): Promise<void> {
    this.#spansUnderWay += spans.length;
    const result = await this.#exported(spans);
    this.#spansUnderWay -= spans.length;
    done(result);
  }

  /** Exports, and never rejects. */
  async #exported(spans: ReadableSpan[]): Promise<ExportResult> {
    try {
      await this.#send(spans);
      return { code: ExportResultCode.SUCCESS };
    } catch (cause) {
      const error = errorOf(cause);
      const { host } = this.#options.settings.url;
      const told = { collector: host, spans: spans.length, err: error };
      this.#failures.warn('', 'spans could not be sent', told);
      return { code: ExportResultCode.FAILED, error };
    }
  }

  /** Gives up what is under way, and sends nothing any more. */
  end(): void {
    this.#ending.abort(new Error('the program ends'));
  }

  /** Resolves when nothing is under way any more, by itself or by {@link end}. */
  async shutdown(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #send(spans: ReadableSpan[]): Promise<void> {
    const { clock, settings, most } = this.#options;
    const others = this.#spansUnderWay - spans.length;
    if (others > 0 && others + spans.length > most) {
      throw new Error(`${others} spans are on their way already`);
    }
    const until = clock.monotonic() + settings.timeout;
    const request = await this.#request(spans);
    for (let wait = firstWait; ; wait = Math.min(wait * 2, longestWait)) {
      const { why, retryAfter } = await this.#tried(request, millis(until - clock.monotonic()));
      if (why === undefined) return;
      const pause = millis(retryAfter ?? wait);
      if (clock.monotonic() + pause >= until) throw why;
      const { signal } = this.#ending;
      await clock.sleep(pause, { signal, owner: 'spans to be sent again', background: true });
    }
  }

  /** Tries once. @returns why it is to be sent again, and nothing where it is not @throws where it never will be taken */
  async #tried(
    request: Pick<SpanPost, 'headers' | 'body'>,
    timeout: Millis,
  ): Promise<{ readonly why?: Error; readonly retryAfter?: number | undefined }> {
    const { signal } = this.#ending;
    signal.throwIfAborted();
    let answer: Awaited<ReturnType<PostSpans>>;
    try {
      answer = await this.#options.post({ ...request, timeout, signal });
    } catch (error) {
      signal.throwIfAborted();
      return { why: errorOf(error) };
    }
    if (answer.status >= 200 && answer.status < 300) return {};
    const why = new Error(`the collector answered ${answer.status}`);
    if (!later.has(answer.status)) throw why;
    const seconds = Number(answer.headers['retry-after'] ?? Number.NaN);
    return { why, retryAfter: seconds > 0 ? Math.max(firstWait, seconds * 1_000) : undefined };
  }

  async #request(spans: ReadableSpan[]): Promise<Pick<SpanPost, 'headers' | 'body'>> {
    const { encoding, isCompressed, headers } = this.#options.settings;
    const isJson = encoding === 'json';
    const serializer = isJson ? JsonTraceSerializer : ProtobufTraceSerializer;
    const plain = serializer.serializeRequest(spans) ?? new Uint8Array();
    return {
      headers: {
        'user-agent': 'rollout-operator',
        ...headers,
        'content-type': isJson ? 'application/json' : 'application/x-protobuf',
        ...(isCompressed && { 'content-encoding': 'gzip' }),
      },
      body: isCompressed ? await compressed(plain) : plain,
    };
  }
}
