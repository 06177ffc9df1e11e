/**
 * Requests as the API server takes them: paths, verbs, preconditions, and the answers in its words. What a type is, is
 * `resource/`; what is stored, `store/`.
 */

import { groupResource } from '../errors/status-errors.ts';
import type { FaultAction, Faults, FaultTarget } from '../faults.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { openWatch } from '../watch/open-watch.ts';
import { documentAnswer, errorAnswer, replyAnswer, textAnswer } from './answers.ts';
import {
  aggregatedDiscovery,
  aggregatedType,
  aggregatedVersion,
} from './discovery/aggregated-discovery.ts';
import { discover, versionDocument } from './discovery/discovery.ts';
import { openApi } from './discovery/openapi.ts';
import { emptyOpenApiV2 } from './discovery/openapi-v2.ts';
import { dispatch } from './dispatch.ts';
import {
  arrivesLate,
  DroppedError,
  suffer,
  sufferBeforeWatch,
  sufferInWatch,
  viewRevisionOf,
} from './faulted-call.ts';
import type { ApiAnswer, ApiRequest } from './request/api-request.ts';
import { type AnswerForm, negotiate, OBJECT_FORM } from './request/negotiation.ts';
import { isDryRun } from './request/query.ts';
import { refusalOf } from './request/refused-request.ts';
import { type ResourceRoute, type Route, routeOf } from './request/router.ts';
import { type ApiCall, type ServerContext, WRITE_VERBS } from './request/server-context.ts';
import { throughView } from './through-view.ts';

const DROPPED = { kind: 'dropped' } as const;

/** Answers API requests, whichever way they come; knows no sockets. */
export class ApiServer {
  readonly context: ServerContext;
  readonly faults: Faults;
  readonly #splits: SeededRandom;
  readonly #audits: SeededRandom;

  constructor(context: ServerContext, faults: Faults, random: SeededRandom) {
    this.context = context;
    this.faults = faults;
    this.#splits = random.derive('splits');
    this.#audits = random.derive('audits');
  }

  /** Returns the answer to `request`. @throws what is neither a refusal nor a fault: a bug, or a broken invariant (FI-6) */
  async answer(request: ApiRequest): Promise<ApiAnswer> {
    const answer = await this.#route(request);
    if (answer.kind === 'dropped') return answer;
    return { ...answer, headers: { ...answer.headers, 'audit-id': this.#audits.uuid() } };
  }

  #route(request: ApiRequest): ApiAnswer | Promise<ApiAnswer> {
    let route: Route;
    let form: AnswerForm = OBJECT_FORM;
    try {
      route = routeOf(this.context.rows, request.method, request.path);
      if (route.kind === 'resource') form = negotiate(request.headers['accept'], isListing(route));
    } catch (error) {
      return errorAnswer(error);
    }
    switch (route.kind) {
      case 'fixed':
        return this.#fixed(route.path, request.headers['accept']);
      case 'discovery':
        return this.#discovery(route.segments, request.headers['accept']);
      case 'openapi': {
        const document = openApi(this.context.rows, route.segments);
        return document === undefined ? notFoundPage() : documentAnswer(document);
      }
      case 'resource':
        return this.#resource(this.#newCall(request, route, form));
      case 'refused':
        return errorAnswer(refusalOf(this.context, route));
      default:
        return notFoundPage();
    }
  }

  #discovery(segments: readonly string[], accept: string | undefined): ApiAnswer {
    const { rows } = this.context;
    const [root] = segments;
    const version = segments.length === 1 ? aggregatedVersion(accept) : undefined;
    if (version !== undefined && (root === 'api' || root === 'apis')) {
      const document = aggregatedDiscovery(rows, root, version);
      return documentAnswer(document, aggregatedType(version));
    }
    const document = discover(rows, segments);
    return document === undefined ? notFoundPage() : documentAnswer(document);
  }

  #fixed(path: string, accept: string | undefined): ApiAnswer {
    if (path === '/openapi/v2') return emptyOpenApiV2(accept);
    if (path !== '/version') return textAnswer(200, 'ok');
    return documentAnswer(versionDocument(this.context.version));
  }

  async #resource(call: ApiCall): Promise<ApiAnswer> {
    const { request, route } = call;
    const { clock, eventLog } = this.context;
    const startedAt = clock.now();
    const answer = await this.#guarded(call);
    const { row, namespace, name } = route;
    eventLog.answered({
      callId: call.callId,
      user: request.user.name,
      client: request.client,
      verb: route.verb,
      resource: groupResource(row),
      subresource: route.subresource?.name ?? '',
      namespace,
      name,
      ...(call.preconditions === undefined ? {} : { preconditions: call.preconditions }),
      startedAt,
      endedAt: clock.now(),
      outcome: outcomeOf(request, answer),
    });
    return answer;
  }

  #newCall(request: ApiRequest, route: ResourceRoute, form: AnswerForm): ApiCall {
    return {
      callId: this.context.eventLog.nextCallId(),
      startedAt: this.context.clock.monotonic(),
      route,
      request,
      form,
      shownRow: undefined,
      warnings: route.row.warning === undefined ? [] : [route.row.warning],
      isDryRun: false,
      viewRevision: this.faults.viewOf(request.client),
      preconditions: undefined,
    };
  }

  async #guarded(call: ApiCall): Promise<ApiAnswer> {
    try {
      return await this.#faulted(throughView(this.context.rows, call));
    } catch (error) {
      if (error instanceof DroppedError) return DROPPED;
      return errorAnswer(error, call.warnings);
    }
  }

  async #faulted(call: ApiCall): Promise<ApiAnswer> {
    const target = targetOf(call);
    const action = this.faults.strike(target);
    if (action !== undefined) await suffer(this.context, call, { action, moment: 'before' });
    this.context.authorizer.check(target);
    const { request, route } = call;
    const isWrite = WRITE_VERBS.has(route.verb);
    if (isWrite) this.faults.hook('before', target);
    if (!request.isAlive() && !(await arrivesLate(this.context, call))) return DROPPED;
    try {
      const answer = await this.#executed(call, action);
      if (action !== undefined) await suffer(this.context, call, { action, moment: 'after' });
      return answer;
    } finally {
      // Refused writes count too: so the n-th write is the same one before and after.
      if (isWrite) this.faults.hook('after', target);
    }
  }

  async #executed(call: ApiCall, action: FaultAction | undefined): Promise<ApiAnswer> {
    const { route } = call;
    const seen: ApiCall = {
      ...call,
      isDryRun: isDryRun(route.query.getAll('dryRun'), 'CreateOptions'),
      viewRevision: viewRevisionOf(this.context, call.viewRevision, {
        action,
        resource: groupResource(route.row),
      }),
    };
    if (route.verb === 'watch') return this.#watch(seen, action);
    if (action?.kind === 'duplicate') await this.#firstOfTwo(seen);
    try {
      return replyAnswer(await dispatch(this.context, seen), call.warnings);
    } finally {
      call.preconditions = seen.preconditions;
    }
  }

  async #watch(call: ApiCall, action: FaultAction | undefined): Promise<ApiAnswer> {
    sufferBeforeWatch(action);
    const session = await openWatch(this.context, call);
    this.faults.live.add(session);
    sufferInWatch(session, action, this.#splits);
    const headers = { 'content-type': 'application/json' };
    return { kind: 'watch', status: 200, headers, session };
  }

  /** Runs the first of two executions of a duplicated request: its answer is lost, whatever it is. */
  async #firstOfTwo(call: ApiCall): Promise<void> {
    try {
      await dispatch(this.context, call);
    } catch (error) {
      errorAnswer(error);
    }
  }
}

function isListing({ verb }: ResourceRoute): boolean {
  return verb === 'list' || verb === 'deletecollection';
}

function notFoundPage(): ApiAnswer {
  return textAnswer(404, '404 page not found\n');
}

function outcomeOf(request: ApiRequest, answer: ApiAnswer): number | 'dropped' | 'aborted' {
  if (!request.isAlive()) return 'aborted';
  return answer.kind === 'dropped' ? 'dropped' : answer.status;
}

function targetOf(call: ApiCall): FaultTarget {
  const { namespace, name, subresource, verb } = call.route;
  const row = call.shownRow ?? call.route.row;
  return {
    user: call.request.user,
    client: call.request.client,
    callId: call.callId,
    verb,
    group: row.type.group,
    resource: row.type.plural,
    subresource: subresource?.name ?? '',
    namespace,
    name,
  };
}
