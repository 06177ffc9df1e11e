/** What an existing cluster committed, as its watches tell it: its etcd and its audit log are out of reach. */

import type { Clock } from '#base/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { CommitLog, recordedTypes } from './commit-log.ts';
import type { Recorder } from './recorder.ts';

/** Follows the recorded types in all namespaces; resolves when every watch is open. */
export async function followWatches(transport: Transport, clock: Clock): Promise<Recorder> {
  const log = new CommitLog(() => clock.now());
  const ending = new AbortController();
  const { signal } = ending;
  const watches = Object.entries(recordedTypes).map(async ([plural, resource]) => {
    const [, group] = resource.split('.');
    const path = group === undefined ? `/api/v1/${plural}` : `/apis/${group}/v1/${plural}`;
    const request = { method: 'GET', path: `${path}?watch=1`, signal } as const;
    const { status, chunks } = await transport.stream({ ...request, timeout: seconds(30) });
    if (status !== 200) throw new Error(`Cannot watch ${resource}: ${status}`);
    void read(chunks, { log, resource }).then(
      () => log.fail(new Error(`The watch of ${resource} ended`)),
      (cause: unknown) => log.fail(new Error(`The watch of ${resource} broke off`, { cause })),
    );
  });
  await Promise.all(watches);
  return { log, close: () => ending.abort() };
}

async function read(
  chunks: AsyncIterable<Uint8Array>,
  { log, resource }: { readonly log: CommitLog; readonly resource: string },
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { type, object } = JSON.parse(line) as { type: string; object: JsonObject };
      if (type === 'ERROR') throw new Error(JSON.stringify(object));
      const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
      const text = (name: string): string => textOf(metadata[name]);
      const key = { resource, namespace: text('namespace'), name: text('name') };
      const revision = Number(text('resourceVersion'));
      log.take({ key, revision, ...(type !== 'DELETED' && { after: Object.freeze(object) }) });
    }
  }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
