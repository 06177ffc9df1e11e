import type { JsonObject } from '#base/json.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { rolloutReasons } from '#statefulset-rollout/rollout-reasons.ts';

/** What is done, by its reason. */
const deeds: Readonly<Record<string, string>> = {
  RolloutStarted: 'begins',
  StatefulSetCreated: 'makes the set',
  StatefulSetUpdated: 'writes the set',
  PodsEvicted: 'evicts',
  StuckPodReplaced: 'evicts at once',
  BrokenPodDeleted: 'deletes at once',
  RolloutDone: 'done',
  RolloutFailed: 'failed',
};

/** Reports what has changed in a StatefulsetRollout with each commit: what was done and why, or what is waited for. */
export class RolloutNarrator {
  #said = '';

  /** Returns what to say of `rollout` as it is stored now; none for what was said already */
  tell(rollout: JsonObject): readonly string[] {
    const line = lineOf(rollout);
    if (line === '' || line === this.#said) return [];
    this.#said = line;
    return [line];
  }
}

function lineOf(rollout: JsonObject): string {
  const phase = textAt(rollout, 'status', 'phase');
  const reason = textAt(rollout, 'status', 'reason');
  // The outcome is shown once more when the rollout has ended, which it does shortly where no receiver is called back.
  if (reason === '' || phase === 'CallingBack') return '';
  const colon = reason.indexOf(': ');
  const [code, message] = [reason.slice(0, colon), reason.slice(colon + 2)];
  const isHold = isReason(code) && rolloutReasons[code].kind === 'hold';
  if (!isHold) return `${deeds[code] ?? 'does'}: ${message} (${code})`;
  return `waits${message.startsWith('waiting ') ? message.slice('waiting'.length) : `: ${message}`} (${code})`;
}

function isReason(code: string): code is keyof typeof rolloutReasons {
  return Object.hasOwn(rolloutReasons, code);
}
