import type { JsonObject } from '#base/json.ts';
import { numberAt, objectsAt, textAt } from '#cluster/json/read-json.ts';

/** Reports what has changed in a ZoneAwareUpdate with each commit: the step that was done, and else why the next one waits. */
export class UpdateNarrator {
  #said = '';
  #step = 0;

  /** Returns what to say of `update` as it is stored now; none for what was said already */
  tell(update: JsonObject): readonly string[] {
    const step = numberAt(update, 'status', 'updateStep') ?? 0;
    const isStep = step > this.#step;
    this.#step = step;
    const [condition] = objectsAt(update, 'status', 'conditions');
    const reason = textAt(condition, 'reason');
    const message = textAt(condition, 'message');
    if (isStep) return this.#say(message);
    switch (reason) {
      case '':
      case 'PodOutdated':
      // It comes and goes before each step.
      case 'AwaitingAlarm':
        return [];
      case 'Updated':
        return this.#say(message);
      default:
        return this.#say(`waits: ${message} (${reason})`);
    }
  }

  #say(line: string): readonly string[] {
    if (line === this.#said) return [];
    this.#said = line;
    return [line];
  }
}
