import { openTracing } from '#telemetry/tracing/open-tracing.ts';
import type { Tracing } from '#telemetry/tracing/tracing.ts';
import { readTracing } from '#telemetry/tracing/tracing-settings.ts';
import type { Environment } from '#telemetry/tracing/tracing-variables.ts';
import { ManualClock } from '../clocks/manual-clock.ts';
import { type SeenSpan, spansIn } from './otlp-spans.ts';
import { silentLogger } from './silent-logger.ts';

/** Tracing by the real SDK whose collector is this object. */
export interface KeptTracing {
  readonly tracing: Tracing;
  /** Ends it. @returns all spans that ended, in the order of their ends */
  readonly end: () => Promise<readonly SeenSpan[]>;
}

/** Returns traces as `env` has it besides where the spans go. */
export function keptTracing(env: Environment = {}): KeptTracing {
  const kept: SeenSpan[] = [];
  const choice = readTracing({
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    ...env,
  });
  if (choice.kind === 'off') throw new Error('nothing is traced');
  const running = openTracing(choice.settings, {
    clock: new ManualClock(),
    log: silentLogger,
    countLost: () => undefined,
    post: async ({ body }) => {
      kept.push(...spansIn(Buffer.from(body).toString()));
      return { status: 200, headers: {} };
    },
  });
  return {
    tracing: running.tracing,
    end: async () => {
      await running.close();
      return kept;
    },
  };
}
