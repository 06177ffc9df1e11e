/**
 * Watches: from which revision, which events, bookmarks, and how a stream ends. Events come from `store/`; how they travel
 * is up to the transport.
 */
import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import { groupResource, tooOldResourceVersion } from '../errors/status-errors.ts';
import { collectionOf } from '../rest/request/commit.ts';
import {
  isVerbatim,
  type Presentation,
  present,
  presentationOf,
} from '../rest/request/presentation.ts';
import type { ApiCall, ServerContext } from '../rest/request/server-context.ts';
import { selectionOf } from '../rest/verbs/selection.ts';
import { waitForRevision } from '../rest/verbs/wait-for-revision.ts';
import { type Change, type ChangeType, encodeLine, lineParts } from '../store/change.ts';
import type { Version } from '../store/version.ts';
import { bookmarkObject } from './bookmark.ts';
import { errorLine } from './error-line.ts';
import { type WatchQuery, watchQueryOf } from './watch-query.ts';
import { type WatchLine, WatchSession } from './watch-session.ts';

/** Time between bookmarks, and before the deadline (LW-8). */
const BOOKMARK_EVERY = seconds(60);
const LAST_BOOKMARK_BEFORE_END = seconds(2);

/** Timeouts that the server chooses lie between this and twice as much, in seconds (LW-5). */
const DEFAULT_TIMEOUT_SECONDS = 1_800;

/** Opens the watch that `call` asks for (LW-5…LW-12). @throws {StatusError} 400, 422, 504 */
export async function openWatch(context: ServerContext, call: ApiCall): Promise<WatchSession> {
  const query = watchQueryOf(call.route.query);
  if (query.hasInitialEvents) await waitForRevision(context, call, query.revision);
  const opening = new WatchOpening(context, call, query);
  opening.start();
  return opening.session;
}

/** A line of the state at the start, encoded when it is sent: ten thousand of them must not delay the first. */
class AddedLine implements WatchLine {
  readonly #version: Version;

  constructor(version: Version) {
    this.#version = version;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.parts);
  }

  get parts(): readonly Buffer[] {
    return lineParts('ADDED', this.#version.bytes);
  }

  get revision(): number {
    return this.#version.revision;
  }
}

/** One watch from its opening to its end. */
class WatchOpening {
  readonly session: WatchSession;
  readonly #context: ServerContext;
  readonly #call: ApiCall;
  readonly #query: WatchQuery;
  readonly #matches: ((object: JsonObject) => boolean) | undefined;
  readonly #prefix: string;
  readonly #view: Presentation;
  readonly #cleanups: (() => void)[] = [];
  #hasColumns = true;
  /** Changes up to here are not sent. */
  #floor = 0;

  constructor(context: ServerContext, call: ApiCall, query: WatchQuery) {
    this.#context = context;
    this.#call = call;
    this.#query = query;
    this.#view = presentationOf(context, call);
    this.#matches = selectionOf(context, call).matches;
    const { namespace, row } = call.route;
    this.#prefix = namespace === '' ? '' : `${namespace}/`;
    this.session = new WatchSession({
      clock: context.clock,
      user: call.request.user.name,
      client: call.request.client,
      resource: groupResource(row),
      namespace,
      onClose: () => this.#close(),
    });
  }

  start(): void {
    const { history } = collectionOf(this.#context, this.#call);
    const { hasInitialEvents } = this.#query;
    const from = hasInitialEvents ? this.#sendInitialState() : this.#startRevision();
    if (from < history.forgottenTo && !hasInitialEvents) {
      this.session.fail(errorLine(tooOldResourceVersion(from, history.forgottenTo)));
      return;
    }
    this.#floor = from;
    const { viewRevision } = this.#call;
    for (const change of history.since(from)) {
      if (viewRevision !== undefined && change.revision > viewRevision) this.session.pause();
      this.#send(change);
    }
    if (viewRevision !== undefined) this.session.pause();
    const collection = collectionOf(this.#context, this.#call);
    this.#cleanups.push(collection.onChange((change) => this.#send(change)));
    this.#setTimers();
  }

  #startRevision(): number {
    // Without revision and without initial events a watch starts now.
    return this.#query.revision || (this.#call.viewRevision ?? this.#context.store.revision);
  }

  /** Sends the initial state. @returns the revision of the state that was sent */
  #sendInitialState(): number {
    const { store } = this.#context;
    const revision = this.#call.viewRevision ?? store.revision;
    const collection = collectionOf(this.#context, this.#call);
    const { namespace, row } = this.#call.route;
    const versions =
      this.#call.viewRevision === undefined
        ? collection.list(namespace)
        : (collection.at(revision, namespace) ?? []);
    for (const version of versions) {
      if (this.#matches === undefined || this.#matches(version.object)) {
        const own = this.#line('ADDED', version);
        this.session.pushInitial(
          own === undefined ? new AddedLine(version) : { bytes: own, revision: version.revision },
        );
      }
    }
    if (this.#query.allowsBookmarks) {
      const object = bookmarkObject(row, revision, true);
      this.session.pushInitial({ bytes: this.#encode('BOOKMARK', object), revision });
    }
    return revision;
  }

  #send(change: Change): void {
    if (change.revision <= this.#floor || !change.key.startsWith(this.#prefix)) return;
    const type = this.#typeOf(change);
    if (type === undefined) return;
    const version = type === 'DELETED' ? change.departed : change.after;
    const bytes = (version && this.#line(type, version)) ?? change.line(type);
    this.session.push({ bytes, revision: change.revision });
  }

  /** Returns the line in a form of this watch's own; undefined where the one that all watches share will do (PF-2). */
  #line(type: ChangeType, version: Version): Buffer | undefined {
    return isVerbatim(this.#view) ? undefined : this.#encode(type, version.object);
  }

  #encode(type: string, object: JsonObject): Buffer {
    const shown = present(this.#view, object, this.#hasColumns);
    this.#hasColumns = false;
    return encodeLine(type, Buffer.from(JSON.stringify(shown)));
  }

  /** Returns what `change` means to this watch; undefined when it is none of its business (LW-7). */
  #typeOf({ before, after }: Change): ChangeType | undefined {
    const was = this.#isSelected(before);
    const is = this.#isSelected(after);
    if (is) return was ? 'MODIFIED' : 'ADDED';
    return was ? 'DELETED' : undefined;
  }

  #isSelected(version: Version | undefined): boolean {
    if (version === undefined) return false;
    return this.#matches === undefined || this.#matches(version.object);
  }

  #setTimers(): void {
    const { clock, random } = this.#context;
    const timeoutSeconds =
      this.#query.timeoutSeconds ??
      DEFAULT_TIMEOUT_SECONDS + random.timeouts.below(DEFAULT_TIMEOUT_SECONDS);
    const timeout = seconds(timeoutSeconds);
    const background = { owner: 'watch', background: true };
    const end = clock.timer(timeout, () => this.session.end(), background);
    this.#cleanups.push(() => end.cancel());
    if (!this.#query.allowsBookmarks) return;
    const last = clock.timer(
      millis(timeout - LAST_BOOKMARK_BEFORE_END),
      () => this.#sendBookmark(),
      background,
    );
    this.#cleanups.push(() => last.cancel());
    this.#scheduleBookmark();
  }

  #scheduleBookmark(): void {
    const options = { owner: 'bookmark', background: true };
    const timer = this.#context.clock.timer(
      BOOKMARK_EVERY,
      () => {
        this.#sendBookmark();
        this.#scheduleBookmark();
      },
      options,
    );
    this.#cleanups.push(() => timer.cancel());
  }

  /** Sends a bookmark behind all events so far, so that its revision is never ahead of one still to be sent (LW-8). */
  #sendBookmark(): void {
    if (this.session.state !== 'open') return;
    const revision = Math.max(this.#context.store.revision, this.#floor);
    const object = bookmarkObject(this.#call.route.row, revision);
    this.session.pushBookmark({ bytes: this.#encode('BOOKMARK', object), revision });
  }

  #close(): void {
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
  }
}
