/** What a person can ask for while the demo waits. */
export type Key = 'roll' | 'break' | 'quit';

const keys: Readonly<Record<string, Key>> = {
  '\r': 'roll',
  '\n': 'roll',
  b: 'break',
  q: 'quit',
  '\u0003': 'quit',
  '\u0004': 'quit',
};

/** Single keys of the standard input; the terminal is as before when it is closed, or the process exits. */
export class Keyboard {
  readonly #restore = (): void => {
    process.stdin.setRawMode(false);
  };
  readonly #onData: (bytes: Buffer) => void;

  /** @param onKey called with each key that means something */
  constructor(onKey: (key: Key) => void) {
    this.#onData = (bytes) => {
      for (const character of bytes.toString()) {
        const key = keys[character];
        if (key !== undefined) onKey(key);
      }
    };
    process.stdin.setRawMode(true);
    process.stdin.on('data', this.#onData);
    process.on('exit', this.#restore);
  }

  close(): void {
    process.off('exit', this.#restore);
    process.stdin.off('data', this.#onData);
    process.stdin.pause();
    this.#restore();
  }
}
