import type { Monotonic } from '#base/units.ts';
import { compareRevisions } from '#kubernetes/revision.ts';
import type { Shown } from './reference-watch.ts';

/** What was found out last about one mirrored resource. */
export type ReferenceReading = Asked &
  (
    | {
        readonly kind: 'known';
        readonly wanted: number;
        readonly reported: number;
        readonly revision: string;
      }
    | { readonly kind: 'unresolved'; readonly message: string }
    /** `isAbsent`: the server has no such object. */
    | { readonly kind: 'unreadable'; readonly message: string; readonly isAbsent: boolean }
  );

interface Asked {
  /** When it was asked; of what could not be read: when that was known. */
  readonly at: Monotonic;
  /** The revision that the watch showed then. */
  readonly shown: string | undefined;
}

/** Which part of the resource has moved since it was read, as its watch shows it. */
export type Movement =
  | 'none'
  /** Only its status, or its metadata. */
  | 'status'
  /** What it asks for, or what does not say the two apart. */
  | 'spec'
  /** The watch does not say. */
  | 'unknown';

/** Returns what has moved since `reading`, of an object that a watch that follows the server shows as `shown`. */
export function movementSince(reading: ReferenceReading, shown: Shown | undefined): Movement {
  if (reading.kind !== 'known' || shown === undefined) {
    return shown?.revision === reading.shown ? 'unknown' : 'spec';
  }
  if (compareRevisions(shown.revision, reading.revision) <= 0) return 'none';
  return compareRevisions(shown.askedSince, reading.revision) <= 0 ? 'status' : 'spec';
}

/**
 * Returns the reading once `stored` reports `reported` at a newer revision. It moves there only where the generation shows
 * that the resource asked for the same all the time; else the watch has it read again.
 */
export function afterReport(
  reading: ReferenceReading,
  stored: {
    readonly reported: number;
    readonly revision: string;
    readonly generation: number | undefined;
  },
  shown: Shown | undefined,
): ReferenceReading {
  if (reading.kind !== 'known') return reading;
  const { reported, revision, generation } = stored;
  const isSame =
    shown !== undefined &&
    generation !== undefined &&
    shown.generation === generation &&
    compareRevisions(shown.askedSince, reading.revision) <= 0 &&
    compareRevisions(revision, reading.revision) > 0;
  return isSame ? { ...reading, reported, revision } : { ...reading, reported };
}
