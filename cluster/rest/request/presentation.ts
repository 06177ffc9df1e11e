import type { JsonObject } from '#base/json.ts';
import { apiVersionOf } from '#kubernetes/resource-type.ts';
import { badRequest } from '../../errors/status-errors.ts';
import { metadataOf, without } from '../../json/json-fields.ts';
import type { ResourceRow } from '../../resource-row.ts';
import type { Version } from '../../store/version.ts';
import type { AnswerForm } from './negotiation.ts';
import type { ApiCall, Reply, ServerContext } from './server-context.ts';
import { type IncludedObject, partialMetadata, tableOf } from './table.ts';

/** Makes what is stored into what one request is answered with. */
export interface Presentation {
  readonly row: ResourceRow;
  /** The row that the client asked for; differs where that is a view. */
  readonly shownRow: ResourceRow;
  readonly form: AnswerForm;
  readonly included: IncludedObject;
  readonly now: () => number;
}

/** Returns how the answers to `call` look. @throws {StatusError} 400 for an unknown `includeObject` */
export function presentationOf(context: ServerContext, call: ApiCall): Presentation {
  const { row, query } = call.route;
  const included = includedOf(query.get('includeObject') ?? '');
  const { form, shownRow = row } = call;
  return { row, shownRow, form, included, now: () => context.clock.now() };
}

function includedOf(text: string): IncludedObject {
  if (text === '') return 'Metadata';
  if (text === 'None' || text === 'Metadata' || text === 'Object') return text;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: "${text}": must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** Reports whether the stored bytes are the answer: then nothing is parsed or built (PF-2). */
export function isVerbatim({ form, shownRow }: Presentation): boolean {
  return form.kind === 'object' && shownRow.viewOf === undefined;
}

/** Returns `object` as the one object of an answer; `hasColumns` is false for Tables after the first of a watch. */
export function present(view: Presentation, object: JsonObject, hasColumns = true): JsonObject {
  const { form } = view;
  switch (form.kind) {
    case 'table': {
      const { resourceVersion } = metadataOf(object);
      const page = { objects: [object], metadata: { resourceVersion } };
      const { included, now } = view;
      const { version } = form;
      return tableOf(view.row, page, { version, included, now: now(), hasColumns });
    }
    case 'metadata':
      return partialMetadata(object);
    default:
      return view.shownRow.viewOf?.fromStored(object) ?? object;
  }
}

/** Returns the list document of `objects`; for forms other than the verbatim one. */
export function presentList(
  view: Presentation,
  objects: readonly JsonObject[],
  metadata: JsonObject,
): JsonObject {
  const { form, included } = view;
  if (form.kind === 'table') {
    const { version } = form;
    const options = { version, included, now: view.now(), hasColumns: true };
    return tableOf(view.row, { objects, metadata }, options);
  }
  if (form.kind === 'object') {
    const { type } = view.shownRow;
    const items = objects.map((object) => without(present(view, object), 'kind', 'apiVersion'));
    return { kind: `${type.kind}List`, apiVersion: apiVersionOf(type), metadata, items };
  }
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    items: objects.map(partialMetadata),
  };
}

/** Returns one stored object as an answer, in the form that the request asks for. */
export function versionReply(
  context: ServerContext,
  call: ApiCall,
  answer: { readonly status: number; readonly version: Version },
): Reply {
  const { status, version } = answer;
  const view = presentationOf(context, call);
  if (isVerbatim(view)) return { status, body: [version.bytes] };
  return { status, body: [Buffer.from(JSON.stringify(present(view, version.object)))] };
}
