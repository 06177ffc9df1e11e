import type { Version } from './version.ts';

/** Versions in one run; a run that grows beyond it is cut in two, so that no insertion moves more than these. */
const longestRun = 64;

/** Versions in key order (ST-2), in runs: an insertion into ten thousand costs as much as into a hundred. */
export class SortedVersions {
  /** None is empty; each ends before the next begins. */
  readonly #runs: Version[][] = [];

  /** Returns the versions whose keys are not before `from` and, where given, before `to`. */
  range(from: string, to?: string): readonly Version[] {
    const found: Version[] = [];
    for (let index = this.#runOf(from); index < this.#runs.length; index += 1) {
      const run = this.#runs[index] ?? [];
      const start = positionOf(run, from);
      const end = to === undefined ? run.length : positionOf(run, to);
      for (let at = start; at < end; at += 1) {
        const version = run[at];
        if (version !== undefined) found.push(version);
      }
      if (end < run.length) break;
    }
    return found;
  }

  /** Files `version` under its key, in place of the one that is there. */
  set(version: Version): void {
    const index = this.#runOf(version.key);
    const run = this.#runs[index] ?? this.#runs.at(-1);
    if (run === undefined) {
      this.#runs.push([version]);
      return;
    }
    const at = positionOf(run, version.key);
    run.splice(at, run[at]?.key === version.key ? 1 : 0, version);
    if (run.length > longestRun) {
      this.#runs.splice(this.#runs.indexOf(run) + 1, 0, run.splice(longestRun / 2));
    }
  }

  /** Takes out the version of `key`, if there is one. */
  delete(key: string): void {
    const index = this.#runOf(key);
    const run = this.#runs[index];
    const at = positionOf(run ?? [], key);
    if (run?.[at]?.key !== key) return;
    run.splice(at, 1);
    if (run.length === 0) this.#runs.splice(index, 1);
  }

  /** Returns the index of the first run that ends at `key` or behind it; the number of runs when all end before. */
  #runOf(key: string): number {
    return firstIndex(this.#runs, (run) => (run.at(-1)?.key ?? '') >= key);
  }
}

/** Returns the index of the first version whose key is not before `key`. */
function positionOf(run: readonly Version[], key: string): number {
  return firstIndex(run, (version) => version.key >= key);
}

/** Returns the index of the first item for which `isBehind` holds, where it holds for all that follow; else the length. */
function firstIndex<T>(items: readonly T[], isBehind: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle];
    if (item !== undefined && !isBehind(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
