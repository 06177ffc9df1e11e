import type { TracingVariables } from './tracing-variables.ts';

/** How spans are collected until they are sent; undefined: as the specification has it. */
export interface BatchSettings {
  readonly scheduledDelayMillis: number | undefined;
  readonly exportTimeoutMillis: number | undefined;
  /** Spans that wait at most; what comes then is dropped. */
  readonly maxQueueSize: number | undefined;
  readonly maxExportBatchSize: number | undefined;
}

/** How much a span may hold; undefined: as the specification has it. */
export interface SpanLimits {
  readonly attributeValueLengthLimit: number | undefined;
  readonly attributeCountLimit: number | undefined;
  readonly eventCountLimit: number | undefined;
  readonly linkCountLimit: number | undefined;
  readonly attributePerEventCountLimit: number | undefined;
  readonly attributePerLinkCountLimit: number | undefined;
}

/** Reads `OTEL_BSP_*`. @throws {TracingVariableError} @param queue size of the queue where those say none */
export function readBatch(variables: TracingVariables, queue: number | undefined): BatchSettings {
  return {
    scheduledDelayMillis: variables.whole('OTEL_BSP_SCHEDULE_DELAY', 0),
    exportTimeoutMillis: variables.whole('OTEL_BSP_EXPORT_TIMEOUT', 1),
    maxQueueSize: variables.whole('OTEL_BSP_MAX_QUEUE_SIZE', 1) ?? queue,
    maxExportBatchSize: variables.whole('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 1),
  };
}

/** Reads `OTEL_SPAN_*_LIMIT`, `OTEL_EVENT_*_LIMIT` and `OTEL_LINK_*_LIMIT`. @throws {TracingVariableError} */
export function readLimits(variables: TracingVariables): SpanLimits {
  return {
    attributeValueLengthLimit: variables.whole('OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT', 0),
    attributeCountLimit: variables.whole('OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT', 0),
    eventCountLimit: variables.whole('OTEL_SPAN_EVENT_COUNT_LIMIT', 0),
    linkCountLimit: variables.whole('OTEL_SPAN_LINK_COUNT_LIMIT', 0),
    attributePerEventCountLimit: variables.whole('OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT', 0),
    attributePerLinkCountLimit: variables.whole('OTEL_LINK_ATTRIBUTE_COUNT_LIMIT', 0),
  };
}
