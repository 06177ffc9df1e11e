/**
 * Checks the message of a commit, which git has written to a file: a short subject, a body, and a figure for each
 * promise of speed. `scripts/hooks/commit-msg` runs it before the commit is made.
 */
import { readFileSync } from 'node:fs';

const longestSubject = 72;
/** Below this line git shows the change itself, where it was asked to. */
const scissors = /^# -+ >8 -+$/m;

/** Returns what is wrong with `message`, one sentence each; nothing with that of a merge, or of a commit that is to be melted into another. */
export function messageProblems(message: string): readonly string[] {
  const [written = ''] = message.split(scissors);
  const [subject = '', ...rest] = written
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .trim()
    .split('\n');
  if (/^(?:Merge |(?:fixup|squash|amend)! )/.test(subject)) return [];
  return [...subjectProblems(subject), ...bodyProblems(subject, rest)];
}

function subjectProblems(subject: string): readonly string[] {
  const { length } = subject;
  if (length <= longestSubject) return [];
  return [`The subject has ${length} characters, and must have ${longestSubject} at most.`];
}

function bodyProblems(
  subject: string,
  [blank = '', ...body]: readonly string[],
): readonly string[] {
  if (blank !== '') return ['The second line must be empty: the subject ends with the first.'];
  if (body.length === 0) {
    return [
      'There is no body: say what was wrong or missing, why this way, and how it was checked.',
    ];
  }
  if (/^perf\b/.test(subject) && !/\d/.test(body.join('\n'))) {
    return ['The body of a perf has no figure: say what was measured before and after.'];
  }
  return [];
}

if (import.meta.main) {
  const problems = messageProblems(readFileSync(process.argv[2] ?? '', 'utf8'));
  process.stderr.write(problems.map((problem) => `${problem}\n`).join(''));
  process.exitCode = problems.length === 0 ? 0 : 1;
}
