import type { TracingNote } from './tracing-note.ts';
import { refusedText, type TracingVariables } from './tracing-variables.ts';

const propagators = [
  'tracecontext',
  'none',
  'baggage',
  'jaeger',
  'b3',
  'b3multi',
  'xray',
  'ottrace',
] as const;

/**
 * Reads `OTEL_PROPAGATORS`: W3C's trace context, unless it leaves that out.
 *
 * @throws {TracingVariableError} where it names something that is unknown
 */
export function readPropagation(variables: TracingVariables): {
  readonly isPropagated: boolean;
  readonly note: TracingNote | undefined;
} {
  const name = 'OTEL_PROPAGATORS';
  const named = variables.text(name)?.split(',') ?? ['tracecontext'];
  const words = named.map((each) => each.trim()).filter((each) => each !== '');
  const strange = words.find((word) => !propagators.some((each) => each === word));
  if (strange !== undefined) {
    throw refusedText(name, `names of ${propagators.join(', ')}, between commas`, strange);
  }
  const others = words.filter((word) => word !== 'tracecontext' && word !== 'none');
  const isPropagated = words.includes('tracecontext') && !words.includes('none');
  if (others.length === 0 || words.includes('none')) return { isPropagated, note: undefined };
  const message = 'only the trace context of W3C is passed on, not what else was asked for';
  const fields = { variable: name, not_passed_on: others, set_instead: `${name}=tracecontext` };
  return { isPropagated, note: { level: 'warn', message, fields } };
}
