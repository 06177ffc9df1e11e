import type { Clock } from '#base/clock.ts';
import type { Millis } from '#base/units.ts';
import type { TransportStream } from '../transport/transport.ts';
import { SilenceAlarm } from './silence-alarm.ts';
import type { WatchDecoder, WatchEvent } from './watch-decoder.ts';

/** How one watch is read. */
export interface WatchReading {
  readonly clock: Clock;
  /** What is watched, in words. */
  readonly subject: string;
  /** Asks for it; `signal` aborts when it is to be left. */
  open(signal: AbortSignal): Promise<TransportStream>;
  readonly decoder: WatchDecoder;
  /** Takes each event. What it throws ends the watch. */
  receive(event: WatchEvent): void;
  /** Returns how long it may deliver nothing from now on; asked again after each event. */
  silenceLimit(): Millis;
}

/** Bytes decoded at a stretch before other work gets its turn: a few milliseconds. */
const stretch = 128 * 1024;

/**
 * Reads one watch until it ends, however it ends.
 * @throws {WatchSilentError} when it says nothing for too long (D-9)
 */
export async function readWatch(reading: WatchReading, signal: AbortSignal): Promise<void> {
  const { clock, subject } = reading;
  using alarm = new SilenceAlarm({ clock, signal, owner: `watch of ${subject}` });
  alarm.arm(reading.silenceLimit());
  try {
    const { chunks } = await reading.open(alarm.signal);
    await readAll(chunks, reading, alarm);
  } catch (error) {
    throw alarm.silence ?? error;
  }
}

async function readAll(
  chunks: AsyncIterable<Uint8Array>,
  reading: WatchReading,
  alarm: SilenceAlarm,
): Promise<void> {
  const { clock, decoder } = reading;
  let turn = stretch;
  for await (const chunk of chunks) {
    for (const event of decoder.push(chunk)) {
      reading.receive(event);
      alarm.arm(reading.silenceLimit());
      if (decoder.consumed < turn) continue;
      await clock.yield();
      alarm.signal.throwIfAborted();
      turn = decoder.consumed + stretch;
    }
  }
  alarm.signal.throwIfAborted();
  decoder.end();
}
