import type { Logger } from '#base/logger.ts';

/** A log that is not read. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLogger,
  flush: () => undefined,
};
