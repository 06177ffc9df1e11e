import type { Governing } from '../spec/known-budgets.ts';
import type { EvictionVerdict } from './eviction-budgets.ts';

type Unclear = Extract<Governing, { kind: 'unclear' }>;

/** Returns what keeps it unknown which budget governs a pod, with the names of those that may. */
export function ambiguityText({ budgets, text }: Unclear): string {
  const names = budgets.map(({ name }) => name).join(', ');
  return names === '' ? text : `${text} (${names})`;
}

/** Returns the same as an answer to who evicts: budgets that are not read yet will be, and others wait for a person. */
export function ambiguousVerdict({ budgets, text }: Unclear): EvictionVerdict {
  if (budgets.length === 0) {
    return { kind: 'unclear', budget: undefined, why: text, until: undefined };
  }
  return { kind: 'ambiguous', budgets: budgets.map(({ name }) => name), text };
}
