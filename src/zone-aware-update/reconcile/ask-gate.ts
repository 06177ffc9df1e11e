import { assertNever } from '#base/assert-never.ts';
import type { Logger } from '#base/logger.ts';
import { problemText } from '#base/parsed.ts';
import { monotonic } from '#base/units.ts';
import type { Finding } from '#check/answer.ts';
import type { AlarmAsking, Alarms } from '#check/cloudwatch/alarms.ts';
import { authorized, type SecuredQuery, secretProblem } from '#check/credentials/secured-query.ts';
import type { Ask } from '#check/open-questions.ts';
import { askQueries } from '#check/prometheus/ask-queries.ts';
import type { Prometheus } from '#check/prometheus/prometheus.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { UpdateDecision } from '../plan/plan-decision.ts';
import { tellUpdate } from '../update-reasons.ts';
import type { LastDeletions } from './last-deletions.ts';
import type { UpdateMoment, UpdateMomentPorts } from './update-moment.ts';

/** What asking goes through. */
export interface GatePorts extends Pick<UpdateMomentPorts, 'questions' | 'credentials'> {
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly alarms: Pick<Alarms, 'ask'>;
  readonly lastDeletions: LastDeletions;
  readonly prometheus: Pick<Prometheus, 'read'>;
}

/** Asks as `decision` says; the answer wakes the ZoneAwareUpdate. */
export function askGate(
  { gate, question }: Extract<UpdateDecision, { kind: 'ask' }>,
  moment: UpdateMoment,
  ports: GatePorts,
): void {
  const ask = asking(gate, moment, ports);
  if (ask === undefined) return;
  const { update, key } = moment;
  ports.questions[gate].ask(key, question, async (signal, sent) => {
    const finding = await ask(signal, sent);
    const { verdict, value, because } = finding;
    const { reason, message } = because;
    const fields = { zoneawareupdate: update.name, verdict, value, reason, because: message };
    ports.log.info(`${gate} answered`, fields);
    if (reason === 'InsufficientData') {
      tellUpdate(update, { reason: 'AlarmWithoutData', message }, ports.events);
    }
    return finding;
  });
}

function asking(
  gate: Extract<UpdateDecision, { kind: 'ask' }>['gate'],
  { key, update, snapshot }: UpdateMoment,
  ports: GatePorts,
): Ask | undefined {
  const { spec } = snapshot.resource;
  if (spec.kind === 'invalid') return undefined;
  const { alarm, query } = spec.value;
  switch (gate) {
    case 'alarm':
      return alarm === undefined
        ? undefined
        : (signal, sent) => ports.alarms.ask(alarm, { signal, sent, ...since(key, ports) });
    case 'query':
      return query === undefined ? undefined : askingQuery(query, update.namespace, ports);
    default:
      return assertNever(gate);
  }
}

/** What was answered before the last deletion does not say what that did to the application. */
function since(
  key: string,
  { lastDeletions }: Pick<GatePorts, 'lastDeletions'>,
): Pick<AlarmAsking, 'notBefore'> {
  const sentAt = lastDeletions.of(key);
  // Nor does an answer of that very millisecond.
  return sentAt === undefined ? {} : { notBefore: monotonic(sentAt + 1) };
}

/** The Secret was read before, see `UpdateNeeds`. */
function askingQuery(
  query: SecuredQuery,
  namespace: string,
  { prometheus, credentials }: GatePorts,
): Ask {
  const problem = secretProblem(query, namespace, credentials);
  if (problem !== undefined) {
    const because = { reason: 'BadConfiguration', message: problemText(problem) } as const;
    const finding: Finding = { verdict: 'unknown', warnings: [], because };
    return () => Promise.resolve(finding);
  }
  const asked = [authorized(query, namespace, credentials)];
  return (signal, sent) => askQueries(prometheus, asked, { signal, sent });
}
