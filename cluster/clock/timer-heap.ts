/** A timer of the virtual clock. */
export interface PendingTimer {
  readonly due: number;
  /** Breaks ties: the timer set first fires first (CK-2). */
  readonly sequence: number;
  readonly owner: string;
  readonly background: boolean;
  readonly fire: () => void;
  isCancelled: boolean;
}

function isBefore(a: PendingTimer, b: PendingTimer): boolean {
  return a.due < b.due || (a.due === b.due && a.sequence < b.sequence);
}

/** Timers in (due, sequence) order; a cancelled one leaves when it comes to the top. */
export class TimerHeap {
  readonly #heap: PendingTimer[] = [];

  /** Returns the timer to fire next, or undefined when there is none. */
  peek(): PendingTimer | undefined {
    while (this.#heap[0]?.isCancelled === true) this.#removeTop();
    return this.#heap[0];
  }

  /** Removes and returns what {@link peek} answers. */
  pop(): PendingTimer | undefined {
    const top = this.peek();
    if (top !== undefined) this.#removeTop();
    return top;
  }

  push(timer: PendingTimer): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(timer);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || isBefore(above, timer)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = timer;
  }

  #removeTop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const next = this.#smallerChild(at);
      const child = heap[next];
      if (child === undefined || isBefore(last, child)) break;
      heap[at] = child;
      at = next;
    }
    heap[at] = last;
  }

  #smallerChild(at: number): number {
    const left = this.#heap[at * 2 + 1];
    const right = this.#heap[at * 2 + 2];
    const isRight = left !== undefined && right !== undefined && isBefore(right, left);
    return at * 2 + (isRight ? 2 : 1);
  }
}
