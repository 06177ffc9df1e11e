/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-assignment, typescript/no-unsafe-return -- objects are looked into by path, and a lie that misses its target lets its scenario pass, which fails the run */

import { replyWith, type SubresourceHandler } from '#cluster/rest/request/server-context.ts';
import { deleteNamed } from '#cluster/rest/verbs/delete.ts';
import { readDeleteOptions } from '#cluster/rest/verbs/delete-options.ts';
import { lieInCommits, stored } from './commits.ts';
import type { Lie } from './lie.ts';
import { lieOnTheWire, rewritten } from './wire.ts';

function evictBy(isAdmitted: boolean): SubresourceHandler {
  return async (context, call) => {
    const { name } = call.route;
    const options = readDeleteOptions({}, call.route.query);
    const route = { ...call.route, subresource: undefined, verb: 'delete' } as const;
    await deleteNamed(context, { ...call, route }, { name, options, isAdmitted });
    return replyWith(201, { kind: 'Status', apiVersion: 'v1', status: 'Success', code: 201 });
  };
}

/** Lies about budgets. */
export const budgetLies: Readonly<Record<string, Lie>> = {
  'an eviction asks no budget': {
    trap: 'FT-17',
    file: 'disruption-eviction',
    scenario: '[cluster 38] a budget lets one pod go',
    tell: ({ context }) => {
      context.subresourceHandlers.set('pods/eviction', evictBy(true));
    },
  },
  'an eviction asks the webhooks of deletions': {
    trap: 'FT-17',
    file: 'admission',
    scenario: '[cluster 47] an eviction asks the webhooks of pods/eviction once',
    tell: ({ context }) => {
      context.subresourceHandlers.set('pods/eviction', evictBy(false));
    },
  },
  'the status of a budget follows in the same step': {
    trap: 'FT-18',
    file: 'disruption-eviction',
    scenario: '[cluster 40] a budget that was just changed refuses',
    tell: (cluster) =>
      lieInCommits(cluster, ({ resource, after }) => {
        if (resource !== 'poddisruptionbudgets.policy') return after;
        const { generation: observedGeneration } = after.metadata;
        return { ...after, status: { ...after.status, observedGeneration } };
      }),
  },
  'two budgets of one pod count as success': {
    trap: 'FT-28',
    file: 'disruption-eviction',
    scenario: '[cluster 41] two budgets of one pod',
    tell: (cluster) =>
      lieOnTheWire(cluster, {
        answer: async (send, request) => {
          const response = await send(request);
          if (!request.path.endsWith('/eviction') || response.status !== 500) return response;
          const told = rewritten(response, (body) => ({ ...body, status: 'Success', code: 201 }));
          return { ...told, status: 201 };
        },
      }),
  },
  'a percentage of a budget is rounded down': {
    trap: 'FT-32',
    file: 'disruption-eviction',
    scenario: '[cluster 38] a percentage of a budget is rounded up',
    tell: (cluster) => {
      const floored = (budget: any): any => {
        const { maxUnavailable } = budget.spec ?? {};
        if (typeof maxUnavailable !== 'string') return budget;
        const pods = stored(cluster, 'pods').length;
        const limit = Math.floor((Number.parseInt(maxUnavailable, 10) * pods) / 100);
        return { ...budget, spec: { ...budget.spec, maxUnavailable: limit } };
      };
      lieOnTheWire(cluster, {
        event: (event, client) =>
          client.endsWith('disruption-controller')
            ? { ...event, object: floored(event.object) }
            : event,
      });
    },
  },
};
