import { convert, warningsOf } from './convert/convert.ts';
import { type Refused, unlisted, unsupported } from './convert/convert-file.ts';
import { ImageReferences } from './convert/image-references.ts';
import type { BedrockFile, Stage } from './parse/bedrock-file.ts';
import { asErrors, type Finding, hasErrors } from './parse/finding.ts';
import { parseBedrock } from './parse/parse-bedrock.ts';

/** What `bedrock validate` looks at. */
export interface ValidateOptions {
  /** `-`: standard input. */
  readonly file: string;
  /** Undefined: all, and those of a kind that nothing here is made of are passed over. */
  readonly service: string | undefined;
  readonly isLenient: boolean;
  readonly isStrict: boolean;
}

/** What was looked at and is in order, or why it is not. */
export type ValidatedFile =
  | {
      readonly kind: 'in-order';
      /** As `<service>/<stage>`. */
      readonly stages: readonly string[];
      /** Services of other kinds, which were not looked into. */
      readonly passedOver: readonly string[];
      readonly warnings: readonly Finding[];
    }
  | Refused;

/** Any digest: a file is in order whatever image will run. */
const anyDigest = `image@sha256:${'0'.repeat(64)}`;

/** Checks the file `text`: what is in it, and what each phase of each stage would be made into. Pure. */
export function validateFile(text: string, options: ValidateOptions): ValidatedFile {
  const parsed = parseBedrock(text, options);
  if (parsed.kind === 'invalid') return refused(parsed.findings);
  const { file, lineAt } = parsed;
  const wrong = options.service === undefined ? undefined : refusalOf(file, options.service);
  if (wrong !== undefined) return wrong;
  const stages = stagesOf(file, options.service);
  const found = stages.flatMap((stage) => [
    ...warningsOf(stage, lineAt),
    ...mistakesOf(file, stage).map((each) => ({ ...each, line: lineAt(each.path) })),
  ]);
  const all = [...parsed.findings, ...found];
  const findings = options.isStrict ? asErrors(all) : all;
  if (hasErrors(findings)) return refused(findings);
  const passedOver = [...file.services.keys()].filter(
    (name) => file.services.get(name)?.kind === 'unsupported',
  );
  const names = stages.map((stage) => `${stage.service}/${stage.name}`);
  return { kind: 'in-order', stages: names, passedOver, warnings: findings };
}

/** Returns why the service `name` cannot be looked at. */
function refusalOf({ services }: BedrockFile, name: string): Refused | undefined {
  const service = services.get(name);
  if (service === undefined) return refused([unlisted('--service', name, [...services.keys()])]);
  if (service.kind === 'unsupported') return unsupported(service.unsupported);
  const other = [...service.stages.values()].find((stage) => stage.unsupported !== undefined);
  return other?.unsupported === undefined ? undefined : unsupported(other.unsupported);
}

function stagesOf({ services }: BedrockFile, name: string | undefined): readonly Stage[] {
  const chosen = [...services].filter(([service]) => name === undefined || name === service);
  const stages = chosen.flatMap(([, service]) =>
    service.kind === 'stateful-set' ? [...service.stages.values()] : [],
  );
  return stages.filter((stage) => stage.unsupported === undefined);
}

/** Returns what keeps `stage` from being made into resources. */
function mistakesOf({ images }: BedrockFile, stage: Stage): readonly Finding[] {
  const references = new Map([...images].map((name) => [name, anyDigest]));
  const [percent = 100] = stage.phases;
  // Tags of init containers are for `convert` to refuse, which knows whether they are allowed.
  const deploy = { images: new ImageReferences(references, true), percent, identity: '' };
  const conversion = convert(stage, deploy);
  return conversion.kind === 'invalid' ? conversion.findings : [];
}

function refused(findings: readonly Finding[]): Refused {
  return { kind: 'refused', code: 2, findings };
}
