import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const logSink = fileURLToPath(new URL('log-sink.ts', import.meta.url));

/** What a process says that runs `script` with a `sink`, and how it ends. */
function say(script: string): { readonly said: string; readonly end: string | number | null } {
  const program = `
    import { standardErrorSink } from ${JSON.stringify(logSink)};
    const sink = standardErrorSink();
    ${script}
  `;
  const args = ['--input-type=module', '--eval', program];
  // It stops all else in this process, the limits of tests too.
  const options = { encoding: 'utf8', timeout: 60_000 } as const;
  const { stderr, signal, status } = spawnSync(process.execPath, args, options);
  return { said: stderr, end: signal ?? status };
}

const kill = "process.kill(process.pid, 'SIGKILL');";

test('standardErrorSink() has written what was flushed when the process is killed (D-7)', () => {
  const { said, end } = say(`sink.write('deleting'); sink.write('pod'); sink.flush(); ${kill}`);
  assert.equal(said, 'deleting\npod\n');
  assert.equal(end, 'SIGKILL');
});

test('standardErrorSink() writes what waits when the process ends, also by an error', () => {
  assert.deepEqual(say("sink.write('last words'); process.exit(3);"), {
    said: 'last words\n',
    end: 3,
  });
  const { said } = say("sink.write('last words'); throw new Error('a bug');");
  assert.match(said, /^last words$/m);
});

test('standardErrorSink() writes the lines of one turn of the event loop at its end', () => {
  const { said } = say(`sink.write('one'); setImmediate(() => { ${kill} });`);
  assert.equal(said, 'one\n');
});
