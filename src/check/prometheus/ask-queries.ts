import { createHash } from 'node:crypto';
import type { Finding } from '../answer.ts';
import { jointFinding, judgeReading, type NamedFinding, type Rule } from './plan-reading.ts';
import type { Asking, Prometheus, PrometheusQuery, PrometheusQuestion } from './prometheus.ts';

/** One of the queries that must all pass; `Query` is with credentials or without. */
export interface GateQuery<Query extends PrometheusQuery = PrometheusQuery> {
  /** Names the query among the others in messages. */
  readonly name: string;
  readonly candidate: Query;
  /** What the rule compares the candidate with. */
  readonly baseline?: Query;
  readonly rule: Rule;
}

/**
 * Returns what names these queries, where they are asked and how they are judged: the same text in every process, whatever
 * order the members of objects are in. Credentials are no part of it, so that nothing about them can be derived from it.
 */
export function questionId(queries: readonly GateQuery[]): string {
  const parts = queries.map(({ name, candidate, baseline, rule }) => [
    name,
    partsOf(candidate),
    baseline === undefined ? null : partsOf(baseline),
    sorted(rule),
  ]);
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

/** A tenant's header decides what is found, so headers count; without any, a query has the name that it always had. */
function partsOf(query: PrometheusQuery): unknown {
  const { url, expr, isInsecure = false, authorities = '', headers = [] } = query;
  return [url, expr, isInsecure, authorities, ...(headers.length > 0 ? [sorted(headers)] : [])];
}

/** Sorts members by name, and writes other values as text: JSON has no infinite bounds. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => [name, sorted(member)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Asks all of `queries` at once, and returns what they come to together; never rejects. */
export async function askQueries(
  prometheus: Pick<Prometheus, 'read'>,
  queries: readonly GateQuery<PrometheusQuestion>[],
  asking: Asking,
): Promise<Finding> {
  const findings = queries.map(
    async ({ name, candidate, baseline, rule }): Promise<NamedFinding> => {
      const [read, beside] = await Promise.all([
        prometheus.read(candidate, asking),
        baseline === undefined ? undefined : prometheus.read(baseline, asking),
      ]);
      const readings =
        beside === undefined ? { candidate: read } : { candidate: read, baseline: beside };
      return { name, finding: judgeReading(readings, rule) };
    },
  );
  return jointFinding(await Promise.all(findings));
}
