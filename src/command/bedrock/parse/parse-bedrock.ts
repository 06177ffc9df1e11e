import { type At, BedrockFields, dnsLabel, member, members } from './bedrock-fields.ts';
import type { BedrockFile, Service } from './bedrock-file.ts';
import { type Finding, hasErrors } from './finding.ts';
import { parseSource } from './parse-source.ts';
import { stageOf, unsupportedKindAt } from './parse-stage.ts';
import { workloadKeys, workloadOf } from './parse-workload.ts';

/** The outcome of reading a `bedrock.yaml`: what it says and warnings, or at least one error. */
export type ParsedBedrock =
  | {
      readonly kind: 'valid';
      readonly file: BedrockFile;
      readonly findings: readonly Finding[];
      /** Returns the line of what is at `path`, or of what it would be in. */
      readonly lineAt: (path: string) => number | undefined;
    }
  | { readonly kind: 'invalid'; readonly findings: readonly Finding[] };

/**
 * Reads the text of a `bedrock.yaml` (H-1…H-3). Total. Services of another kind than StatefulSet are not looked into: their keys
 * are others' to know.
 *
 * @param options `isLenient`: unknown keys are warnings, not errors
 */
export function parseBedrock(
  text: string,
  { isLenient }: { readonly isLenient: boolean },
): ParsedBedrock {
  const parsed = parseSource(text);
  if (parsed.kind === 'invalid') return parsed;
  const { root, lines } = parsed.source;
  const fields = new BedrockFields(lines, isLenient);
  const file = fileOf({ value: root, path: '' }, fields);
  const { findings } = fields;
  if (hasErrors(findings)) return { kind: 'invalid', findings };
  return { kind: 'valid', file, findings, lineAt: (path) => fields.lineAt(path) };
}

function fileOf(at: At, fields: BedrockFields): BedrockFile {
  fields.onlyKeys(at, ['images', 'services']);
  const images = imagesOf(member(at, 'images'), fields);
  const servicesAt = member(at, 'services');
  const services = fields.map(servicesAt) ?? {};
  if (Object.keys(services).length === 0)
    fields.fail(servicesAt.path, 'must be a map with at least one service: got none');
  const read = members(services, servicesAt.path).map(
    (each) => [each.key, serviceOf(each, images, fields)] as const,
  );
  return { images, services: new Map(read) };
}

function imagesOf(at: At, fields: BedrockFields): ReadonlySet<string> {
  const images = fields.map(at) ?? {};
  for (const each of members(images, at.path)) {
    fields.map(each);
    fields.onlyKeys(each, ['dockerfile']);
    fields.text(member(each, 'dockerfile'));
  }
  return new Set(Object.keys(images));
}

function serviceOf(
  at: At & { readonly key: string },
  images: ReadonlySet<string>,
  fields: BedrockFields,
): Service {
  const none: Service = { kind: 'stateful-set', stages: new Map() };
  const map = fields.map(at);
  if (map === undefined) return none;
  const kindAt = member(at, 'kind');
  if (kindAt.value === undefined) fields.refuse(kindAt, 'must be StatefulSet');
  const unsupported = unsupportedKindAt(kindAt, fields);
  if (unsupported !== undefined) return { kind: 'unsupported', unsupported };
  fields.text({ value: at.key, path: at.path }, dnsLabel);
  fields.onlyKeys(at, ['stages', ...workloadKeys]);
  const stagesAt = member(at, 'stages');
  const stages = fields.map(stagesAt) ?? {};
  if (Object.keys(stages).length === 0)
    fields.fail(stagesAt.path, 'must be a map with at least one stage: got none');
  const surroundings = { service: at.key, images, shared: workloadOf(at, images, fields) };
  const read = members(stages, stagesAt.path).map(
    (each) => [each.key, stageOf(each, surroundings, fields)] as const,
  );
  return { kind: 'stateful-set', stages: new Map(read) };
}
