import { isJsonArray } from '#base/json.ts';
import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { type Instant, instant } from '#base/units.ts';
import type { Alarm } from './alarm.ts';

/** One page of an answer to `DescribeAlarms`. */
export interface AlarmsPage {
  readonly alarms: readonly Alarm[];
  /** Names the next page. */
  readonly next?: string;
}

const lists = ['CompositeAlarms', 'MetricAlarms'] as const;

/** Reads what the SDK made of an answer: it looks at the types of hardly anything. */
export function parseAlarms(output: object): Parsed<AlarmsPage> {
  const members = new Map<string, unknown>(Object.entries(output));
  const [found, ...others] = lists.filter((each) => members.get(each) !== undefined);
  if (found === undefined) return invalid('answer', `must have ${lists.join(' or ')}`);
  const alarms: Alarm[] = [];
  for (const list of [found, ...others]) {
    const elements = members.get(list);
    if (!isJsonArray(elements)) return invalid(list, 'must be a list');
    for (const [at, element] of elements.entries()) {
      const alarm = alarmOf(element);
      if (alarm === undefined) {
        return invalid(`${list}[${at}]`, 'must be an alarm with a name and a state');
      }
      alarms.push(alarm);
    }
  }
  const next = members.get('NextToken') ?? '';
  if (typeof next !== 'string') return invalid('NextToken', 'must be a text');
  return valid(next === '' ? { alarms } : { alarms, next });
}

function alarmOf(element: unknown): Alarm | undefined {
  if (typeof element !== 'object' || element === null) return undefined;
  const members = new Map<string, unknown>(Object.entries(element));
  const [name, state, reason] = ['AlarmName', 'StateValue', 'StateReason'].map((each) =>
    members.get(each),
  );
  if (typeof name !== 'string' || typeof state !== 'string') return undefined;
  const since =
    timeOf(members.get('StateTransitionedTimestamp')) ??
    timeOf(members.get('StateUpdatedTimestamp'));
  return {
    name,
    state,
    ...(typeof reason === 'string' && { reason }),
    ...(since !== undefined && { since }),
  };
}

function timeOf(value: unknown): Instant | undefined {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) return undefined;
  return instant(value.getTime());
}
