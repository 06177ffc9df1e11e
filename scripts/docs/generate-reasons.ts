/** Writes docs/reasons.md from the catalogue of reasons (D-15). */
import { writeFileSync } from 'node:fs';
import type { ReasonEntry } from '../../src/control/decision/reason-entry.ts';
import { reasonCatalogue } from '../../src/control/decision/reasons.ts';
import { phasedReasons } from '../../src/phased-rollout/phased-reasons.ts';
import { rolloutReasons } from '../../src/statefulset-rollout/rollout-reasons.ts';
import { updateReasons } from '../../src/zone-aware-update/update-reasons.ts';
import { zoneBudgetReasons } from '../../src/zone-disruption-budget/problem-reasons.ts';

/** The text of docs/reasons.md. */
export function reasonsPage(): string {
  const rows = Object.entries(reasonCatalogue).map(([reason, entry]) => row(reason, entry));
  const head = [
    '# Reasons',
    '',
    'Generated from `src/control/decision/reasons.ts` by `npm run do reasons`.',
    '',
    'What holds a set is reported as an Event and in the log when it begins, when its message changes (at most once a minute),',
    'and every 10 minutes while it lasts. Kind `hold, asked for` is reported once, as a user asked for it. The gauge of a `hold` is',
    '1 for the one reason that says best what a group waits for; that of a `warn` for each set and reason while it lasts.',
    '',
    "Where the Role permits no Events, as the peer's does not, the log has the same: what holds or warns as `msg=rollout` or",
    '`msg="rollout needs attention"` with `statefulset`, `reason` and `because`, what is done in lines of its own, such as',
    '`msg="deleting pod"`. The gauges are as here. A line at the start, `the Role lacks rules`, has the rule to add; see',
    '[where to look without Events](moving.md#where-to-look-without-events).',
    '',
    '| Reason | Kind | True when | What to do | Shown as |',
    '|---|---|---|---|---|',
  ];
  return `${[...head, ...rows, ...phasedSection(), ...updateSection(), ...zoneBudgetSection(), ...rolloutSection()].join('\n')}\n`;
}

function phasedSection(): readonly string[] {
  return section('PhasedRollouts', phasedReasons, [
    'What holds a PhasedRollout is an Event on it, and a line of the log with `phasedrollout`, repeated every 10 minutes while it lasts. Of what is done only that is',
    'an Event which starts or ends a rollout, or lets pods go; the log has all.',
  ]);
}

function updateSection(): readonly string[] {
  return section('ZoneAwareUpdates', updateReasons, [
    'What holds a ZoneAwareUpdate is an Event on it, its condition `Progressing`, and a line of the log with `zoneawareupdate`, repeated every 10 minutes while it',
    'lasts. Of what is done each step and the end are an Event.',
  ]);
}

function zoneBudgetSection(): readonly string[] {
  return section('ZoneDisruptionBudgets', zoneBudgetReasons, [
    'What keeps a ZoneDisruptionBudget from its work is an Event on it, and a line of the log with `zonedisruptionbudget`, repeated every 10 minutes while it lasts. Why',
    'an eviction is denied is in the answer to it.',
  ]);
}

function rolloutSection(): readonly string[] {
  return section('StatefulsetRollouts', rolloutReasons, [
    'What is done of a StatefulsetRollout, and what holds it, is an Event on it, at most five of one reason and rollout, and is in `status.reason`; a line of the log with',
    '`statefulsetrollout` says what holds it, again every 10 minutes while it lasts.',
  ]);
}

function section(
  title: string,
  reasons: Readonly<Record<string, ReasonEntry>>,
  text: readonly string[],
): readonly string[] {
  const rows = Object.entries(reasons).map(([reason, entry]) => {
    const { isTrueWhen, remedy } = entry;
    return `| \`${reason}\` | ${kindOf(entry)} | ${isTrueWhen} | ${remedy} |`;
  });
  const head = ['| Reason | Kind | True when | What to do |', '|---|---|---|---|'];
  return ['', `## ${title}`, '', ...text, '', ...head, ...rows];
}

/** Returns the kind, as the pages call it. */
function kindOf({ kind, urgency }: ReasonEntry): string {
  return urgency === 'wished' ? `${kind}, asked for` : kind;
}

function row(reason: string, entry: ReasonEntry): string {
  const { kind, isTrueWhen, remedy } = entry;
  const gauge = `Event; \`rollout_operator_group_blocked{reason="${reason}"}\``;
  const warning = `Event (Warning); \`rollout_operator_statefulset_warnings{reason="${reason}"}\``;
  const shown = kind === 'hold' ? gauge : kind === 'warn' ? warning : 'Event (Normal)';
  return `| \`${reason}\` | ${kindOf(entry)} | ${isTrueWhen} | ${remedy} | ${shown} |`;
}

if (import.meta.main) {
  writeFileSync(new URL('../../docs/reasons.md', import.meta.url), reasonsPage());
}
