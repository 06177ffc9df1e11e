import { readBegin } from '#base/async/read-begin.ts';
import type { Clock } from '#base/clock.ts';
import { seconds } from '#base/units.ts';
import { parseRefusal } from './parse-answer.ts';
import type { Call } from './transport/api-error.ts';
import type { TransportStream } from './transport/transport.ts';

const DEADLINE = seconds(30);
/** In bytes. */
const LONGEST = 262_144;

/** A watch that the server has refused. */
interface RefusedWatch {
  readonly call: Call;
  readonly stream: TransportStream;
  /** Ends the request, which its signal is a part of. */
  readonly patience: AbortController;
}

/** Reads the body of a refused watch, which needs to be no longer than a Status; one that does not end within 30 s is given up. */
export async function readRefusal(
  { call, stream, patience }: RefusedWatch,
  clock: Clock,
): Promise<Error> {
  const timer = clock.timer(DEADLINE, () => patience.abort());
  const chunks: Uint8Array[] = [];
  try {
    await readBegin(stream.chunks, LONGEST + 1, chunks);
  } finally {
    timer.cancel();
  }
  const { status, headers } = stream;
  return parseRefusal({ call, status, headers, body: Buffer.concat(chunks) }, clock.now());
}
