import { isStreamingRefused, statusOf, UnmarkedListError } from './list-watch-failure.ts';
import { WatchSilentError } from './silence-alarm.ts';

/** Streaming lists that fail in a row, for whatever reason, before pages are tried. */
const maxFailed = 3;

/** Whether streaming lists are worth a try, as those that failed have shown. */
export class StreamingLists {
  #isKnownBad = false;
  #failed = 0;

  /** Reports whether the server does not know them. */
  get isKnownBad(): boolean {
    return this.#isKnownBad;
  }

  /** Notes that a list came to its end. */
  listed(): void {
    this.#failed = 0;
  }

  /** Notes that a streaming list failed with `error`. @returns whether pages may do better */
  failed(error: unknown): boolean {
    this.#failed += 1;
    if (error instanceof UnmarkedListError) {
      this.#isKnownBad ||= error.isConclusive;
      return true;
    }
    if (isStreamingRefused(error)) {
      // A 404 is about the type and says nothing of the server's skill.
      this.#isKnownBad ||= statusOf(error) !== 404;
      return true;
    }
    if (error instanceof WatchSilentError) return true;
    return this.#failed >= maxFailed && (statusOf(error) ?? 500) >= 500;
  }
}
