import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptTracing } from '#support/telemetry/kept-tracing.ts';
import { RecordingLogger } from '#support/telemetry/recording.ts';
import { tracedLogger } from './traced-logger.ts';

test('tracedLogger() says in each line which recorded trace it belongs to, and else nothing', async () => {
  const { tracing, end } = keptTracing();
  const plain = new RecordingLogger();
  const log = tracedLogger(plain, tracing);
  log.info('before');
  tracing.within({ name: 'reconcile', kind: 'internal' }, () => {
    log.debug('one', { a: 1 });
    log.info('two');
    log.warn('three');
    log.with({ b: 2 }).error('four');
  });
  log.flush();
  const trace_id = (await end())[0]?.traceId;
  assert.deepEqual(plain.lines, [
    { level: 'info', message: 'before', fields: {} },
    { level: 'debug', message: 'one', fields: { trace_id, a: 1 } },
    { level: 'info', message: 'two', fields: { trace_id } },
    { level: 'warn', message: 'three', fields: { trace_id } },
    { level: 'error', message: 'four', fields: { b: 2, trace_id } },
  ]);
  assert.equal(plain.flushed, 5);
});
