import type { LineSink } from '#telemetry/log/line-logger.ts';

/**
 * Returns a sink to standard error, all lines of one turn of the event loop in one write: under load a write a line costs as
 * much as the work that it reports. What waits when the process exits is written then, also after an uncaught exception;
 * what must outlive a SIGKILL has to be flushed.
 */
export function standardErrorSink(): LineSink {
  let lines: string[] = [];
  const flush = (): void => {
    if (lines.length === 0) return;
    const text = `${lines.join('\n')}\n`;
    lines = [];
    process.stderr.write(text);
  };
  process.once('exit', flush);
  return {
    write: (line) => {
      if (lines.length === 0) setImmediate(flush);
      lines.push(line);
    },
    flush,
  };
}
