/**
 * Custom resources: from a definition to a type that is served, pruned, defaulted and validated. What all types have in
 * common is `rest/`.
 */
import type { Timer } from '#base/clock.ts';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { timestamp } from '../clock/timestamp.ts';
import { arrayField, metadataOf, objectField, textField, textsField } from '../json/json-fields.ts';
import { CLEANUP_FINALIZER } from '../resource/custom-resource-definition-row.ts';
import type { ResourceRow } from '../resource-row.ts';
import type { ApiServer } from '../rest/api-server.ts';
import type { Change } from '../store/change.ts';
import { customRows } from './custom-row.ts';

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';
const PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A definition is established this much after it was stored, never in the same step (CR-1). */
const ESTABLISHING = millis(5);

const USER = Object.freeze({
  name: 'system:apiserver',
  groups: Object.freeze(['system:masters', 'system:authenticated']),
});

/** Makes definitions into served resources and back: what the API server itself does for them (CR-1, HT-3). */
export class DefinitionLifecycle {
  readonly #server: ApiServer;
  readonly #rows = new Map<string, readonly ResourceRow[]>();
  readonly #timers = new Set<Timer>();
  readonly #stops = new Map<string, () => void>();

  constructor(server: ApiServer) {
    this.#server = server;
    server.context.store.collection(DEFINITIONS).onChange((change) => this.#changed(change));
  }

  /** Leaves no timer behind (EM-1). */
  close(): void {
    for (const timer of this.#timers) timer.cancel();
    for (const stop of this.#stops.values()) stop();
  }

  #changed({ key, after }: Change): void {
    const definition = after?.object;
    this.#serve(key, definition);
    if (definition === undefined) {
      this.#stops.get(key)?.();
      this.#stops.delete(key);
      return;
    }
    if (metadataOf(definition)['deletionTimestamp'] !== undefined) this.#beginCleanup(key);
    else if (!isEstablished(definition)) this.#later(() => this.#establish(key));
  }

  /** Serves the rows of `definition` in place of those that it had. */
  #serve(key: string, definition: JsonObject | undefined): void {
    const { rows } = this.#server.context;
    for (const row of this.#rows.get(key) ?? []) rows.remove(row);
    this.#rows.delete(key);
    if (definition === undefined || !isEstablished(definition)) return;
    const served = customRows(definition);
    for (const row of served) rows.add(row);
    this.#rows.set(key, served);
  }

  #later(act: () => Promise<void>): void {
    const { clock } = this.#server.context;
    const timer = clock.timer(
      ESTABLISHING,
      () => {
        this.#timers.delete(timer);
        // What fails here is a bug of the server: it must not pass unseen.
        act().catch((error: unknown) => {
          throw error;
        });
      },
      { owner: 'custom resource definitions' },
    );
    this.#timers.add(timer);
  }

  async #establish(key: string): Promise<void> {
    const definition = this.#definition(key);
    if (definition === undefined || isEstablished(definition)) return;
    const spec = objectField(definition, 'spec');
    const now = timestamp(this.#server.context.clock.now());
    const condition = (type: string, reason: string, message: string): JsonObject => ({
      type,
      status: 'True',
      lastTransitionTime: now,
      reason,
      message,
    });
    const status = {
      conditions: [
        condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
        condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
      ],
      acceptedNames: spec['names'],
      storedVersions: arrayField(spec, 'versions')
        .filter(isJsonObject)
        .filter(({ storage }) => storage === true)
        .map((version) => textField(version, 'name')),
    };
    const isDone = await this.#patch(key, { status }, '/status');
    if (!isDone) this.#later(() => this.#establish(key));
  }

  #beginCleanup(key: string): void {
    if (this.#stops.has(key)) return;
    const instances = this.#server.context.store.collection(key);
    this.#stops.set(
      key,
      instances.onChange(({ after }) => {
        if (after === undefined && instances.size === 0) this.#later(() => this.#cleanUp(key));
      }),
    );
    this.#later(() => this.#cleanUp(key));
  }

  /** Deletes all instances; once there are none, lets the definition go. */
  async #cleanUp(key: string): Promise<void> {
    const definition = this.#definition(key);
    if (definition === undefined) return;
    const [row] = this.#rows.get(key) ?? [];
    const { store } = this.#server.context;
    const instances = store.collection(key).list();
    let areAsked = true;
    if (row !== undefined) {
      for (const { object } of instances) {
        areAsked = (await this.#deleteInstance(row, object)) && areAsked;
      }
    }
    if (!areAsked) this.#later(() => this.#cleanUp(key));
    // Instances that a finalizer holds are waited for: the last one to go comes back here.
    if (store.collection(key).size > 0) return;
    const finalizers = textsField(metadataOf(definition), 'finalizers').filter(
      (finalizer) => finalizer !== CLEANUP_FINALIZER,
    );
    const isDone = await this.#patch(key, { metadata: { finalizers } }, '');
    if (!isDone) this.#later(() => this.#cleanUp(key));
  }

  async #deleteInstance(row: ResourceRow, object: JsonObject): Promise<boolean> {
    const { group, version, plural } = row.type;
    const metadata = metadataOf(object);
    const namespace = textField(metadata, 'namespace');
    const scope = namespace === '' ? '' : `/namespaces/${namespace}`;
    const path = `/apis/${group}/${version}${scope}/${plural}/${textField(metadata, 'name')}`;
    return this.#send({ method: 'DELETE', path, body: '', contentType: 'application/json' });
  }

  #definition(key: string): JsonObject | undefined {
    return this.#server.context.store.collection(DEFINITIONS).get(key)?.object;
  }

  async #patch(key: string, document: JsonValue, part: '' | '/status'): Promise<boolean> {
    return this.#send({
      method: 'PATCH',
      path: `${PATH}/${key}${part}`,
      body: JSON.stringify(document),
      contentType: 'application/merge-patch+json',
    });
  }

  /**
   * Sends what is to be done.
   *
   * @returns whether it is done, or nothing is left to be done; what a fault prevented is tried again
   */
  async #send(request: {
    readonly method: string;
    readonly path: string;
    readonly body: string;
    readonly contentType: string;
  }): Promise<boolean> {
    const { method, path, body, contentType } = request;
    const { activity } = this.#server.context;
    const owner = 'request of apiserver';
    activity.begin(owner);
    try {
      const answer = await this.#server.answer({
        method,
        path,
        body,
        headers: { 'content-type': contentType },
        user: USER,
        client: 'apiserver',
        isAlive: () => true,
      });
      return answer.kind === 'whole' && (answer.status < 400 || answer.status === 404);
    } finally {
      activity.end(owner);
    }
  }
}

function isEstablished(definition: JsonObject): boolean {
  return arrayField(objectField(definition, 'status'), 'conditions')
    .filter(isJsonObject)
    .some(({ type, status }) => type === 'Established' && status === 'True');
}
