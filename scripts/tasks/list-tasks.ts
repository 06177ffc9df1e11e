import type { TaskGroup } from './tasks.ts';

/** What `npm run do` prints: each task with its line of help, by group. */
export function listTasks(groups: Readonly<Record<string, TaskGroup>>): string {
  const names = Object.values(groups).flatMap((group) => Object.keys(group));
  const width = Math.max(...names.map(({ length }) => length));
  const sections = Object.entries(groups).map(([title, group]) => {
    const lines = Object.entries(group).map(
      ([name, { help }]) => `  ${name.padEnd(width)}  ${help}`,
    );
    return `${title}\n${lines.join('\n')}\n`;
  });
  return `npm run do <task> [argument …]; with flags: npm run do -- <task> --flag …\n\n${sections.join('\n')}`;
}
