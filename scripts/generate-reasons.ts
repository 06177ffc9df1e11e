/** Writes docs/reasons.md from the catalogue of reasons (D-15). */
import { writeFileSync } from 'node:fs';
import { type ReasonEntry, reasonCatalogue } from '../src/control/reasons.ts';

/** The text of docs/reasons.md. */
export function reasonsPage(): string {
  const rows = Object.entries(reasonCatalogue).map(([reason, entry]) => row(reason, entry));
  const head = [
    '# Reasons',
    '',
    'Generated from `src/control/reasons.ts` by `scripts/generate-reasons.ts`.',
    '',
    '| Reason | Kind | True when | What to do | Shown as |',
    '|---|---|---|---|---|',
  ];
  return `${[...head, ...rows].join('\n')}\n`;
}

function row(reason: string, { kind, isTrueWhen, remedy }: ReasonEntry): string {
  const gauge = `Event; \`rollout_operator_group_blocked{reason="${reason}"}\``;
  const shown = kind === 'hold' ? gauge : kind === 'warn' ? 'Event (Warning)' : 'Event (Normal)';
  return `| \`${reason}\` | ${kind} | ${isTrueWhen} | ${remedy} | ${shown} |`;
}

if (import.meta.main) {
  writeFileSync(new URL('../docs/reasons.md', import.meta.url), reasonsPage());
}
