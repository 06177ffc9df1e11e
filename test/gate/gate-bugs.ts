/** The planted bugs that the gate plants: one for each promise and each kind that could break it. */
import { promises } from './promises.ts';

/** Names of patches in test/mutants/. */
export const gateBugs: ReadonlySet<string> = new Set(
  Object.values(promises).flatMap(({ bugs }) => Object.values(bugs)),
);
