import type { Logger } from '#base/logger.ts';

/**
 * Tells, at every log level, of arguments that is not read. The peers ignore them silently, so that a Deployment with such a
 * word has to start (FL-3).
 *
 * @param ignored the first argument that is no flag, and all that follow
 */
export function tellIgnored(log: Logger, [first, ...rest]: readonly string[]): void {
  if (first === undefined) return;
  log.error('arguments are ignored from the first one that is not a flag', {
    argument: first,
    after: rest.join(' '),
  });
}
